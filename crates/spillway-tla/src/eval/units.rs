//! Units: the parts of the next-state action and of conditions whose number does not depend on the state.
//!
//! The next-state action is split at disjunctions, at `\E` over constant sets, and at calls with constant arguments. A
//! condition is split at conjunctions, at `\A` over constant sets, and at such calls. What is not split is a *unit*. Units
//! are numbered in the order of evaluation, the same in every state. The names around a unit are constant, so a unit
//! depends on nothing but the variables that it reads.
//!
//! A walk evaluates some units and passes over the others. It remembers how many units are below each part that is split,
//! and passes over such a part as a whole if no unit below it is wanted.

use super::observation::ObservedAccesses;
use crate::resolve::ids::DefinitionId;
use std::ops::Range;

/// The most units of an action or of conditions. More of them are not worth while.
const UNITS_MAX: u32 = 1 << 12;

/// A condition on a state or on a step.
#[derive(Clone, Copy, Debug)]
pub enum CheckedCondition {
    /// A definition without parameters.
    Predicate(DefinitionId),
    /// `[action]_subscript`: a step that the action allows or that leaves the subscript unchanged.
    Step {
        /// The action.
        action: DefinitionId,
        /// The subscript.
        subscript: DefinitionId,
    },
}

/// A unit that a walk evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedUnit {
    /// Its number.
    pub number: u32,
    /// Whether its evaluation is observed.
    pub is_observed: bool,
}

/// A unit of the next-state action that was evaluated.
#[derive(Debug)]
pub struct SteppedUnit {
    /// Its number.
    pub number: u32,
    /// The indices of its successors.
    pub successors: Range<usize>,
    /// What was observed, if that was wanted.
    pub observed: Option<ObservedAccesses>,
}

/// A unit of conditions that was evaluated.
#[derive(Debug)]
pub struct JudgedUnit {
    /// Its number.
    pub number: u32,
    /// Whether it holds.
    pub holds: bool,
    /// What was observed, if that was wanted.
    pub observed: Option<ObservedAccesses>,
}

/// The units of an action or of conditions, as far as walks know them.
#[derive(Clone, Debug, Default)]
pub struct UnitTable {
    /// The ends of the parts that are split, in the order in which a walk enters them.
    spans: Vec<UnitSpan>,
    /// The number of units. Nothing before the first walk.
    units: Option<u32>,
}

/// The end of a part that is split.
#[derive(Clone, Copy, Debug)]
struct UnitSpan {
    /// The number of the first unit behind it.
    unit: u32,
    /// The index of the first part behind it.
    part: u32,
}

impl UnitTable {
    /// Returns the number of units, once a walk has passed all of them.
    pub fn units(&self) -> Option<u32> {
        self.units
    }
}

/// A walk under way.
#[derive(Debug, Default)]
pub(super) struct UnitWalk {
    /// Whether parts are split. Within a unit they are not.
    pub is_splitting: bool,
    /// What walks know.
    table: UnitTable,
    /// The units that are evaluated, in ascending order. In the first walk, all are.
    wanted: Vec<WantedUnit>,
    /// The index of the next one of these.
    next_wanted: usize,
    unit: u32,
    part: u32,
    /// Whether a constant outside units is none, or there are too many units.
    pub is_broken: bool,
    /// The units of an action that were evaluated.
    pub stepped: Vec<SteppedUnit>,
    /// The units of conditions that were evaluated.
    pub judged: Vec<JudgedUnit>,
}

impl UnitWalk {
    /// Begins a walk that evaluates the units that are wanted.
    pub fn begin(&mut self, table: UnitTable, wanted: &[WantedUnit]) {
        *self = Self { is_splitting: true, table, wanted: wanted.to_vec(), ..Self::default() };
    }

    /// Takes what is known of the units after the walk. `is_whole` says whether it passed all of them.
    pub fn take_table(&mut self, is_whole: bool) -> UnitTable {
        if self.is_first() {
            match is_whole && !self.is_broken {
                true => self.table.units = Some(self.unit),
                false => self.table.spans.clear(),
            }
        }
        std::mem::take(&mut self.table)
    }

    fn is_first(&self) -> bool {
        self.table.units.is_none()
    }

    /// Returns how the next unit is evaluated, if it is, and moves on.
    pub fn next_unit(&mut self) -> Option<WantedUnit> {
        let number = self.unit;
        self.unit += 1;
        self.is_broken |= self.unit > UNITS_MAX;
        if self.is_first() {
            return Some(WantedUnit { number, is_observed: false });
        }
        let wanted = self.wanted.get(self.next_wanted).copied();
        let wanted = wanted.filter(|it| it.number == number);
        self.next_wanted += usize::from(wanted.is_some());
        wanted
    }

    /// Enters a part that is split. Returns its index, or nothing if it is passed over.
    pub fn enter(&mut self) -> Option<u32> {
        let part = self.part;
        if self.is_first() {
            self.table.spans.push(UnitSpan { unit: 0, part: 0 });
        } else {
            let end = self.table.spans[part as usize];
            let is_wanted =
                self.wanted.get(self.next_wanted).is_some_and(|it| it.number < end.unit);
            if !is_wanted {
                (self.unit, self.part) = (end.unit, end.part);
                return None;
            }
        }
        self.part += 1;
        Some(part)
    }

    /// Leaves a part that is split.
    pub fn leave(&mut self, part: u32) {
        if self.is_first() {
            self.table.spans[part as usize] = UnitSpan { unit: self.unit, part: self.part };
        }
    }
}

/// The walk cannot be used: something around units is not constant, or there are too many units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoUnits;
