//! What comes of each action instance, by what cells hold.
//!
//! Where steps can be tried one by one that is found by [`Trying`] them, and is exact: the cases of an instance share all
//! states out between them. Else it is read off what the instance waits for and writes, and says what may be.

use super::Kept;
use super::held::{Held, Next, When};
use crate::analysis::access::{Condition, InstanceAccess};
use crate::analysis::dependence::Dependence;
use crate::analysis::instances::InstanceId;
use crate::budget::{AnalysisBudget, Exceeded};
use crate::exec::{Checks, Interp};
use crate::ir::layout::CellId;
use crate::ir::{LocationId, PropertyId, PropertyKind};
use crate::reduce::trying::{Assumed, Both, Taken, Trying};
use std::collections::{BTreeMap, HashSet};

/// An instance, or a property, is tried in at most so many kinds of states.
const TRIES_MAX: usize = 1 << 12;

/// All together are.
const ALL_TRIES_MAX: usize = 1 << 16;

/// What comes of an instance in states of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Case {
    /// What cells hold in these states.
    pub(super) when: Vec<(CellId, When)>,
    pub(super) then: Then,
}

/// What comes of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Then {
    /// It is not possible.
    Nothing,
    /// It fails.
    Fails,
    /// It leads to where these cells hold something else.
    Leads(Vec<(CellId, Next)>),
}

/// The cases of an instance.
#[derive(Clone, Debug)]
pub(super) struct Cases {
    pub(super) all: Vec<Case>,
    /// Whether each state is of one case, and that says what comes of it.
    pub(super) are_exact: bool,
}

impl Cases {
    /// The bytes that they take, about.
    pub(super) fn bytes(&self) -> usize {
        let of = |case: &Case| {
            let next = match &case.then {
                Then::Leads(next) => {
                    let to = next.iter().map(|(_, it)| size_of_val(it.to.as_slice()));
                    size_of_val(next.as_slice()) + to.sum::<usize>()
                }
                Then::Nothing | Then::Fails => 0,
            };
            size_of_val(case) + size_of_val(case.when.as_slice()) + next
        };
        size_of_val(self) + self.all.iter().map(of).sum::<usize>()
    }

    /// What the same says of what is kept, each once.
    pub(super) fn of_kept(&self, kept: &Kept) -> Cases {
        let is_kept = |cell: CellId| kept.position(cell).is_some();
        let mut met = HashSet::new();
        let mut all = Vec::new();
        for case in &self.all {
            let when = case.when.iter().filter(|it| is_kept(it.0)).copied().collect();
            let then = match &case.then {
                Then::Leads(next) => {
                    Then::Leads(next.iter().filter(|it| is_kept(it.0)).cloned().collect())
                }
                other => other.clone(),
            };
            let case = Case { when, then };
            if met.insert(case.clone()) {
                all.push(case);
            }
        }
        Cases { all, are_exact: self.are_exact }
    }
}

/// When a property holds.
#[derive(Clone, Debug)]
pub(super) struct Judgements {
    /// By what cells hold, whether it does; all states are in one of them.
    pub(super) cases: Vec<(Vec<(CellId, When)>, bool)>,
    /// Whether each state is of one case.
    pub(super) are_exact: bool,
}

impl Judgements {
    /// The bytes that they take, about.
    pub(super) fn bytes(&self) -> usize {
        let when = self.cases.iter().map(|it| size_of_val(it) + size_of_val(it.0.as_slice()));
        when.sum()
    }
}

/// Finds them out.
pub(super) struct Finding<'f> {
    dependence: &'f Dependence<'f>,
    trying: Option<Trying<'f>>,
    checks: Checks,
    tries: usize,
    budget: &'f AnalysisBudget<'f>,
}

impl<'f> Finding<'f> {
    pub(super) fn new(
        interp: &Interp,
        dependence: &'f Dependence<'f>,
        checks: Checks,
        budget: &'f AnalysisBudget<'f>,
    ) -> Self {
        let trying = Trying::new(interp, dependence);
        Finding { dependence, trying, checks, tries: 0, budget }
    }

    /// What comes of an instance.
    pub(super) fn cases(&mut self, instance: InstanceId) -> Result<Cases, Exceeded> {
        let tried = self.tried(instance)?;
        Ok(tried.unwrap_or_else(|| self.told(self.dependence.access(instance))))
    }

    /// The same by trying, if that does not take too many tries.
    fn tried(&mut self, instance: InstanceId) -> Result<Option<Cases>, Exceeded> {
        let Some(trying) = self.trying.as_ref().filter(|it| it.can_be_tried(instance)) else {
            return Ok(None);
        };
        let written = self.dependence.table().written_cells(self.dependence.access(instance));
        let case = |assumed: &Assumed| {
            let before = trying.states(assumed);
            let then = match trying.take(instance, &before, assumed) {
                Taken::Unknown(cell) => return Err(cell),
                Taken::Nothing => Then::Nothing,
                Taken::Fails => Then::Fails,
                Taken::To(after) => {
                    let changed = |cell| Some((cell, changed(trying, cell, &before, &after)?));
                    Then::Leads(written.iter().filter_map(changed).collect())
                }
            };
            Ok(Case { when: known(trying, assumed), then })
        };
        let all = in_all_kinds(trying, &mut self.tries, self.budget, case)?;
        Ok(all.map(|all| Cases { all, are_exact: true }))
    }

    /// The same by what it waits for and writes.
    fn told(&self, access: &InstanceAccess<'_>) -> Cases {
        let mut when = Vec::new();
        for conjunct in access.certain() {
            match conjunct.condition {
                Condition::At(cell, at) => when.push((cell, When::Is(self.place(cell, Some(at))))),
                Condition::Compares(cell, how, with) => {
                    when.push((cell, When::Compares(how, with)));
                }
                Condition::Asks(..) | Condition::Holds => {}
            }
        }
        let mut all = vec![Case { when: when.clone(), then: Then::Leads(self.written(access)) }];
        if access.failures().any() {
            all.push(Case { when, then: Then::Fails });
        }
        Cases { all, are_exact: false }
    }

    /// What a cell holds that tells where a process is, if it is there; or if it is nowhere.
    fn place(&self, cell: CellId, at: Option<LocationId>) -> Held {
        let table = self.dependence.table();
        let first = table.layout().first_location(table.program(), cell).unwrap_or_default();
        Some(at.map_or(0, |it| first + i64::from(it.0)))
    }

    /// What may be written, and with what.
    fn written(&self, access: &InstanceAccess<'_>) -> Vec<(CellId, Next)> {
        let effect = &access.effect;
        let mut next: BTreeMap<CellId, Next> = BTreeMap::new();
        for cell in self.dependence.table().written_cells(access).iter() {
            let same = !effect.surely.contains(cell);
            next.insert(cell, Next { same, ..Next::default() });
        }
        effect
            .sets
            .iter()
            .for_each(|(cell, value)| next.entry(*cell).or_default().to.push(Some(*value)));
        for moved in &effect.moves {
            let to = self.place(moved.cell, moved.to);
            next.entry(moved.cell).or_default().to.push(to);
        }
        for add in &effect.adds {
            for cell in add.cells.iter() {
                let next = next.entry(cell).or_default();
                match add.is_once && next.plus.is_none() {
                    true => next.plus = Some(add.by),
                    false => next.any = true,
                }
            }
        }
        for (cell, next) in &mut next {
            let is_told = !next.to.is_empty() || next.plus.is_some();
            next.any |= effect.writes.contains(*cell) || !is_told;
        }
        next.into_iter().collect()
    }

    /// Whether an error of an instance's step is looked for.
    pub(super) fn may_err(&self, instance: InstanceId) -> bool {
        let failures = self.dependence.access(instance).failures();
        failures.other && self.checks.faults || failures.assertion && self.checks.assertions
    }

    /// When a property holds.
    pub(super) fn judgements(&mut self, property: PropertyId) -> Result<Judgements, Exceeded> {
        let judged = self.judged(property)?;
        Ok(judged.unwrap_or_else(|| {
            let program = self.dependence.table().program();
            let when = match program.properties[property].kind {
                PropertyKind::AssertionAt { process, location, .. } => {
                    let cell = self.dependence.table().location_cell(process, 0);
                    vec![(cell, When::Is(self.place(cell, Some(location))))]
                }
                _ => Vec::new(),
            };
            Judgements { cases: vec![(when, false)], are_exact: false }
        }))
    }

    fn judged(&mut self, property: PropertyId) -> Result<Option<Judgements>, Exceeded> {
        let Some(trying) = self.trying.as_ref() else { return Ok(None) };
        let judged = |assumed: &Assumed| {
            let holds = trying.judge(property, assumed)?;
            Ok((known(trying, assumed), holds == Some(true)))
        };
        let cases = in_all_kinds(trying, &mut self.tries, self.budget, judged)?;
        Ok(cases.map(|cases| Judgements { cases, are_exact: true }))
    }
}

/// What is found in each kind of states, where it is told when more has to be known; nothing if that takes too many tries.
fn in_all_kinds<T>(
    trying: &Trying<'_>,
    all_tries: &mut usize,
    budget: &AnalysisBudget,
    find: impl Fn(&Assumed) -> Result<T, CellId>,
) -> Result<Option<Vec<T>>, Exceeded> {
    let (mut open, mut all, mut tries) = (vec![Assumed::new()], Vec::new(), 0);
    while let Some(assumed) = open.pop() {
        tries += 1;
        *all_tries += 1;
        if tries > TRIES_MAX || *all_tries > ALL_TRIES_MAX || open.len() > TRIES_MAX {
            return Ok(None);
        }
        budget.work(trying.units())?;
        match find(&assumed) {
            Ok(found) => all.push(found),
            Err(cell) => trying.split(&assumed, cell, TRIES_MAX, &mut open),
        }
    }
    Ok(Some(all))
}

/// What is assumed, as values.
fn known(trying: &Trying<'_>, assumed: &Assumed) -> Vec<(CellId, When)> {
    let value = |cell: CellId, code| trying.layout().cells[cell].value(code);
    assumed.iter().map(|(&cell, &code)| (cell, When::Is(value(cell, code)))).collect()
}

/// What a cell holds next, if that may be something else.
fn changed(trying: &Trying<'_>, cell: CellId, before: &Both, after: &Both) -> Option<Next> {
    let layout = trying.layout();
    let [was, is] = [before, after].map(|it| [0, 1].map(|at| layout.get(&it[at], cell)));
    match is[0] == is[1] {
        // What holds in both, whatever was there.
        true if was[0] != was[1] || was != is => Some(Next { to: vec![is[0]], ..Next::default() }),
        true => None,
        // It is what it was: what is not known is not written.
        false if was == is => None,
        false => Some(Next { any: true, ..Next::default() }),
    }
}
