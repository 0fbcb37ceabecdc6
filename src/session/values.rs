//! Which values the variables of a model have in the states that a search has come to.

use super::{Error, TextModel};
use crate::budget::AnalysisBudget;
use crate::front::nearest;
use crate::ir::layout::{CellId, Layout};
use crate::ir::{Domain, Entity, Instances, Owner, Program, Scalar, Type, TypeId};
use crate::search::Storage;
use crate::search::checkpoint::Saved;
use crate::search::revisit::revisit;
use crate::search::trace::Finder;
use std::path::Path;

/// Of domains with no more values than this it is told which of them are met.
const NAMED_MAX: u32 = 64;

/// The values of a variable, or of a part of it: all elements of an array together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// Its name, with `[]` for an index: `cache[].state`.
    pub name: String,
    /// The least and the greatest; nothing where it never has one.
    pub range: Option<(i64, i64)>,
    /// Of an enumeration or a truth value, the names of those it has.
    pub names: Option<Vec<String>>,
    /// Whether it is undefined somewhere.
    pub undefined: bool,
}

/// The values in all states that were visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValuesMet {
    /// By variable, as the model declares them.
    pub all: Vec<Values>,
    /// The least and the greatest sum of all numbers of a state.
    pub sums: Option<(i64, i64)>,
    /// The least and the greatest sum of all numbers of the variables that were asked for.
    pub asked: Vec<Option<(i64, i64)>>,
    /// How many states were looked at.
    pub states: u64,
}

/// Numbers or names that belong together, and where they are in a state.
struct Leaf {
    name: String,
    /// The variable's name.
    of: String,
    domain: Domain,
    cells: Vec<CellId>,
}

/// The least and the greatest of some numbers.
#[derive(Clone, Copy)]
struct Range(i64, i64);

impl Range {
    const NOTHING: Range = Range(i64::MAX, i64::MIN);

    fn note(&mut self, number: i64) {
        *self = self.and(Range(number, number));
    }

    fn and(self, other: Range) -> Range {
        Range(self.0.min(other.0), self.1.max(other.1))
    }

    /// Both; nothing if there are no numbers.
    fn told(self) -> Option<(i64, i64)> {
        (self.0 <= self.1).then_some((self.0, self.1))
    }
}

/// What is known of a leaf.
#[derive(Clone, Copy)]
struct Met {
    range: Range,
    /// A bit for each value, where these are names.
    names: u64,
    undefined: bool,
}

impl Met {
    const NOTHING: Met = Met { range: Range::NOTHING, names: 0, undefined: false };

    fn and(self, other: Met) -> Met {
        Met {
            range: self.range.and(other.range),
            names: self.names | other.names,
            undefined: self.undefined | other.undefined,
        }
    }
}

/// The values in the states of the search in `dir`; nothing if told to stop. The search has to keep whole states.
pub fn values_met(
    finder: &Finder<'_>,
    model: &TextModel,
    (dir, saved): (&Path, &Saved),
    asked: &[Vec<String>],
) -> Result<Option<ValuesMet>, Error> {
    let form = model.form(model.wished.rewritings, &AnalysisBudget::largest());
    let (program, layout) = (form.interp().program(), form.interp().layout());
    let leaves = leaves(program, layout);
    let groups = asked.iter().map(|names| group(&leaves, names)).collect::<Result<Vec<_>, _>>()?;
    let open = Error::open(dir);
    let codec = match saved.storage().map_err(&open)? {
        Storage::Sorted(codec) => codec,
        Storage::Comback(_) => return Err(Error::NoStates("it stores hashes and back-edges")),
    };
    if finder.model.width() != layout.bytes {
        return Err(Error::NoStates("it stores states of a product with a claim"));
    }
    let new = || Room {
        met: vec![Met::NOTHING; leaves.len()],
        each: vec![0; leaves.len()],
        sums: Range::NOTHING,
        asked: vec![Range::NOTHING; groups.len()],
        states: 0,
    };
    let found = revisit(finder, (&saved.store.levels, &codec), new, |room, state| {
        for ((leaf, met), sum) in leaves.iter().zip(&mut room.met).zip(&mut room.each) {
            *sum = look(layout, leaf, met, state);
        }
        room.sums.note(room.each.iter().sum());
        for (group, range) in groups.iter().zip(&mut room.asked) {
            range.note(group.iter().map(|&leaf| room.each[leaf]).sum());
        }
        room.states += 1;
    });
    let Some(found) = found.map_err(&open)? else { return Ok(None) };
    let all = leaves.iter().enumerate().map(|(number, leaf)| {
        let met = found.iter().map(|it| it.met[number]).fold(Met::NOTHING, Met::and);
        leaf.values(program, met)
    });
    let states = found.iter().map(|it| it.states).sum();
    let all_of =
        |of: &dyn Fn(&Room) -> Range| found.iter().map(of).fold(Range::NOTHING, Range::and).told();
    let sums = all_of(&|it| it.sums);
    let asked = (0..groups.len()).map(|number| all_of(&|it| it.asked[number]));
    Ok(Some(ValuesMet { all: all.collect(), sums, asked: asked.collect(), states }))
}

/// What a thread has found.
struct Room {
    met: Vec<Met>,
    /// The sum of each leaf in the state that is looked at.
    each: Vec<i64>,
    sums: Range,
    asked: Vec<Range>,
    states: u64,
}

/// The leaves of variables of these names.
fn group(leaves: &[Leaf], names: &[String]) -> Result<Vec<usize>, Error> {
    let known: Vec<&str> = leaves.iter().map(|it| it.of.as_str()).collect();
    if let Some(name) = names.iter().find(|it| !known.contains(&it.as_str())) {
        let help = nearest::help(name, &known, "variables");
        let error = format!("the model has no variable {name} with numbers\n  help: {help}");
        return Err(Error::Unreadable(error));
    }
    let of = |name: &String| {
        let leaves = leaves.iter().enumerate().filter(move |(_, it)| it.of == *name);
        leaves.map(|(at, _)| at).collect::<Vec<_>>()
    };
    Ok(names.iter().flat_map(of).collect())
}

/// Notes the values of a leaf in a state, and gives their sum.
fn look(layout: &Layout, leaf: &Leaf, met: &mut Met, state: &[u8]) -> i64 {
    let mut sum = 0;
    for cell in &leaf.cells {
        match layout.get(state, *cell) {
            None => met.undefined = true,
            Some(value) => {
                met.range.note(value);
                // Of names, which begin with 0; of others it does not matter.
                met.names |= 1u64.checked_shl(value as u32).unwrap_or(0);
                sum += value;
            }
        }
    }
    sum
}

impl Leaf {
    fn values(&self, program: &Program, met: Met) -> Values {
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
        Values { name: self.name.clone(), range: met.range.told(), names, undefined: met.undefined }
    }
}

/// What there is to be looked at: variables of the program and of processes that are always there, but for multisets, values
/// that may be exchanged, and numbers of channels and processes.
fn leaves(program: &Program, layout: &Layout) -> Vec<Leaf> {
    let mut leaves: Vec<Leaf> = Vec::new();
    for (id, variable) in program.variables.iter() {
        let is_there = match variable.owner {
            Owner::Program => true,
            Owner::Process(process) => program.processes[process].instances == Instances::One,
        };
        if is_there {
            let name = program.owned_name(variable.owner, &variable.name);
            let mut next = layout.variables[id].in_slot(0).index();
            let from = leaves.len();
            part(program, layout, (variable.ty, &name), &mut next, &mut leaves, from);
            leaves[from..].iter_mut().for_each(|it| it.of.clone_from(&name));
        }
    }
    leaves
}

/// Adds the parts of something to the leaves of its variable, which begin with that of number `from`.
fn part(
    program: &Program,
    layout: &Layout,
    (ty, name): (TypeId, &str),
    next: &mut usize,
    leaves: &mut Vec<Leaf>,
    from: usize,
) {
    match &program.types[ty] {
        Type::Scalar(Scalar { domain, .. }) => {
            let cell = CellId::from_index(*next);
            *next += 1;
            let is_told = matches!(domain, Domain::Bool | Domain::Range { .. } | Domain::Enum(_));
            match leaves[from..].iter_mut().find(|it| it.name == name) {
                Some(leaf) => leaf.cells.push(cell),
                None if is_told => {
                    leaves.push(Leaf {
                        name: name.to_owned(),
                        of: String::new(),
                        domain: domain.clone(),
                        cells: vec![cell],
                    });
                }
                None => {}
            }
        }
        Type::Array { length, element, .. } => {
            let name = format!("{name}[]");
            for _ in 0..*length {
                part(program, layout, (*element, &name), next, leaves, from);
            }
        }
        Type::Record { fields, .. } => {
            for (field, ty) in fields {
                part(program, layout, (*ty, &format!("{name}.{field}")), next, leaves, from);
            }
        }
        Type::Multiset { .. } => *next += layout.sizes[ty] as usize,
    }
}
