//! Permutations of processes that leave a program unchanged.
//!
//! An *automorphism* maps processes to processes. It also maps variables, channels, elements of arrays and the values
//! that name any of these, such that each action is mapped to an action. Then a state and its image have the same
//! futures, except for names (Emerson and Sistla 1996; for programs in Promela, Donaldson and Miller 2006). The model
//! needs no annotations. If the text of one process has a 0 where the text of another has a 1, then 0 and 1 are
//! exchanged, with everything that is compared with them or indexed by them ([`sorts`]).
//!
//! The search starts from the images of some processes. The rest follows from a walk through the texts of both side
//! by side ([`pair_walk`], [`correspondence`]). The walk includes everything that does not move. The search may miss
//! automorphisms. Each automorphism that it returns is verified action by action.

mod cell_map;
mod correspondence;
mod pair_walk;
mod sort_inference;
mod sorts;

pub use cell_map::{CellImage, CellMap, CodeMap};

use correspondence::{Correspondence, IdentifiedInstance};
use pair_walk::{PairWalk, PairingRules};
use sorts::{LocationInProcess, ProgramSorts};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::layout::Layout;
use spillway_ir::walk::any_stmt;
use spillway_ir::{
    Action, ActionId, InstanceCount, LocationId, Owner, PidRule, Process, ProcessId,
    ProcessInstance, Program, PropertyId, PropertyKind, Schedule, StartRule, StmtKind, TurnRule,
};
use std::collections::{BTreeMap, BTreeSet};

/// A permutation of processes and of everything that belongs to them.
#[derive(Clone, Debug)]
pub struct Automorphism {
    /// The instances that move, with their images.
    pub instances: Vec<(ProcessInstance, ProcessInstance)>,
    /// The actions that move, with their images.
    pub actions: Vec<(ActionId, ActionId)>,
    /// The properties that move, with their images.
    pub properties: Vec<(PropertyId, PropertyId)>,
    /// The images of the cells.
    pub cells: CellMap,
}

impl Automorphism {
    /// Returns the approximate size in bytes.
    fn bytes(&self) -> usize {
        let Automorphism { instances, actions, properties, cells } = self;
        size_of_val(instances.as_slice())
            + size_of_val(actions.as_slice())
            + size_of_val(properties.as_slice())
            + size_of_val(cells.as_slice())
    }
}

/// Returns automorphisms that generate many others. For each kind of processes these are the transpositions of
/// neighbours; if there are none, a rotation of all.
pub fn automorphisms(
    program: &Program,
    layout: &Layout,
    budget: &AnalysisBudget,
) -> Result<Vec<Automorphism>, BudgetExceeded> {
    let is_understood = program.schedule == Schedule::Interleaved
        && program.last.is_none()
        && program.functions.is_empty()
        && program.actions.values().all(|it| it.edge.is_some());
    if !is_understood {
        return Ok(Vec::new());
    }
    let sorts = sort_inference::sorts(program, budget);
    budget.work(0)?;
    let Some(sorts) = sorts else { return Ok(Vec::new()) };
    let (by_process, owned) = (by_process(program), owned(program));
    let search = AutomorphismSearch { program, layout, sorts: &sorts, by_process, owned, budget };
    let mut found = Vec::new();
    for kind in search.kinds() {
        let before = found.len();
        for two in kind.windows(2) {
            found.extend(search.find_cycle(&[two[0], two[1]])?);
        }
        if found.len() == before && kind.len() > 2 {
            found.extend(search.find_cycle(&kind)?);
        }
    }
    Ok(found)
}

fn by_process(program: &Program) -> Vec<Vec<(ActionId, &Action)>> {
    let mut by_process = vec![Vec::new(); program.processes.len()];
    for (id, action) in program.actions.iter() {
        if let Some(edge) = action.edge {
            by_process[edge.process.0 as usize].push((id, action));
        }
    }
    by_process
}

/// Returns the numbers of variables and of channels of each process.
fn owned(program: &Program) -> Vec<[usize; 2]> {
    let mut owned = vec![[0; 2]; program.processes.len()];
    let mut count = |owner: Owner, kind: usize| {
        if let Owner::Process(id) = owner {
            owned[id.0 as usize][kind] += 1;
        }
    };
    program.variables.values().for_each(|it| count(it.owner, 0));
    program.channels.values().for_each(|it| count(it.owner, 1));
    owned
}

struct AutomorphismSearch<'p> {
    program: &'p Program,
    layout: &'p Layout,
    sorts: &'p ProgramSorts,
    /// The actions of each process.
    by_process: Vec<Vec<(ActionId, &'p Action)>>,
    /// The numbers of variables and of channels of each process.
    owned: Vec<[usize; 2]>,
    budget: &'p AnalysisBudget<'p>,
}

impl<'p> AutomorphismSearch<'p> {
    fn process(&self, id: ProcessId) -> &'p Process {
        &self.program.processes[id]
    }

    fn actions(&self, id: ProcessId) -> &[(ActionId, &'p Action)] {
        &self.by_process[id.0 as usize]
    }

    /// Returns groups of instances that may be symmetric, without a comparison of their texts.
    fn kinds(&self) -> Vec<Vec<ProcessInstance>> {
        let watching: BTreeSet<_> = self.watching().collect();
        let stays = self.program.processes.keys().filter(|id| !self.is_always_there(*id));
        let left_out: BTreeSet<_> = stays.chain(watching).collect();
        let mut kinds: Vec<Vec<ProcessInstance>> = Vec::new();
        for instance in self.program.instances() {
            if left_out.contains(&instance.process) {
                continue;
            }
            let like = |kind: &&mut Vec<ProcessInstance>| {
                self.look_alike(kind[0].process, instance.process)
            };
            match kinds.iter_mut().find(like) {
                Some(kind) => kind.push(instance),
                None => kinds.push(vec![instance]),
            }
        }
        kinds.retain(|kind| kind.len() > 1);
        kinds
    }

    /// Returns the automata of properties, which only observe.
    fn watching(&self) -> impl Iterator<Item = ProcessId> {
        self.program.properties.values().filter_map(|it| match it.kind {
            PropertyKind::Automaton(process) => Some(process),
            _ => None,
        })
    }

    /// Returns whether all instances of a process exist from the start to the end.
    fn is_always_there(&self, id: ProcessId) -> bool {
        let process = self.process(id);
        match process.instances {
            InstanceCount::One => true,
            InstanceCount::Slots { capacity, active } => {
                let runs =
                    |it: &StmtKind| matches!(it, StmtKind::Run { process, .. } if *process == id);
                let at_start = |it: &StartRule| it.body.iter().filter(|it| runs(&it.kind)).count();
                let begins = |it: &StartRule| active + at_start(it) as u32 == capacity;
                let (actions, processes) = (&self.program.actions, &self.program.processes);
                self.program.starts.iter().all(begins)
                    && !matches!(process.life.pid, PidRule::In(_))
                    && !actions.values().any(|it| any_stmt(&it.body, &runs))
                    && !processes.values().any(|it| any_stmt(&it.life.prologue, &runs))
                    && !self.may_exit(id)
            }
        }
    }

    /// Returns whether an instance can reach a location where it ends.
    fn may_exit(&self, id: ProcessId) -> bool {
        let edges = || self.actions(id).iter().filter_map(|(_, it)| Some((it.edge?, *it)));
        let mut leads: BTreeMap<LocationId, Vec<LocationId>> = BTreeMap::new();
        edges().for_each(|(edge, _)| leads.entry(edge.from).or_default().push(edge.to));
        let start = self.process(id).start;
        let (mut reached, mut open) = (BTreeSet::from([start]), vec![start]);
        while let Some(at) = open.pop() {
            let next = leads.get(&at).into_iter().flatten().copied();
            open.extend(next.filter(|&to| reached.insert(to)));
        }
        edges().any(|(edge, action)| {
            reached.contains(&edge.from)
                && any_stmt(&action.body, &|kind| matches!(kind, StmtKind::Exit))
        })
    }

    fn look_alike(&self, one: ProcessId, other: ProcessId) -> bool {
        let (here, there) = (self.process(one), self.process(other));
        let owned = |id: ProcessId| self.owned[id.0 as usize];
        one == other
            || here.locations.len() == there.locations.len()
                && here.instances == there.instances
                && self.actions(one).len() == self.actions(other).len()
                && owned(one) == owned(other)
    }

    /// Returns the automorphism that maps each instance to the next and the last to the first, if one is found.
    fn find_cycle(
        &self,
        circle: &[ProcessInstance],
    ) -> Result<Option<Automorphism>, BudgetExceeded> {
        let found = self.try_cycle(circle);
        // If the budget is exceeded, a failed search proves nothing.
        self.budget.work(0)?;
        self.budget.hold(found.as_ref().map_or(0, Automorphism::bytes))?;
        Ok(found)
    }

    fn try_cycle(&self, circle: &[ProcessInstance]) -> Option<Automorphism> {
        let mut told = Correspondence::new(self.program, self.sorts);
        let known = |instance| IdentifiedInstance { instance, pid: self.pid(instance) };
        let next = circle.iter().cycle().skip(1);
        for (&one, &other) in circle.iter().zip(next) {
            told.pair_instances(known(one), known(other))?;
        }
        let mut pairs = PairWalk::new(self.program, told, self.budget);
        for instance in circle {
            let there = pairs.rules.processes.goes_to(instance.process)?;
            self.walk(&mut pairs, instance.process, there)?;
        }
        let watching: BTreeSet<_> = self.watching().collect();
        for id in self.program.processes.keys().filter(|id| !watching.contains(id)) {
            self.follow(&mut pairs, id)?;
        }
        self.properties(&mut pairs)?;
        for instance in self.program.instances() {
            let there = self.image(&pairs.rules, instance)?;
            pairs.rules.pair_instances(known(instance), known(there))?;
        }
        let told = pairs.rules;
        let mut instances = Vec::new();
        for one in self.program.instances() {
            let other = self.image(&told, one)?;
            if one != other {
                // The process may start and end where its image does not.
                self.is_always_there(one.process).then_some(())?;
                instances.push((one, other));
            }
        }
        self.budget.work(self.layout.state_cells.into()).ok()?;
        let cells = cell_map::map(self.program, self.layout, self.sorts, &told)?;
        let (actions, properties) = (told.actions.moved(), told.properties.moved());
        Some(Automorphism { instances, actions, properties, cells })
    }

    /// Returns the image of an instance.
    fn image(&self, told: &Correspondence, one: ProcessInstance) -> Option<ProcessInstance> {
        let process = told.processes.image(one.process);
        let slot = told.value(self.sorts.slots[one.process], one.slot.into());
        Some(ProcessInstance { process, slot: u32::try_from(slot).ok()? })
    }

    /// Returns the pid of an instance, if it is fixed.
    fn pid(&self, one: ProcessInstance) -> Option<i64> {
        match self.process(one.process).life.pid {
            PidRule::None => Some(one.slot.into()),
            PidRule::From(first) => Some(i64::from(first + one.slot)),
            PidRule::In(_) => None,
        }
    }

    /// Finds the image of a process and walks through both.
    fn follow(&self, pairs: &mut PairWalk<'p, Correspondence<'p>>, id: ProcessId) -> Option<()> {
        if let Some(there) = pairs.rules.processes.goes_to(id) {
            return self.walk(pairs, id, there);
        }
        let others =
            self.program.processes.keys().filter(|&it| it != id && self.look_alike(it, id));
        let mut candidates = std::iter::once(id).chain(others);
        candidates.find(|&there| {
            !pairs.rules.processes.is_taken(there)
                && pairs.attempt(|it| {
                    it.rules.processes(id, there)?;
                    self.walk(it, id, there)
                })
        })?;
        Some(())
    }

    /// Walks through two processes, with their actions in order. If these do not correspond, searches for a matching
    /// of the actions.
    fn walk(
        &self,
        pairs: &mut PairWalk<'p, Correspondence<'p>>,
        one: ProcessId,
        other: ProcessId,
    ) -> Option<()> {
        let (here, there) = (self.process(one), self.process(other));
        if here.locations.len() != there.locations.len() {
            return None;
        }
        pairs.life(one, here, there)?;
        // If all instances exist from the start, the prologue has no further effect.
        if !self.is_always_there(one) {
            pairs.prologue(here, there)?;
        }
        let (own, others) = (self.actions(one), self.actions(other));
        if own.len() != others.len() {
            return None;
        }
        let in_order = pairs.attempt(|pairs| {
            own.iter().zip(others).try_for_each(|(own, other)| paired(pairs, own.0, other.0))
        });
        match in_order {
            true => Some(()),
            false if has_order(own) || has_order(others) => None,
            false => {
                let start = LocationInProcess { process: one, location: here.start };
                let other_start = LocationInProcess { process: other, location: there.start };
                pairs.attempt(|it| it.rules.locations(start, other_start));
                matched(pairs, own, others)
            }
        }
    }

    /// Finds an equivalent property for each property.
    fn properties(&self, pairs: &mut PairWalk<'p, Correspondence<'p>>) -> Option<()> {
        let asks = |kind: &PropertyKind| {
            !matches!(kind, PropertyKind::Automaton(_) | PropertyKind::Claim(_))
        };
        let all = self.program.properties.iter().filter(|(_, it)| asks(&it.kind));
        let all: Vec<_> = all.collect();
        let mut left = all.clone();
        for (id, property) in all {
            let like = |&(there, other): &(PropertyId, &_)| {
                pairs.attempt(|it| {
                    it.property(id, property, other)?;
                    it.rules.properties.pair(id, there)
                })
            };
            let at = left.iter().position(like)?;
            left.remove(at);
        }
        Some(())
    }
}

/// Returns whether the order of a process's actions matters: the first enabled one of some is taken, or an
/// `otherwise` action is not the last one of its location.
fn has_order(actions: &[(ActionId, &Action)]) -> bool {
    let from = |it: &Action| it.edge.map(|it| it.from);
    let is_followed = |at: usize, one: &Action| {
        let mut rest = actions[at + 1..].iter().map(|it| it.1);
        one.control.otherwise && rest.any(|it| from(it) == from(one))
    };
    let mut all = actions.iter().map(|it| it.1).enumerate();
    all.any(|(at, it)| it.control.turn == TurnRule::First || is_followed(at, it))
}

/// Returns whether two actions may correspond, without a comparison of their texts.
fn may_correspond(told: &Correspondence, one: &Action, other: &Action) -> bool {
    let (Some(here), Some(there)) = (one.edge, other.edge) else { return false };
    let from = told.locations.goes_to(LocationInProcess::source(here));
    from.is_none_or(|it| it == LocationInProcess::source(there))
        && one.guard.is_some() == other.guard.is_some()
        && one.communication.is_some() == other.communication.is_some()
        && one.body.len() == other.body.len()
}

/// Maps one action to another, if they correspond.
fn paired<'p>(
    pairs: &mut PairWalk<'p, Correspondence<'p>>,
    one: ActionId,
    other: ActionId,
) -> Option<()> {
    pairs.actions(one, other)?;
    pairs.rules.actions.pair(one, other)
}

/// Finds a corresponding action of another process for each action, from the start location on.
fn matched<'p>(
    pairs: &mut PairWalk<'p, Correspondence<'p>>,
    own: &[(ActionId, &'p Action)],
    others: &[(ActionId, &'p Action)],
) -> Option<()> {
    let (mut own, mut others) = (own.to_vec(), others.to_vec());
    while !own.is_empty() {
        // Prefers an action whose source location has a known image.
        let is_known = |(_, it): &(ActionId, &Action)| {
            it.edge.is_some_and(|it| {
                pairs.rules.locations.goes_to(LocationInProcess::source(it)).is_some()
            })
        };
        let at = own.iter().position(is_known).unwrap_or(0);
        let action = own.remove(at);
        let like = |other: &(ActionId, &'p Action)| {
            may_correspond(&pairs.rules, action.1, other.1)
                && pairs.attempt(|it| paired(it, action.0, other.0))
        };
        let there = others.iter().position(like)?;
        others.remove(there);
    }
    Some(())
}
