//! The variables of a program that are places of a net, and those that are observed.

use super::action_parts::ActionParts;
use crate::checked_properties::is_property_checked;
use spillway_analysis::place_bounds::CounterSystem;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    Action, Domain, Entity as _, Owner, Place, PlaceRoot, Program, PropertyKind, Stmt, StmtKind,
    Type, VarId, Variable,
};
use spillway_model::CheckSelection;

/// Units of work to decompose an action.
const EACH_ACTION: usize = 32;

/// The places among the variables, by number.
pub(super) struct NetPlaces {
    /// Whether the variable is a place.
    pub is_place: Vec<bool>,
    /// Whether the variable is observed.
    pub is_observed: Vec<bool>,
    /// The known upper bound of a place.
    pub most: Vec<Option<i64>>,
}

/// The variables that code mentions.
struct VariableUses<'m> {
    read: &'m mut [bool],
    written: &'m mut [bool],
}

impl CodeVisitor for VariableUses<'_> {
    fn place(&mut self, place: &Place, access: PlaceAccess) {
        if let PlaceRoot::Variable(id) = place.root {
            let of = if access == PlaceAccess::Read { &mut self.read } else { &mut self.written };
            of[id.index()] = true;
        }
        walk::place(self, place);
    }
}

impl NetPlaces {
    /// Finds the places of a program for some checks. Returns `None` if there are none.
    pub fn of(
        program: &Program,
        checks: CheckSelection,
        budget: &AnalysisBudget,
    ) -> Result<Option<NetPlaces>, BudgetExceeded> {
        let mut is_place: Vec<bool> =
            program.variables.values().map(|it| is_counter(program, it)).collect();
        let mut is_seen = observed_variables(program, checks);
        for action in program.actions.values() {
            budget.work(is_place.len() as u64)?;
            mark_action_uses(program, action, &mut is_place, &mut is_seen);
        }
        // Starts and functions may write all variables that they mention.
        let (mut seen, mut written) = (vec![false; is_seen.len()], vec![false; is_seen.len()]);
        let mut all = VariableUses { read: &mut seen, written: &mut written };
        program.starts.iter().for_each(|it| walk::body(&mut all, &it.body));
        program.functions.values().for_each(|it| walk::body(&mut all, &it.body));
        for number in 0..is_place.len() {
            is_place[number] &= !seen[number] && !written[number];
        }
        let most = keep_bounded(program, &mut is_place, budget)?;
        Ok(is_place.contains(&true).then_some(NetPlaces { is_place, is_observed: is_seen, most }))
    }
}

/// Returns the greatest value of a variable with values from 0 on.
fn room(program: &Program, variable: &Variable) -> Option<i64> {
    let Type::Scalar(scalar) = &program.types[variable.ty] else { return None };
    match scalar.domain {
        Domain::Range { low: 0, high } if !scalar.undefined => Some(high),
        _ => None,
    }
}

fn is_counter(program: &Program, variable: &Variable) -> bool {
    let is_small = room(program, variable).is_some_and(|it| it <= i64::from(i32::MAX));
    is_small && variable.owner == Owner::Program && matches!(variable.initial[..], [Some(0..)])
}

/// Returns the variables that properties read.
fn observed_variables(program: &Program, checks: CheckSelection) -> Vec<bool> {
    let mut found = vec![false; program.variables.len()];
    let mut written = found.clone();
    let mut all = VariableUses { read: &mut found, written: &mut written };
    for property in
        program.properties.values().filter(|it| is_property_checked(program, checks, &it.kind))
    {
        if let PropertyKind::Invariant(it)
        | PropertyKind::Cover(it)
        | PropertyKind::AtEnd(it)
        | PropertyKind::AssertionAt { condition: it, .. } = &property.kind
        {
            all.expr(it);
        }
    }
    found
}

/// Marks the variables that an action changes other than by adding, and those that its rest reads.
fn mark_action_uses(
    program: &Program,
    action: &Action,
    is_place: &mut [bool],
    is_seen: &mut [bool],
) {
    let parts = ActionParts::of(program, action, is_place);
    let mut written = vec![false; is_place.len()];
    for (place, arc) in &parts.arcs {
        // The action takes more than it needs.
        written[*place] |= arc.needs + arc.adds < 0;
        // Intermediate values of several additions may leave the range.
        written[*place] |= parts.adding.iter().filter(|it| it.1 == *place).count() > 1;
    }
    let mut mentioned = VariableUses { read: is_seen, written: &mut written };
    parts.guards.iter().for_each(|it| mentioned.expr(it));
    let mut read = vec![false; is_place.len()];
    for stmt in &parts.rest {
        match is_plain(stmt) {
            true => mentioned.stmt(stmt),
            false => {
                VariableUses { read: &mut read, written: mentioned.written }.stmt(stmt);
            }
        }
    }
    if walk::any_stmt(&action.body, &leaves) {
        parts.arcs.keys().for_each(|it| written[*it] = true);
    }
    for number in 0..is_place.len() {
        is_place[number] &= !written[number] && !read[number];
    }
}

/// Whether the reads and writes of a statement can be distinguished.
fn is_plain(stmt: &Stmt) -> bool {
    matches!(
        stmt.kind,
        StmtKind::Assign { .. }
            | StmtKind::Clear(_)
            | StmtKind::Assume(_)
            | StmtKind::Assert { .. }
            | StmtKind::Print { .. }
            | StmtKind::Error(_)
    )
}

/// Whether a statement leaves the body before its end.
fn leaves(stmt: &StmtKind) -> bool {
    matches!(stmt, StmtKind::Return(_) | StmtKind::Exit | StmtKind::Communicate(_))
}

/// Keeps the places that always stay within their ranges. Returns their upper bounds.
fn keep_bounded(
    program: &Program,
    is_place: &mut [bool],
    budget: &AnalysisBudget,
) -> Result<Vec<Option<i64>>, BudgetExceeded> {
    loop {
        budget.work((EACH_ACTION * program.actions.len() + is_place.len()) as u64)?;
        let ids: Vec<usize> = (0..is_place.len()).filter(|it| is_place[*it]).collect();
        let mut number = vec![0; is_place.len()];
        ids.iter().enumerate().for_each(|(at, it)| number[*it] = at);
        let variables: Vec<&Variable> =
            ids.iter().map(|it| &program.variables[VarId::from_index(*it)]).collect();
        let rooms: Vec<i64> = variables.iter().map(|it| room(program, it).unwrap_or(0)).collect();
        let initial = variables.iter().map(|it| it.initial[0].unwrap_or(0)).collect();
        let changes = program.actions.values().map(|action| {
            let arcs = ActionParts::of(program, action, is_place).arcs;
            let adding = arcs.iter().filter(|(_, arc)| arc.adds != 0);
            adding.map(|(place, arc)| (number[*place], arc.adds)).collect()
        });
        let counters = CounterSystem { initial, changes: changes.collect() };
        let bounds = counters.bounds(|it, most| most <= rooms[it]);
        let mut most = vec![None; is_place.len()];
        let mut is_whole = true;
        for (at, id) in ids.iter().enumerate() {
            most[*id] = bounds[at].filter(|it| *it <= rooms[at]);
            if most[*id].is_none() {
                (is_place[*id], is_whole) = (false, false);
            }
        }
        if is_whole {
            return Ok(most);
        }
    }
}
