//! The effects of each action instance, by the values of cells.
//!
//! If [`ActionTrial`] can execute the transitions, the cases are exact: those of an instance partition all states.
//! Otherwise they are derived from the guard and the writes of the instance, and say what may happen.

use super::CellAbstraction;
use super::cell_values::{CellPredicate, CellUpdate, CellValue};
use crate::action_trial::{ActionTrial, AssumedCodes, StatePair, TrialOutcome};
use spillway_analysis::access::{ConjunctCondition, InstanceAccess};
use spillway_analysis::dependence::DependenceRelation;
use spillway_analysis::instances::InstanceId;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{LocationId, PropertyId, PropertyKind};
use spillway_model::CheckSelection;
use std::collections::{BTreeMap, HashSet};

/// The most kinds of states in which an instance or a property is tried.
const TRIES_MAX: usize = 1 << 12;

/// The most trials in total.
const ALL_TRIES_MAX: usize = 1 << 16;

/// The effect of an instance in the states of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct AbstractCase {
    /// The conditions on cells that define the kind.
    pub(super) when: Vec<(CellId, CellPredicate)>,
    pub(super) then: AbstractEffect,
}

/// The effect of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AbstractEffect {
    /// The instance is disabled.
    Nothing,
    /// The transition fails.
    Fails,
    /// The transition changes these cells.
    Leads(Vec<(CellId, CellUpdate)>),
}

/// The cases of an instance.
#[derive(Clone, Debug)]
pub(super) struct InstanceCases {
    pub(super) all: Vec<AbstractCase>,
    /// Whether each state belongs to one case, which determines the effect.
    pub(super) are_exact: bool,
}

impl InstanceCases {
    /// Returns the approximate size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of = |case: &AbstractCase| {
            let next = match &case.then {
                AbstractEffect::Leads(next) => {
                    let to = next.iter().map(|(_, it)| size_of_val(it.to.as_slice()));
                    size_of_val(next.as_slice()) + to.sum::<usize>()
                }
                AbstractEffect::Nothing | AbstractEffect::Fails => 0,
            };
            size_of_val(case) + size_of_val(case.when.as_slice()) + next
        };
        size_of_val(self) + self.all.iter().map(of).sum::<usize>()
    }

    /// Restricts the cases to the kept cells, without duplicates.
    pub(super) fn of_kept(&self, kept: &CellAbstraction) -> InstanceCases {
        let is_kept = |cell: CellId| kept.position(cell).is_some();
        let mut met = HashSet::new();
        let mut all = Vec::new();
        for case in &self.all {
            let when = case.when.iter().filter(|it| is_kept(it.0)).copied().collect();
            let then = match &case.then {
                AbstractEffect::Leads(next) => {
                    AbstractEffect::Leads(next.iter().filter(|it| is_kept(it.0)).cloned().collect())
                }
                other => other.clone(),
            };
            let case = AbstractCase { when, then };
            if met.insert(case.clone()) {
                all.push(case);
            }
        }
        InstanceCases { all, are_exact: self.are_exact }
    }
}

/// The cases of a property.
#[derive(Clone, Debug)]
pub(super) struct PropertyCases {
    /// Conditions on cells, with the value of the property. They cover all states.
    pub(super) cases: Vec<(Vec<(CellId, CellPredicate)>, bool)>,
    /// Whether each state belongs to one case.
    pub(super) are_exact: bool,
}

impl PropertyCases {
    /// Returns the approximate size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let when = self.cases.iter().map(|it| size_of_val(it) + size_of_val(it.0.as_slice()));
        when.sum()
    }
}

/// Computes the cases of instances and properties.
pub(super) struct CaseAnalysis<'f> {
    dependence: &'f DependenceRelation<'f>,
    trying: Option<ActionTrial<'f>>,
    checks: CheckSelection,
    tries: usize,
    budget: &'f AnalysisBudget<'f>,
}

impl<'f> CaseAnalysis<'f> {
    pub(super) fn new(
        interp: &Interp,
        dependence: &'f DependenceRelation<'f>,
        checks: CheckSelection,
        budget: &'f AnalysisBudget<'f>,
    ) -> Self {
        let trying = ActionTrial::new(interp, dependence);
        CaseAnalysis { dependence, trying, checks, tries: 0, budget }
    }

    /// Returns the cases of an instance.
    pub(super) fn cases(&mut self, instance: InstanceId) -> Result<InstanceCases, BudgetExceeded> {
        let tried = self.cases_by_trial(instance)?;
        Ok(tried.unwrap_or_else(|| self.cases_by_access(self.dependence.access(instance))))
    }

    /// Computes exact cases by trials, unless these are too many.
    fn cases_by_trial(
        &mut self,
        instance: InstanceId,
    ) -> Result<Option<InstanceCases>, BudgetExceeded> {
        let Some(trying) = self.trying.as_ref().filter(|it| it.can_be_tried(instance)) else {
            return Ok(None);
        };
        let written = self.dependence.table().written_cells(self.dependence.access(instance));
        let case = |assumed: &AssumedCodes| {
            let before = trying.states(assumed);
            let then = match trying.try_step(instance, &before, assumed) {
                TrialOutcome::Unknown(cell) => return Err(cell),
                TrialOutcome::Nothing => AbstractEffect::Nothing,
                TrialOutcome::Fails => AbstractEffect::Fails,
                TrialOutcome::To(after) => {
                    let changed = |cell| Some((cell, changed(trying, cell, &before, &after)?));
                    AbstractEffect::Leads(written.iter().filter_map(changed).collect())
                }
            };
            Ok(AbstractCase { when: known(trying, assumed), then })
        };
        let all = in_all_kinds(trying, &mut self.tries, self.budget, case)?;
        Ok(all.map(|all| InstanceCases { all, are_exact: true }))
    }

    /// Derives cases from the guard and the writes of an instance.
    fn cases_by_access(&self, access: &InstanceAccess<'_>) -> InstanceCases {
        let mut when = Vec::new();
        for conjunct in access.certain_conjuncts() {
            match conjunct.condition {
                ConjunctCondition::At(cell, at) => {
                    when.push((cell, CellPredicate::Is(self.place(cell, Some(at)))))
                }
                ConjunctCondition::Compares(cell, how, with) => {
                    when.push((cell, CellPredicate::Compares(how, with)));
                }
                ConjunctCondition::Asks(..) | ConjunctCondition::Holds => {}
            }
        }
        let mut all = vec![AbstractCase {
            when: when.clone(),
            then: AbstractEffect::Leads(self.written(access)),
        }];
        if access.failures().any() {
            all.push(AbstractCase { when, then: AbstractEffect::Fails });
        }
        InstanceCases { all, are_exact: false }
    }

    /// Returns the value of a location cell for a location, or for no process.
    fn place(&self, cell: CellId, at: Option<LocationId>) -> CellValue {
        let table = self.dependence.table();
        let first = table.layout().first_location(table.program(), cell).unwrap_or_default();
        Some(at.map_or(0, |it| first + i64::from(it.0)))
    }

    /// Returns the cells that may be written, with the values.
    fn written(&self, access: &InstanceAccess<'_>) -> Vec<(CellId, CellUpdate)> {
        let effect = &access.effect;
        let mut next: BTreeMap<CellId, CellUpdate> = BTreeMap::new();
        for cell in self.dependence.table().written_cells(access).iter() {
            let same = !effect.definite_writes.contains(cell);
            next.insert(cell, CellUpdate { same, ..CellUpdate::default() });
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

    /// Whether an instance may fail with a checked error.
    pub(super) fn may_err(&self, instance: InstanceId) -> bool {
        let failures = self.dependence.access(instance).failures();
        failures.other && self.checks.faults || failures.assertion && self.checks.assertions
    }

    /// Returns the cases of a property.
    pub(super) fn judgements(
        &mut self,
        property: PropertyId,
    ) -> Result<PropertyCases, BudgetExceeded> {
        let judged = self.property_cases_by_trial(property)?;
        Ok(judged.unwrap_or_else(|| {
            let program = self.dependence.table().program();
            let when = match program.properties[property].kind {
                PropertyKind::AssertionAt { process, location, .. } => {
                    let cell = self.dependence.table().location_cell(process, 0);
                    vec![(cell, CellPredicate::Is(self.place(cell, Some(location))))]
                }
                _ => Vec::new(),
            };
            PropertyCases { cases: vec![(when, false)], are_exact: false }
        }))
    }

    fn property_cases_by_trial(
        &mut self,
        property: PropertyId,
    ) -> Result<Option<PropertyCases>, BudgetExceeded> {
        let Some(trying) = self.trying.as_ref() else { return Ok(None) };
        let judged = |assumed: &AssumedCodes| {
            let holds = trying.judge(property, assumed)?;
            Ok((known(trying, assumed), holds == Some(true)))
        };
        let cases = in_all_kinds(trying, &mut self.tries, self.budget, judged)?;
        Ok(cases.map(|cases| PropertyCases { cases, are_exact: true }))
    }
}

/// Tries all kinds of states; `find` returns the cell that must be known first. Returns `None` if the trials are too
/// many.
fn in_all_kinds<T>(
    trying: &ActionTrial<'_>,
    all_tries: &mut usize,
    budget: &AnalysisBudget,
    find: impl Fn(&AssumedCodes) -> Result<T, CellId>,
) -> Result<Option<Vec<T>>, BudgetExceeded> {
    let (mut open, mut all, mut tries) = (vec![AssumedCodes::new()], Vec::new(), 0);
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

/// Converts assumed codes to conditions on values.
fn known(trying: &ActionTrial<'_>, assumed: &AssumedCodes) -> Vec<(CellId, CellPredicate)> {
    let value = |cell: CellId, code| trying.layout().cells[cell].value(code);
    assumed.iter().map(|(&cell, &code)| (cell, CellPredicate::Is(value(cell, code)))).collect()
}

/// Returns the update of a cell, if it may change.
fn changed(
    trying: &ActionTrial<'_>,
    cell: CellId,
    before: &StatePair,
    after: &StatePair,
) -> Option<CellUpdate> {
    let layout = trying.layout();
    let [was, is] = [before, after].map(|it| [0, 1].map(|at| layout.get(&it[at], cell)));
    match is[0] == is[1] {
        // The new value is the same in both states, whatever the cell held.
        true if was[0] != was[1] || was != is => {
            Some(CellUpdate { to: vec![is[0]], ..CellUpdate::default() })
        }
        true => None,
        // The cell keeps its value; unknown cells are not written.
        false if was == is => None,
        false => Some(CellUpdate { any: true, ..CellUpdate::default() }),
    }
}
