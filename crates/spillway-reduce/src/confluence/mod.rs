//! Confluence: a confluent invisible transition has priority over all others.
//!
//! An action instance is *confluent* if, wherever it (`t`) and another instance `a` are enabled, the diamond that
//! they start can be closed. The analysis works on the program. With `s -t-> u` and `s -a-> v`,
//!
//! ```text
//! u -a-> w and v -t'-> w    both orders lead to one state, where t' is confluent, too
//! u -a-> v                  a leads to v with or without t
//! v -t'-> u, or v = u       a leads to the target of t: it is invisible, too
//! ```
//!
//! (Blom and van de Pol, "State space reduction by proving confluence", 2002; Pace, Lang and Mateescu, "Calculating
//! τ-confluence compositionally", 2003; Pelánek 2005, section 3.2.4.) Partial order knows only the first case, for
//! transitions that it finds independent. Here two transitions that write the same cells are tried, for all values
//! that they read (`diamonds`).
//!
//! Everything that is enabled in a state is possible after each confluent transition, in as many transitions or
//! fewer. So no other transition need be taken (prioritised). The state need not be stored: the state after the last
//! confluent transition represents it (as a map). Confluence is a method of [`partial_order`](super::partial_order),
//! with the same choices, cycle provisos and chains. `docs/reductions/confluence.md` has the proof.

mod diamonds;

use diamonds::DiamondCheck;
use spillway_analysis::access::InstanceAccess;
use spillway_analysis::bit_sets;
use spillway_analysis::dependence::{DependenceMatrix, DependenceRelation, ProgramDependence};
use spillway_analysis::instances::{ActionInstance, InstanceId, InstanceSide};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_ir::{Entity, ExprKind, TurnRule};

/// The title of the reduction.
pub const NAME: &str = "confluence";

/// Returns the set of confluent action instances of a program. `visible` are the instances that a property observes.
pub(super) fn confluent(
    interp: &Interp,
    dependence: ProgramDependence<'_>,
    visible: &[u64],
    budget: &AnalysisBudget,
) -> Result<Vec<u64>, BudgetExceeded> {
    let ProgramDependence { relation: dependence, matrix } = dependence;
    let finding = ConfluenceAnalysis { interp, dependence, visible };
    let mut found = vec![0; bit_sets::words_of(dependence.instances().count())];
    let silent = dependence.instances().filter(|&it| finding.is_silent(it));
    silent
        .filter(|&it| finding.is_single(it))
        .for_each(|it| bit_sets::insert(&mut found, it.index()));
    let needs = finding.needs(matrix, &mut found, budget)?;
    // An instance that requires one that is not confluent is not confluent either.
    loop {
        let is_lost = |(by, needed): &&(InstanceId, InstanceId)| {
            bit_sets::has(&found, by.index()) && !bit_sets::has(&found, needed.index())
        };
        let lost: Vec<InstanceId> = needs.iter().filter(is_lost).map(|(by, _)| *by).collect();
        if lost.is_empty() {
            return Ok(found);
        }
        budget.work(needs.len() as u64)?;
        lost.into_iter().for_each(|it| bit_sets::remove_member(&mut found, it.index()));
    }
}

struct ConfluenceAnalysis<'f> {
    interp: &'f Interp,
    dependence: &'f DependenceRelation<'f>,
    visible: &'f [u64],
}

impl ConfluenceAnalysis<'_> {
    /// Whether a transition is invisible and always has a successor.
    fn is_silent(&self, instance: InstanceId) -> bool {
        let access = self.dependence.access(instance);
        !bit_sets::has(self.visible, instance.index())
            && !access.failures().any()
            && !access.effect.may_drop
    }

    /// Whether the instance has at most one transition in a state, which changes something.
    fn is_single(&self, instance: InstanceId) -> bool {
        let table = self.dependence.table();
        let Some(begins) = table.instances().get(instance) else { return false };
        let goes_on = |action| table.program().actions[action].control.turn != TurnRule::Open;
        begins.sides().next().is_some()
            && !begins.sides().any(|side| goes_on(side.action))
            && self.dependence.access(instance).effect.changes_anything()
    }

    /// Removes the instances with a diamond that does not close. For the others, returns which ones require which.
    fn needs(
        &self,
        matrix: &DependenceMatrix,
        found: &mut [u64],
        budget: &AnalysisBudget,
    ) -> Result<Vec<(InstanceId, InstanceId)>, BudgetExceeded> {
        let (mut closing, mut needs) =
            (DiamondCheck::new(self.interp, self.dependence), Vec::new());
        let candidates: Vec<usize> = bit_sets::members(found).collect();
        for it in candidates {
            let taken = InstanceId(it as u32);
            let others =
                bit_sets::members(matrix.dependent.row(it)).map(|it| InstanceId(it as u32));
            let mut others = others.filter(|&it| !self.waits_for_all(it));
            let closes = others.try_for_each(|other| {
                let Some(closing) = closing.as_mut() else { return Err(None) };
                let needed = closing.needed(taken, found, other, budget).map_err(Some)?;
                let needed = needed.ok_or(None)?;
                needs.extend(needed.into_iter().map(|it| (taken, it)));
                Ok(())
            });
            match closes {
                Ok(()) => {}
                Err(None) => bit_sets::remove_member(found, it),
                Err(Some(exceeded)) => return Err(exceeded),
            }
        }
        Ok(needs)
    }

    /// Whether an instance is enabled only where nothing else is.
    fn waits_for_all(&self, instance: InstanceId) -> bool {
        let access: &InstanceAccess<'_> = self.dependence.access(instance);
        let mut asked = access.certain_conjuncts().filter_map(|it| it.expr);
        asked.any(|it| it.kind == ExprKind::Timeout)
    }
}

/// Returns the side of an instance that is a single action.
fn alone(dependence: &DependenceRelation<'_>, instance: InstanceId) -> Option<InstanceSide> {
    match dependence.table().instances().get(instance)? {
        ActionInstance::Alone(side) => Some(side),
        ActionInstance::Meeting { .. } | ActionInstance::MayMove { .. } => None,
    }
}
