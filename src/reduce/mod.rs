//! Searching another space than the model's own: reductions that wrap a model and give one again.
//!
//! A [`Reduction`] says what it is called, what it [preserves](Preserved), and why it does not go
//! with others. A [`Stack`] has those that a search uses, in the order in which they act. What they
//! make of a model is a model; its counterexamples are lifted back, reduction by reduction
//! ([`Lift`](crate::exec::Lift)).

pub mod abstraction;
mod asked;
pub mod boring;
pub mod claim;
pub mod confluence;
pub mod dead;
pub mod dominate;
pub mod doomed;
pub mod linear;
pub mod merge;
mod naming;
pub mod partial_order;
pub mod pass;
mod pool;
mod preserve;
pub mod pruning;
mod replacing;
pub mod reversible;
pub mod rewriting;
pub mod simultaneous;
pub mod slice;
pub mod states;
pub mod structural;
pub mod symmetry;
mod trying;
pub mod values;

pub use preserve::{Kept, Preserved};

use crate::analysis::instances::NotNumbered;
use crate::exec::{Checks, Model, Selective, Tally};
use crate::ir::{Layout, Program, PropertyKind};
use claim::{EndedRuns, NeverClaim};
use linear::Linear;
use partial_order::{PartialOrder, Proviso, Way};
use pruning::Pruning;
use reversible::{Rules, Undoing};
use rewriting::{ProgramForm, Rewritings};
use symmetry::{Effort, Symmetry};

/// A way to search another space than the model's own, ready to be used for one program.
pub trait Reduction<'m> {
    /// As reports call it: `symmetry exact`.
    fn name(&self) -> String;

    /// Where it acts.
    fn kind(&self) -> Kind;

    /// What holds in the space that is left if and only if it holds in the one before.
    fn preserves(&self) -> Preserved;

    /// What it did in a search, in words, if there is more to say than that it was used.
    fn did(&self, tally: &Tally) -> Option<String>;

    /// What keeps steps from being put off for ever, if steps are put off.
    fn proviso(&self) -> Option<&'static str> {
        None
    }

    /// Whether every action that can be taken is taken in what is left, as far as it can be told how often.
    fn takes_all(&self) -> bool {
        false
    }

    /// Whether the elements of a scalarset are all the same to it.
    fn is_symmetric(&self) -> bool {
        true
    }

    /// Whether it compares states, so that none may be replaced behind it by one that stands for it.
    fn orders_states(&self) -> bool {
        false
    }

    /// Whether it stores states as they are, and expands each of them once: none is run through, or taken up again, or has steps
    /// asleep.
    fn stores_all(&self) -> bool {
        true
    }

    /// Why it cannot be used over those that act before it, if it cannot.
    fn refuses(&self, before: &Stack<'m>) -> Option<String>;

    /// The model that is left of one.
    fn over(&self, model: Box<dyn Model + 'm>) -> Box<dyn Model + 'm>;
}

/// Where a reduction acts, from the program to the search: so they are stacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// On the actions that are expanded in a state: it leaves some out.
    Choice,
    /// On the state: it adds an automaton's location to it.
    Product,
    /// On what lies behind a state: it need not be explored.
    Pruning,
    /// On the program, before it is run: its states are alike to those of the program as written. It is told
    /// last of what it changes, behind what adds to states.
    Rewriting,
    /// On successors: they are replaced by what stands for them.
    Representative,
    /// On what a search keeps: of states some do for others.
    Dominance,
}

/// Which reductions are wished for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wished {
    /// Which rules are to be undone, in a search for some checks.
    pub reversible: Option<(Rules, Checks)>,
    /// By which passes the program is to be rewritten.
    pub rewritings: Rewritings,
    /// Whether one variable of each set that only count on from each other is always 0.
    pub linear: bool,
    /// The trouble to take over symmetric states.
    pub symmetry: Option<Effort>,
    /// Whether processes that are alike are exchanged, too.
    pub processes: bool,
    /// How steps are to be chosen, in a search for some checks.
    pub partial_order: Option<(Way, Checks)>,
    /// What need not be explored, or visited, in a search for some checks.
    pub pruning: Pruning,
    /// What is said of runs that end, where the claim is looked at for the whole runs that it accepts.
    pub runs: Option<EndedRuns>,
}

impl Wished {
    /// Adds linear sets to what is wanted, if they are wished for, or why there are none to what is refused.
    fn add_linear<'m>(
        &self,
        (wanted, refused): (&mut Vec<Box<dyn Reduction<'m> + 'm>>, &mut Vec<Refused>),
        (program, layout): (&'m Program, &'m Layout),
    ) {
        match (self.linear, as_written(program, layout)) {
            (false, _) => {}
            (true, Some(why)) => {
                refused.push(Refused { name: linear::NAME.into(), why: why.to_owned() });
            }
            (true, None) => wanted.extend(Linear::of(program, layout).map(boxed)),
        }
    }

    /// What is symmetric in a program whose states are laid out so, as far as it is wished for.
    pub fn symmetry_of<'m>(
        &self,
        program: &'m Program,
        layout: &'m Layout,
    ) -> Option<Symmetry<'m>> {
        let elements = self.symmetry.and_then(|effort| Symmetry::of(program, layout, effort));
        let alike = || self.processes.then(|| Symmetry::of_processes(program, layout)).flatten();
        elements.or_else(alike)
    }
}

/// A reduction as reports tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What it is called.
    pub name: String,
    /// What it keeps.
    pub preserves: Preserved,
    /// What it did.
    pub did: Option<String>,
    /// What keeps steps from being put off for ever, if steps are put off.
    pub proviso: Option<&'static str>,
    /// Whether every action that can be taken is taken all the same.
    pub takes_all: bool,
}

/// A reduction that was asked for, or tried, and is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What it is called.
    pub name: String,
    /// Why it is not used.
    pub why: String,
}

/// The reductions that a search uses, the one that acts first in front.
#[derive(Default)]
pub struct Stack<'m> {
    members: Vec<Box<dyn Reduction<'m> + 'm>>,
    refused: Vec<Refused>,
    left_off: Option<Refused>,
}

impl<'m> Stack<'m> {
    /// Those of some reductions that go together, in the order in which they act.
    pub fn new(mut wanted: Vec<Box<dyn Reduction<'m> + 'm>>) -> Stack<'m> {
        wanted.sort_by_key(|it| it.kind());
        let mut stack = Stack::default();
        for reduction in wanted {
            match reduction.refuses(&stack) {
                None => stack.members.push(reduction),
                Some(why) => stack.refused.push(Refused { name: reduction.name(), why }),
            }
        }
        stack
    }

    /// What a program is searched with: its claim, if it has one, and of what is wished for that which it
    /// has. `selective` takes its steps by choice. It is rewritten if it comes in such a form.
    pub fn of(
        form: ProgramForm<'m>,
        wished: Wished,
        selective: impl FnOnce() -> Result<Box<dyn Selective + 'm>, NotNumbered>,
    ) -> Stack<'m> {
        let mut wanted: Vec<Box<dyn Reduction<'m> + 'm>> = Vec::new();
        let mut refused = Vec::new();
        let interp = form.interp();
        let claim = NeverClaim::looked_at(interp, wished.runs);
        let (program, layout) = (interp.program(), interp.layout());
        let symmetry = wished.symmetry_of(program, layout);
        if let Some((way, checks)) = wished.partial_order {
            // A state that stands for another may be anywhere in the order.
            let proviso = if symmetry.is_some() { Proviso::Levels } else { way.proviso };
            let way = Way { proviso, ..way };
            let apart = keeps_apart(way, claim.as_ref(), symmetry.is_some());
            let found = match as_written(program, layout).map(str::to_owned).or(apart) {
                Some(why) => Err(why),
                None => {
                    selective().map_err(|error| error.reason).and_then(|it| match wished.runs {
                        None => PartialOrder::of(interp, it, way, &checks),
                        Some(_) => PartialOrder::of_runs(interp, it, way),
                    })
                }
            };
            // A claim that counts steps is not what is given up.
            let keeps = |it: &PartialOrder| it.preserves().has(Kept::StutteringClaims);
            let found = match found {
                Ok(it) if claim.is_some() && !keeps(&it) => {
                    Err("beside a never claim no deadlocks are looked for".into())
                }
                found => found,
            };
            refused.extend(found.as_ref().ok().and_then(|it| it.without_confluence(way)));
            match found {
                Ok(found) => wanted.push(Box::new(found)),
                Err(why) => refused.push(Refused { name: way.method.reduction_name(), why }),
            }
        }
        wanted.extend(claim.map(boxed));
        wanted.extend(form.reductions(wished.runs));
        refused.extend(form.refused(wished.rewritings));
        let reversible =
            wished.reversible.as_ref().map(|(rules, checks)| match as_written(program, layout) {
                Some(why) => Err(why.to_owned()),
                None => Undoing::of(interp, rules, (checks, symmetry.is_some())),
            });
        match reversible {
            None => {}
            Some(Ok(found)) => wanted.push(Box::new(found)),
            Some(Err(why)) => {
                refused.push(Refused { name: reversible::REDUCTION_NAME.into(), why });
            }
        }
        wanted.extend(symmetry.map(boxed));
        wished.add_linear((&mut wanted, &mut refused), (program, layout));
        wished.pruning.add_to((&mut wanted, &mut refused), interp);
        let mut stack = Stack::new(wanted);
        stack.refused.append(&mut refused);
        stack
    }

    /// The model that all of them leave of one.
    pub fn over(&self, model: Box<dyn Model + 'm>) -> Box<dyn Model + 'm> {
        self.members.iter().fold(model, |model, reduction| reduction.over(model))
    }

    /// What all of them preserve.
    pub fn preserves(&self) -> Preserved {
        self.members.iter().fold(Preserved::ALL, |all, it| all.and(it.preserves()))
    }

    /// The name of one that compares states.
    pub fn ordering(&self) -> Option<String> {
        self.members.iter().find(|it| it.orders_states()).map(|it| it.name())
    }

    /// Why one cannot be used over those that is about states as the program has them, if it cannot.
    fn beside_states_alone(&self) -> Option<String> {
        let products = self.names(&[Kind::Product]);
        if let Some(it) = products.first() {
            return Some(format!("it has not been shown to go with {it}"));
        }
        let other = self.members.iter().find(|it| !it.stores_all())?;
        Some(format!("it has not been shown to go with {}", other.name()))
    }

    /// The name of one that tells the elements of a scalarset apart.
    pub fn unsymmetric(&self) -> Option<String> {
        self.members.iter().find(|it| !it.is_symmetric()).map(|it| it.name())
    }

    /// The names of those that are of one of these kinds.
    pub fn names(&self, kinds: &[Kind]) -> Vec<String> {
        let members = self.members.iter().filter(|it| kinds.contains(&it.kind()));
        members.map(|it| it.name()).collect()
    }

    /// How fewer states are visited, and what came of it.
    pub fn told(&self, tally: &Tally) -> Vec<Told> {
        let reduces = |kind: Kind| kind != Kind::Product;
        let members = self.members.iter().filter(|it| reduces(it.kind()));
        members
            .map(|it| Told {
                name: it.name(),
                preserves: it.preserves(),
                did: it.did(tally),
                proviso: it.proviso(),
                takes_all: it.takes_all(),
            })
            .collect()
    }

    /// Those that were asked for and are not used.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// The same, with one that nobody asked for and that would not pay.
    pub fn leaving_off(self, left_off: Option<Refused>) -> Stack<'m> {
        Stack { left_off, ..self }
    }

    /// The one that would not pay.
    pub fn left_off(&self) -> Option<&Refused> {
        self.left_off.as_ref()
    }

    /// All that are not used, asked for or not.
    pub fn unused(&self) -> Vec<Refused> {
        self.refused.iter().chain(&self.left_off).cloned().collect()
    }
}

/// Why a program is searched as it is written, if so. What is met inside of a step is seen only by
/// whoever takes it as it is written, and no reduction but symmetry has each step taken. All of them look
/// at the codes of cells, which they take to be small.
pub(crate) fn as_written(program: &Program, layout: &Layout) -> Option<&'static str> {
    let has_covers = program.properties.values().any(|it| it.kind == PropertyKind::Reached);
    if has_covers {
        return Some("the model has `cover` statements, which are met only in steps as written");
    }
    layout.has_wide_cells().then_some("a variable of the model has more than 2^32 values")
}

pub(crate) fn boxed<'m>(reduction: impl Reduction<'m> + 'm) -> Box<dyn Reduction<'m> + 'm> {
    Box::new(reduction)
}

/// Why steps are not chosen so beside a claim and symmetry.
fn keeps_apart(way: Way, claim: Option<&NeverClaim>, is_symmetric: bool) -> Option<String> {
    match claim {
        None if way.method.sleeps() && is_symmetric => {
            let why = "where one state stands for others, steps have no names of their own";
            Some(format!("{why}: ask for `--symmetry off`"))
        }
        Some(claim) if way.method.is_confluent() || way.method.takes_several() => {
            Some(format!("the never claim {} has to see every state", claim.name()))
        }
        Some(claim) if way.method.sleeps() => {
            Some(format!("the never claim {} may see which steps are asleep", claim.name()))
        }
        Some(claim) if way.proviso == Proviso::Levels => {
            let why = format!(
                "beside the never claim {} what is put off has to be taken up at once",
                claim.name()
            );
            let help = if is_symmetric { "--symmetry off" } else { "--por-proviso static" };
            Some(format!("{why}: ask for `{help}`"))
        }
        Some(claim) if way.proviso == Proviso::Chains => {
            let name = claim.name();
            Some(format!(
                "the never claim {name} has to see every state, so none is run through: ask for `--por-proviso static`"
            ))
        }
        _ => None,
    }
}
