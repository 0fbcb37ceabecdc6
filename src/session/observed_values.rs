//! The values that the variables of a model have in the visited states.

use super::{Error, TextModel};
use crate::budget::AnalysisBudget;
use crate::front::name_suggestion;
use crate::ir::layout::{CellId, Layout};
use crate::ir::{
    Domain, Entity, InstanceCount, Owner, PidRule, ProcessId, Program, ScalarType, Type, TypeId,
    VarId,
};
use crate::search::StateStorage;
use crate::search::checkpoint::SavedSearch;
use crate::search::scan::scan_states;
use crate::search::trace::{StoredLevels, TraceFinder};
use std::collections::BTreeSet;
use std::path::Path;

/// The maximum size of a domain whose values are listed by name.
pub(super) const NAMED_MAX: u32 = 64;

/// The values of a variable, or of a part of it. All elements of an array count together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableValues {
    /// The name, with `[]` for an index: `cache[].state`.
    pub name: String,
    /// The minimum and the maximum. `None` if the variable never has a value.
    pub range: Option<(i64, i64)>,
    /// The names of the values, for an enumeration or a truth value.
    pub names: Option<Vec<String>>,
    /// Whether the variable is undefined in some state.
    pub undefined: bool,
    /// The reductions that store values other than the model's.
    pub changed_by: Vec<String>,
}

/// The values in all visited states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedValues {
    /// The values by variable, in declaration order.
    pub all: Vec<VariableValues>,
    /// The minimum and the maximum over the states of the sum of all numbers of a state.
    pub sums: Option<(i64, i64)>,
    /// The sums of the requested variables.
    pub requested: Vec<ValueSum>,
    /// The number of states.
    pub states: u64,
}

/// The sum of some variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSum {
    /// The minimum and the maximum over the states. `None` if there is no state.
    pub range: Option<(i64, i64)>,
    /// The reductions that store values of these variables other than the model's.
    pub changed_by: Vec<String>,
}

/// A part of a variable whose values count together, and its cells in the state vector.
struct ValueLeaf {
    name: String,
    /// The variable's name. Empty if the leaf belongs to no variable.
    of: String,
    domain: Domain,
    cells: Vec<GuardedCell>,
}

/// A cell with a guard. The cell is in use if each of these cells has a code above the given one. For a dynamic
/// process the guard is that it exists, for a message that the channel has enough messages.
struct GuardedCell {
    cell: CellId,
    if_above: Vec<(CellId, u32)>,
}

/// The minimum and the maximum of some numbers.
#[derive(Clone, Copy)]
struct NumberRange(i64, i64);

impl NumberRange {
    const NOTHING: NumberRange = NumberRange(i64::MAX, i64::MIN);

    fn note(&mut self, number: i64) {
        *self = self.and(NumberRange(number, number));
    }

    fn and(self, other: NumberRange) -> NumberRange {
        NumberRange(self.0.min(other.0), self.1.max(other.1))
    }

    /// Returns both bounds. `None` if there are no numbers.
    fn bounds(self) -> Option<(i64, i64)> {
        (self.0 <= self.1).then_some((self.0, self.1))
    }
}

/// The observed values of a leaf.
#[derive(Clone, Copy)]
struct LeafValues {
    range: NumberRange,
    /// A bit for each value, if the values have names.
    names: u64,
    undefined: bool,
}

impl LeafValues {
    const NOTHING: LeafValues =
        LeafValues { range: NumberRange::NOTHING, names: 0, undefined: false };

    fn and(self, other: LeafValues) -> LeafValues {
        LeafValues {
            range: self.range.and(other.range),
            names: self.names | other.names,
            undefined: self.undefined | other.undefined,
        }
    }
}

/// Returns the values in the states of the search in `dir`. `None` if the control stops it. The search must store
/// whole states.
pub fn observe_values(
    finder: &TraceFinder<'_>,
    model: &TextModel,
    dir: &Path,
    saved: &SavedSearch,
    asked: &[Vec<String>],
) -> Result<Option<ObservedValues>, Error> {
    let form = model.form(&model.wished, &AnalysisBudget::largest());
    let (program, layout) = (form.interp().program(), form.interp().layout());
    let leaves = leaves(program, layout);
    let searched = model.searched();
    let changed = searched.stack().changed_cells(layout);
    let changed_by = |leaf: &ValueLeaf| -> Vec<String> {
        let is_changed =
            |cells: &BTreeSet<CellId>| leaf.cells.iter().any(|it| cells.contains(&it.cell));
        changed.iter().filter(|(_, cells)| is_changed(cells)).map(|it| it.0.clone()).collect()
    };
    let groups = asked.iter().map(|names| group(&leaves, names)).collect::<Result<Vec<_>, _>>()?;
    let open = Error::open(dir);
    let codec = match saved.storage().map_err(&open)? {
        StateStorage::Sorted(codec) => codec,
        StateStorage::Comback(_) => return Err(Error::NoStates("it stores hashes and back-edges")),
    };
    if finder.model.width() != layout.bytes {
        return Err(Error::NoStates("it stores states of a product with a claim"));
    }
    let new = || ValueCollector::new(leaves.len(), groups.len());
    let levels = StoredLevels { disk: finder.disk, levels: &saved.store.levels, codec: &codec };
    let found = scan_states(finder, levels, new, |room, state| {
        for ((leaf, met), sum) in leaves.iter().zip(&mut room.met).zip(&mut room.each) {
            *sum = collect_leaf(layout, leaf, met, state);
        }
        room.sums.note(room.each.iter().sum());
        for (group, range) in groups.iter().zip(&mut room.asked) {
            range.note(group.iter().map(|&leaf| room.each[leaf]).sum());
        }
        room.states += 1;
    });
    let Some(found) = found.map_err(&open)? else { return Ok(None) };
    let all = leaves.iter().enumerate().map(|(number, leaf)| {
        let met = found.iter().map(|it| it.met[number]).fold(LeafValues::NOTHING, LeafValues::and);
        VariableValues { changed_by: changed_by(leaf), ..leaf.values(program, met) }
    });
    let states = found.iter().map(|it| it.states).sum();
    let all_of = |of: &dyn Fn(&ValueCollector) -> NumberRange| {
        found.iter().map(of).fold(NumberRange::NOTHING, NumberRange::and).bounds()
    };
    let sums = all_of(&|it| it.sums);
    let asked = groups.iter().enumerate().map(|(number, group)| {
        let mut changed_by: Vec<_> = group.iter().flat_map(|&it| changed_by(&leaves[it])).collect();
        changed_by.dedup();
        ValueSum { range: all_of(&|it| it.asked[number]), changed_by }
    });
    Ok(Some(ObservedValues { all: all.collect(), sums, requested: asked.collect(), states }))
}

/// The observations of one thread.
struct ValueCollector {
    met: Vec<LeafValues>,
    /// The sum of each leaf in the current state.
    each: Vec<i64>,
    sums: NumberRange,
    asked: Vec<NumberRange>,
    states: u64,
}

impl ValueCollector {
    /// Creates an empty collector for these numbers of leaves and of groups of leaves.
    fn new(leaves: usize, groups: usize) -> ValueCollector {
        ValueCollector {
            met: vec![LeafValues::NOTHING; leaves],
            each: vec![0; leaves],
            sums: NumberRange::NOTHING,
            asked: vec![NumberRange::NOTHING; groups],
            states: 0,
        }
    }
}

/// Returns the leaves of the variables of these names.
fn group(leaves: &[ValueLeaf], names: &[String]) -> Result<Vec<usize>, Error> {
    let known = leaves.iter().map(|it| it.of.as_str()).filter(|it| !it.is_empty());
    let known: Vec<&str> = known.collect();
    if let Some(name) = names.iter().find(|it| !known.contains(&it.as_str())) {
        let help = name_suggestion::unknown_name_help(name, &known, "variables");
        let error = format!("the model has no variable {name} with numbers\n  help: {help}");
        return Err(Error::Unreadable(error));
    }
    let of = |name: &String| {
        let leaves = leaves.iter().enumerate().filter(move |(_, it)| it.of == *name);
        leaves.map(|(at, _)| at).collect::<Vec<_>>()
    };
    Ok(names.iter().flat_map(of).collect())
}

/// Records the values of a leaf in a state, and returns their sum.
fn collect_leaf(layout: &Layout, leaf: &ValueLeaf, met: &mut LeafValues, state: &[u8]) -> i64 {
    let mut sum = 0;
    for GuardedCell { cell, if_above } in &leaf.cells {
        if if_above.iter().any(|&(cell, code)| layout.code(state, cell) <= code) {
            continue;
        }
        match layout.get(state, *cell) {
            None => met.undefined = true,
            Some(value) => {
                met.range.note(value);
                // The bits are meaningful only for named values, which begin with 0.
                met.names |= 1u64.checked_shl(value as u32).unwrap_or(0);
                sum += value;
            }
        }
    }
    sum
}

impl ValueLeaf {
    fn values(&self, program: &Program, met: LeafValues) -> VariableValues {
        let names = |all: &[&str]| {
            let has = |(at, _): &(usize, &&str)| met.names >> at & 1 == 1;
            let names = all.iter().enumerate().filter(has).map(|(_, it)| (*it).to_owned());
            Some(names.collect())
        };
        let names = match &self.domain {
            Domain::Bool => names(&["false", "true"]),
            Domain::Enum(id) if program.enums[*id].values.len() as u32 <= NAMED_MAX => {
                names(&program.enums[*id].values.iter().map(String::as_str).collect::<Vec<_>>())
            }
            _ => None,
        };
        let (name, range, undefined) = (self.name.clone(), met.range.bounds(), met.undefined);
        VariableValues { name, range, names, undefined, changed_by: Vec::new() }
    }
}

/// Returns the observable parts of a state: variables of the program and of processes, and the lengths and messages of
/// channels. Multisets, scalarset values, and numbers of channels and processes are left out.
fn leaves(program: &Program, layout: &Layout) -> Vec<ValueLeaf> {
    let mut leaves: Vec<ValueLeaf> = Vec::new();
    // The variable that holds a process's pid is no variable of the model.
    let is_pid = |id: VarId| program.processes.values().any(|it| it.life.pid == PidRule::In(id));
    for (id, variable) in program.variables.iter().filter(|(id, _)| !is_pid(*id)) {
        let name = qualified_name(program, variable.owner, &variable.name);
        let from = leaves.len();
        for (slot, if_there) in slots(program, layout, variable.owner) {
            let next = layout.variables[id].in_slot(slot).index();
            let mut part =
                LeafCollector { program, layout, next, if_there, leaves: &mut leaves, from };
            part.add(variable.ty, &name);
        }
        leaves[from..].iter_mut().for_each(|it| it.of.clone_from(&name));
    }
    for (id, channel) in program.channels.iter().filter(|(_, it)| it.capacity > 0) {
        let name = qualified_name(program, channel.owner, &channel.name);
        let from = leaves.len();
        leaves.push(ValueLeaf {
            name: format!("len({name})"),
            of: String::new(),
            domain: Domain::Range { low: 0, high: channel.capacity.into() },
            cells: Vec::new(),
        });
        for (slot, if_there) in slots(program, layout, channel.owner) {
            let count = layout.channels[id].in_slot(slot);
            leaves[from].cells.push(GuardedCell { cell: count, if_above: if_there.clone() });
            let mut next = count.index() + 1;
            for message in 0..channel.capacity {
                let if_waiting = [&if_there[..], &[(count, message)]].concat();
                for (number, &ty) in (1..).zip(&channel.fields) {
                    let one = channel.fields.len() == 1;
                    let field =
                        if one { format!("{name}[]") } else { format!("{name}[].{number}") };
                    let if_there = if_waiting.clone();
                    let mut part = LeafCollector {
                        program,
                        layout,
                        next,
                        if_there,
                        leaves: &mut leaves,
                        from,
                    };
                    part.add(ty, &field);
                    next = part.next;
                }
            }
        }
    }
    leaves
}

/// Returns the name of an owner's variable. All instances of a dynamic process share it.
fn qualified_name(program: &Program, owner: Owner, name: &str) -> String {
    match owner {
        Owner::Process(process) if program.processes[process].instances != InstanceCount::One => {
            format!("{}[].{name}", program.processes[process].name)
        }
        _ => program.owned_name(owner, name),
    }
}

/// Returns the slots of an owner, each with the condition under which it is occupied.
fn slots(program: &Program, layout: &Layout, owner: Owner) -> Vec<(u32, Vec<(CellId, u32)>)> {
    let is_there = |process: ProcessId, slot| match program.processes[process].instances {
        InstanceCount::One => Vec::new(),
        InstanceCount::Slots { .. } => vec![(layout.locations[process].in_slot(slot), 0)],
    };
    match owner {
        Owner::Program => vec![(0, Vec::new())],
        Owner::Process(process) => {
            (0..program.slots(process)).map(|slot| (slot, is_there(process, slot))).collect()
        }
    }
}

/// Collects the leaves of a variable or of a message.
struct LeafCollector<'p> {
    program: &'p Program,
    layout: &'p Layout,
    /// The number of its next cell.
    next: usize,
    /// The condition under which it is in use.
    if_there: Vec<(CellId, u32)>,
    leaves: &'p mut Vec<ValueLeaf>,
    /// The number of the first leaf that it may belong to.
    from: usize,
}

impl LeafCollector<'_> {
    /// Adds the cells of a type to the leaves.
    fn add(&mut self, ty: TypeId, name: &str) {
        let program = self.program;
        match &program.types[ty] {
            Type::Scalar(ScalarType { domain, .. }) => {
                let cell = CellId::from_index(self.next);
                self.next += 1;
                let held = GuardedCell { cell, if_above: self.if_there.clone() };
                let is_told =
                    matches!(domain, Domain::Bool | Domain::Range { .. } | Domain::Enum(_));
                match self.leaves[self.from..].iter_mut().find(|it| it.name == name) {
                    Some(leaf) => leaf.cells.push(held),
                    None if is_told => self.leaves.push(ValueLeaf {
                        name: name.to_owned(),
                        of: String::new(),
                        domain: domain.clone(),
                        cells: vec![held],
                    }),
                    None => {}
                }
            }
            Type::Array { length, element, .. } => {
                let name = format!("{name}[]");
                (0..*length).for_each(|_| self.add(*element, &name));
            }
            Type::Record { fields, .. } => {
                for (field, ty) in fields {
                    self.add(*ty, &format!("{name}.{field}"));
                }
            }
            Type::Multiset { .. } => self.next += self.layout.sizes[ty] as usize,
        }
    }
}
