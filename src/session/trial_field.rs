//! The combinations that a trial compares, with their predicted sizes, and the outcome.

use super::ExecutableProgram;
use super::trial_contender::{ContenderKind, ReductionCombination, TrialContender, TrialForm};
use super::trial_decision::{PredictedSize, RelativeSize, best, is_clearly_better};
use crate::model::{TrialOutcome, TriedCombination};
use crate::reduce::partial_order::PartialOrderMethod;
use crate::reduce::{NotApplied, ReductionKind, ReductionPlan, ReductionStack};
use crate::search::pilot::{PilotSize, WalkCounters};

/// The share of states from which further provisos are tried.
const SMALL: f64 = 0.1;

/// The share of states up to which the report says that partial order is too slow, not that it saves too little.
const LEFT_MAX: f64 = 0.5;

/// The reductions that a trial chose.
pub(super) struct ChosenReductions<'m> {
    pub runs: ExecutableProgram<'m>,
    pub stack: ReductionStack<'m>,
    pub plan: ReductionPlan,
    pub trial: TrialOutcome,
}

impl<'m> ChosenReductions<'m> {
    /// Returns the reductions that need no trial. Others are not tried, for some reason.
    pub fn untried(whole: ReductionCombination<'m>, reason: NotApplied) -> ChosenReductions<'m> {
        let left_off = PartialOrderMethod::DEFAULT.refusal(reason);
        ChosenReductions::new(whole, Some(left_off).into())
    }

    fn new(
        ReductionCombination { runs, stack, plan, .. }: ReductionCombination<'m>,
        trial: TrialOutcome,
    ) -> ChosenReductions<'m> {
        ChosenReductions { runs, stack, plan, trial }
    }
}

/// The combinations of a trial.
pub(super) struct TrialField<'m> {
    /// The forms of the program. The first one has no further reductions.
    pub forms: Vec<TrialForm<'m>>,
    /// Why partial order is not tried, if it is not.
    pub without_order: Option<NotApplied>,
    pub contenders: Vec<TrialContender<'m>>,
    /// The predicted sizes: of the forms, then of the members of the contenders.
    pub sizes: Vec<PredictedSize>,
    /// The size of the last samples.
    pub sample_size: PilotSize,
}

impl<'m> TrialField<'m> {
    /// Creates a field with one form.
    pub fn new(base: TrialForm<'m>) -> TrialField<'m> {
        TrialField {
            forms: vec![base],
            without_order: None,
            contenders: Vec::new(),
            sizes: Vec::new(),
            sample_size: PilotSize::FIRST,
        }
    }

    /// Returns the counters of the first levels without further reductions, in samples of the last size.
    pub fn whole_counters(&self) -> WalkCounters {
        let first = self.forms[0].samples.first();
        first.map(|it| it.counters_for(self.sample_size)).unwrap_or_default()
    }

    /// Returns whether a combination for a form is at one of some positions.
    pub fn is_wanted(&self, form: usize, positions: &[usize]) -> bool {
        positions.contains(&form)
            || self
                .positions()
                .any(|(at, range)| at == form && positions.iter().any(|it| range.contains(it)))
    }

    /// Returns for each contender the position of its form, and the positions of its members.
    pub fn positions(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        let begin = self.forms.len();
        self.contenders.iter().scan(begin, |begin, contender| {
            let range = *begin..*begin + contender.members.len();
            *begin = range.end;
            Some((contender.form, range))
        })
    }

    /// Returns whether another member made a contender needless: if chains leave few states, and cost less than they
    /// save, the proviso of levels hardly leaves fewer.
    pub fn is_needless(&self, contender: &TrialContender<'m>) -> bool {
        let whole = self.whole_counters();
        let form = self.sizes[contender.form].predicted(whole);
        let is_enough = |it: &PredictedSize| {
            let RelativeSize { states, work } = it.predicted(whole);
            states <= SMALL && work <= form.work
        };
        let mut members = self.sizes.iter().skip(self.forms.len());
        matches!(contender.kind, ContenderKind::Order) && members.any(is_enough)
    }

    /// Returns the predicted work of exploring samples of twice the size for the combinations at some positions.
    pub fn work_to_repeat(&self, positions: &[usize]) -> f64 {
        let whole = self.whole_counters();
        let share: f64 = positions.iter().map(|&at| self.sizes[at].predicted(whole).work).sum();
        let samples = self.forms.iter().map(|it| it.samples.len()).max().unwrap_or_default();
        2.0 * samples as f64 * whole.work() * (1.0 + share)
    }

    /// Returns the best form of the program without reductions that choose transitions, if it costs much less than a
    /// combination with some. A combination that is not in the field chooses nothing in these states.
    pub fn into_form_better_than(self, reductions: &[String]) -> Option<ChosenReductions<'m>> {
        let whole = self.whole_counters();
        let best = best(&self.sizes[..self.forms.len()], whole);
        let other = self.combinations().position(|it| it.names == reductions);
        let is_better = |at: usize| is_clearly_better(&self.sizes[best], &self.sizes[at], whole);
        other.is_none_or(is_better).then(|| self.into_chosen_at(best))
    }

    /// Chooses the best combination.
    pub fn into_chosen(self) -> ChosenReductions<'m> {
        let chosen = best(&self.sizes, self.whole_counters());
        self.into_chosen_at(chosen)
    }

    fn into_chosen_at(self, chosen: usize) -> ChosenReductions<'m> {
        let whole = self.whole_counters();
        let tried = self.combinations().zip(&self.sizes).enumerate().map(|(at, (it, size))| {
            let predicted = size.predicted(whole);
            TriedCombination {
                reductions: it.names.clone(),
                samples: size.samples.iter().map(|it| it.states).collect(),
                states: predicted.states,
                work: predicted.work,
                complete: size.complete.map(|it| it.states as u64),
                is_chosen: at == chosen,
            }
        });
        let tried: Vec<TriedCombination> = tried.collect();
        let left_off = self.reason_without_order(chosen);
        let left_off = left_off.map(|reason| PartialOrderMethod::DEFAULT.refusal(reason));
        let trial = TrialOutcome { left_off, tried, restarted_after: None };
        let forms = self.forms.into_iter().map(|it| it.whole);
        let members = self.contenders.into_iter().flat_map(|it| it.members);
        let mut all = forms.chain(members);
        let chosen = all.nth(chosen).unwrap_or_else(|| unreachable!("a position of a size"));
        ChosenReductions::new(chosen, trial)
    }

    fn combinations(&self) -> impl Iterator<Item = &ReductionCombination<'m>> {
        let members = self.contenders.iter().flat_map(|it| &it.members);
        self.forms.iter().map(|it| &it.whole).chain(members)
    }

    /// Returns why the chosen combination has no partial order, if it has none.
    fn reason_without_order(&self, chosen: usize) -> Option<NotApplied> {
        let combination = self.combinations().nth(chosen)?;
        if !combination.stack.names(&[ReductionKind::Choice]).is_empty() {
            return None;
        }
        if let Some(reason) = &self.without_order {
            return Some(reason.clone());
        }
        if !combination.names.is_empty() {
            return Some(NotApplied::OtherIsBetter(combination.names.join(", ")));
        }
        let whole = self.whole_counters();
        let of_order = self.contenders.iter().zip(self.positions());
        let of_order = of_order.filter(|(it, _)| it.chooses());
        let sizes = of_order.flat_map(|(_, (_, range))| &self.sizes[range]);
        let left = sizes.map(|it| it.predicted(whole).states).fold(1.0, f64::min);
        Some(reason_against_order(left))
    }
}

/// Returns why partial order that leaves a share of the states is not used.
pub(super) fn reason_against_order(left: f64) -> NotApplied {
    match left <= LEFT_MAX {
        true => NotApplied::Slow,
        false => NotApplied::SavesLittle(percent(left)),
    }
}

/// Formats the saving, given the remaining share.
fn percent(left: f64) -> String {
    match (1.0 - left) * 100.0 {
        saved if saved < 1.0 => "less than 1 %".into(),
        saved => format!("{saved:.0} %"),
    }
}
