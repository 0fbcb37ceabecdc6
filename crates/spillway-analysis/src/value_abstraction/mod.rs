//! Equivalent values (Pelánek 2005, section 3.1.2).
//!
//! Copies and messages carry values between holders, so holders with a common flow of values form a *class*. Two
//! values of a class are distinguished if an expression that depends on one place alone has different results for
//! them: a comparison with a constant, a remainder, an index. In an expression with several variables, the analysis
//! takes the largest parts that depend on one place alone. If such a part is the place itself, all values are
//! distinguished. Values are also distinguished if the values that are computed from them for the same class are,
//! such as `x + 1` of both. The partition is refined to a fixed point, as in the minimisation of automata (Moore
//! 1956). The result is a bisimulation.
//!
//! - `evaluation`: the dependences and the evaluation of expressions;
//! - `partition`: refinement.

mod evaluation;
mod partition;

use super::def_use::{HolderId, HolderNumbering, StoreKind, ValueUse, uses};
use super::equivalence_classes::UnionFind;
use evaluation::EvaluationResult;
pub(super) use evaluation::{ExprDependence, evaluate, expr_dependence, is_same};
use partition::ValuePartition;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::interval::{Interval, hull, wrap_into};
use spillway_ir::layout::CellId;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    ChannelId, Domain, EndRule, Expr, ExprKind, Layout, OverflowRule, Place, PlaceRoot, Program,
    ReceivePattern, VarId,
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximal number of values of a class that is analysed.
const VALUES_MAX: i64 = 1024;

/// The work units of one evaluation for a value.
const JUDGING: u64 = 16;

/// The maximal number of comparisons in a lookup of a value.
const RUNS_MAX: usize = 16;

/// The equivalent values of a program's holders.
#[derive(Debug)]
pub struct ValueAbstraction {
    holders: HolderNumbering,
    /// The class of each holder, if it has equivalent values.
    class_of: Vec<Option<usize>>,
    classes: Vec<ValueClass>,
}

/// The values of a class of holders.
#[derive(Debug)]
struct ValueClass {
    /// The least value.
    low: i64,
    /// The representative of each value: the least equivalent value.
    representatives: Vec<i64>,
}

/// The form in which a value is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredForm {
    /// Unchanged.
    Itself,
    /// This constant.
    Constant(i64),
    /// A lookup: up to each of these values, in ascending order, that constant, or the value itself.
    LookedUp(Vec<(i64, Option<i64>)>),
}

impl ValueClass {
    fn representative(&self, value: i64) -> i64 {
        let at = value.checked_sub(self.low).and_then(|it| usize::try_from(it).ok());
        at.and_then(|it| self.representatives.get(it)).copied().unwrap_or(value)
    }

    fn apart(&self) -> usize {
        self.representatives.iter().collect::<BTreeSet<_>>().len()
    }

    /// Returns ranges of values with a common representative, or without a change.
    fn runs(&self) -> Vec<(i64, Option<i64>)> {
        let mut runs: Vec<(i64, Option<i64>)> = Vec::new();
        for (value, &of) in (self.low..).zip(&self.representatives) {
            let to = (of != value).then_some(of);
            match runs.last_mut() {
                Some((up_to, it)) if *it == to => *up_to = value,
                _ => runs.push((value, to)),
            }
        }
        runs
    }
}

impl ValueAbstraction {
    /// Computes the equivalent values of a program with this layout. Returns `None` if all values are distinguished.
    pub fn of(
        program: &Program,
        layout: &Layout,
        budget: &AnalysisBudget,
    ) -> Result<Option<ValueAbstraction>, BudgetExceeded> {
        // If a step to the same state is no transition, every change of a value matters.
        if program.end == EndRule::NeverStuttering {
            return Ok(None);
        }
        let holders = HolderNumbering::new(program);
        let Some(uses) = uses(program, &holders) else { return Ok(None) };
        let joined = HolderClasses::new(program, &holders, &uses);
        let class_of = vec![None; holders.count()];
        let mut apart =
            ValueAbstraction { holders: holders.clone(), class_of, classes: Vec::new() };
        let mut uses_of: BTreeMap<HolderId, Vec<&ValueUse>> = BTreeMap::new();
        for it in &uses {
            let classes = it.holders(&holders).into_iter().map(|it| joined.find(it));
            for class in classes.collect::<BTreeSet<_>>() {
                uses_of.entry(class).or_default().push(it);
            }
        }
        for (class, members) in joined.classes() {
            let ours = uses_of.remove(&class).unwrap_or_default();
            budget.work((members.len() + ours.len()) as u64)?;
            let of_class = ClassUses { first: class, members: &members, uses: &ours };
            let judged = judged_class(program, layout, &joined, of_class, budget)?;
            let Some(found) = judged else { continue };
            let number = Some(apart.classes.len());
            members.iter().for_each(|&it| apart.class_of[it] = number);
            apart.classes.push(found);
            if !apart.can_be_stored(program, &ours, &members) {
                apart.classes.pop();
                members.iter().for_each(|&it| apart.class_of[it] = None);
            }
        }
        Ok((!apart.classes.is_empty()).then_some(apart))
    }

    /// Returns the variables with equivalent values, each with the number of values and the number of classes of
    /// values.
    pub fn variables(&self) -> impl Iterator<Item = (VarId, usize, usize)> {
        self.class_of.iter().enumerate().filter_map(|(holder, class)| {
            let class = &self.classes[(*class)?];
            let id = self.holders.as_variable(holder)?;
            Some((id, class.representatives.len(), class.apart()))
        })
    }

    /// Returns the representative of a value of a variable.
    pub fn of_variable(&self, id: VarId, value: i64) -> i64 {
        let class = self.class_of[self.holders.variable(id)];
        class.map_or(value, |it| self.classes[it].representative(value))
    }

    /// Returns the cells of a state with values of classes, in all slots, with the numbers of the classes.
    pub fn cells(&self, program: &Program, layout: &Layout) -> Vec<(CellId, usize)> {
        let mut cells = Vec::new();
        for (holder, class) in self.class_of.iter().enumerate() {
            if let Some(class) = *class {
                let all = self.holders.cells(program, layout, holder);
                cells.extend(all.into_iter().map(|(it, _)| (it, class)));
            }
        }
        cells
    }

    /// Returns the representative of a value of a class.
    pub fn representative(&self, class: usize, value: i64) -> i64 {
        self.classes[class].representative(value)
    }

    /// Returns the form of a value that is assigned to a variable.
    pub fn assigned_form(
        &self,
        program: &Program,
        target: &Place,
        value: &Expr,
        overflow: OverflowRule,
    ) -> StoredForm {
        let to = self.holders.of_place(program, target);
        to.map_or(StoredForm::Itself, |to| self.stored_form(program, to, value, overflow))
    }

    /// Returns the form of an argument of a process that starts.
    pub fn argument_form(&self, program: &Program, parameter: VarId, value: &Expr) -> StoredForm {
        self.stored_form(program, self.holders.variable(parameter), value, OverflowRule::Wraps)
    }

    /// Returns the form of a value that is sent in the field with this number.
    pub fn sent_form(
        &self,
        program: &Program,
        channel: ChannelId,
        number: usize,
        value: &Expr,
    ) -> StoredForm {
        match number < program.channels[channel].fields.len() {
            // The send may fail on other possible channels.
            true => {
                let to = self.holders.field(channel, number);
                self.stored_form(program, to, value, OverflowRule::Fails)
            }
            false => StoredForm::Itself,
        }
    }

    fn stored_form(
        &self,
        program: &Program,
        to: HolderId,
        value: &Expr,
        overflow: OverflowRule,
    ) -> StoredForm {
        let (Some(number), Some(scalar)) = (self.class_of[to], self.holders.scalar(program, to))
        else {
            return StoredForm::Itself;
        };
        let class = &self.classes[number];
        let domain = program.bounds(&scalar.domain);
        match (&value.kind, expr_dependence(program, &self.holders, value)) {
            (ExprKind::Constant(value), _) => match stored_value(*value, domain, overflow) {
                Some(kept) if class.representative(kept) != kept => {
                    StoredForm::Constant(class.representative(kept))
                }
                _ => StoredForm::Itself,
            },
            (ExprKind::Undefined, _) => StoredForm::Itself,
            (_, ExprDependence::On(_, from)) if self.class_of[from] == Some(number) => {
                let mut all = class.representatives.iter();
                let is_kept = all.all(|&it| match evaluate(program, value, Some(it)) {
                    Ok(Some(value)) => stored_value(value, domain, overflow)
                        .is_none_or(|it| class.representative(it) == it),
                    _ => true,
                });
                if is_kept { StoredForm::Itself } else { StoredForm::LookedUp(class.runs()) }
            }
            _ => StoredForm::LookedUp(class.runs()),
        }
    }

    /// Returns whether every value of a class can be stored as its representative.
    fn can_be_stored(&self, program: &Program, uses: &[&ValueUse], members: &[HolderId]) -> bool {
        uses.iter().all(|it| {
            let ValueUse::Stored { to, value, overflow, by, target } = it else { return true };
            if !members.contains(to) {
                return true;
            }
            match (self.stored_form(program, *to, value, *overflow), by, target) {
                (StoredForm::Itself | StoredForm::Constant(_), ..) => true,
                (StoredForm::LookedUp(runs), StoreKind::Assigned, Some(target)) => {
                    let scalar = self.holders.scalar(program, *to);
                    runs.len() <= RUNS_MAX
                        && scalar.is_some_and(|it| !it.undefined)
                        && !finds_itself(target)
                }
                _ => false,
            }
        })
    }
}

/// Returns whether the position of a place depends on its variable.
fn finds_itself(place: &Place) -> bool {
    struct SelfReferenceFinder(PlaceRoot, bool);
    impl CodeVisitor for SelfReferenceFinder {
        fn place(&mut self, place: &Place, _: PlaceAccess) {
            self.1 |= place.root == self.0;
            walk::place(self, place);
        }
    }
    let mut finds = SelfReferenceFinder(place.root, false);
    walk::place(&mut finds, place);
    finds.1
}

/// Returns the stored value, if the store does not fail.
pub(super) fn stored_value(value: i64, domain: Interval, overflow: OverflowRule) -> Option<i64> {
    let fits = domain.0 <= value && value <= domain.1;
    (fits || overflow == OverflowRule::Wraps).then(|| wrap_into(value, domain))
}

/// A partition of the holders by the flow of values.
struct HolderClasses<'p> {
    program: &'p Program,
    holders: &'p HolderNumbering,
    classes: UnionFind,
    /// For the first holder of each class, whether all values are distinguished.
    all_apart: Vec<bool>,
}

impl<'p> HolderClasses<'p> {
    fn new(
        program: &'p Program,
        holders: &'p HolderNumbering,
        uses: &[ValueUse],
    ) -> HolderClasses<'p> {
        let all_apart =
            (0..holders.count()).map(|it| holders.scalar(program, it).is_none()).collect();
        let mut joined = HolderClasses {
            program,
            holders,
            classes: UnionFind::singletons(holders.count()),
            all_apart,
        };
        for it in uses {
            match it {
                ValueUse::Opaque(it) => joined.tell_all_apart(*it),
                ValueUse::Received { from, to } | ValueUse::SentToEither(from, to) => {
                    if !joined.join(*from, *to) {
                        joined.tell_all_apart(*from);
                        joined.tell_all_apart(*to);
                    }
                }
                ValueUse::Stored { to, value, by, .. } => {
                    let from = joined.copied(value);
                    let is_joined = from.is_some_and(|from| joined.join(from, *to));
                    let is_constant = value.as_constant().is_some();
                    if !is_joined && !is_constant && *by != StoreKind::Assigned {
                        joined.tell_all_apart(*to);
                    }
                }
                ValueUse::Evaluated(_) | ValueUse::Matched { .. } | ValueUse::Cleared(_) => {}
            }
        }
        joined
    }

    /// Returns the holder whose value an expression copies.
    fn copied(&self, value: &Expr) -> Option<HolderId> {
        let ExprKind::Read(place) = &value.kind else { return None };
        self.holders.of_place(self.program, place)
    }

    fn find(&self, holder: HolderId) -> HolderId {
        self.classes.find(holder)
    }

    fn tell_all_apart(&mut self, holder: HolderId) {
        let class = self.find(holder);
        self.all_apart[class] = true;
    }

    /// Joins two holders, if they can hold the same values. Returns whether they can.
    fn join(&mut self, one: HolderId, other: HolderId) -> bool {
        let scalars = [one, other].map(|it| self.holders.scalar(self.program, it));
        let [Some(first), Some(second)] = scalars else { return false };
        let bounds = |domain: &Domain| self.program.bounds(domain);
        let is_alike =
            bounds(&first.domain) == bounds(&second.domain) && first.undefined == second.undefined;
        if is_alike {
            let (one, other) = self.classes.union(one, other);
            self.all_apart[one] |= self.all_apart[other];
        }
        is_alike
    }

    /// Returns the classes that may have equivalent values: the first holder of each, and all holders.
    fn classes(&self) -> impl Iterator<Item = (HolderId, Vec<HolderId>)> {
        self.classes.sets().into_iter().filter(|it| !self.all_apart[it.0])
    }
}

/// A class of holders, with the uses of its values.
struct ClassUses<'c> {
    first: HolderId,
    members: &'c [HolderId],
    uses: &'c [&'c ValueUse],
}

/// Computes the values of a class, unless all are distinguished.
fn judged_class(
    program: &Program,
    layout: &Layout,
    joined: &HolderClasses,
    of_class: ClassUses<'_>,
    budget: &AnalysisBudget,
) -> Result<Option<ValueClass>, BudgetExceeded> {
    let ClassUses { first: class, members, uses } = of_class;
    let holders = joined.holders;
    let Some(scalar) = holders.scalar(program, class) else { return Ok(None) };
    // An undefined field is received as another value.
    if scalar.undefined && members.iter().any(|&it| holders.as_variable(it).is_none()) {
        return Ok(None);
    }
    let cells = members.iter().flat_map(|&it| holders.cells(program, layout, it));
    let ranges: BTreeSet<(i64, i64)> =
        cells.map(|(it, _)| (layout.cells[it].least, layout.cells[it].most)).collect();
    let Some((low, high)) = ranges.iter().copied().reduce(hull) else { return Ok(None) };
    let values = high.checked_sub(low).filter(|it| *it < VALUES_MAX);
    let Some(values) = values else { return Ok(None) };
    let mut partition = ValuePartition::new(low, high);
    // A representative must be in the range of each cell that holds the value.
    for (least, most) in ranges {
        partition.distinguish(|it| Ok(Some((least <= it && it <= most).into())));
    }
    let domain = program.bounds(&scalar.domain);
    let mut watch = DistinctionFinder { program, joined, class, partition, is_all_apart: false };
    for it in uses {
        budget.work(JUDGING * (values + 1) as u64)?;
        match it {
            ValueUse::Evaluated(expr) => watch.expr(expr),
            ValueUse::Matched { field, value } => watch.matched(*field, value),
            ValueUse::Stored { to, value, overflow, .. } => {
                watch.stored(*to, value, (domain, *overflow));
            }
            ValueUse::Received { .. }
            | ValueUse::SentToEither(..)
            | ValueUse::Cleared(_)
            | ValueUse::Opaque(_) => {}
        }
        if watch.is_all_apart {
            return Ok(None);
        }
    }
    let representatives = watch.partition.refined(budget)?;
    Ok(representatives.map(|representatives| ValueClass { low, representatives }))
}

/// A visitor that finds the distinctions between values of a class.
struct DistinctionFinder<'w> {
    program: &'w Program,
    joined: &'w HolderClasses<'w>,
    class: HolderId,
    partition: ValuePartition,
    is_all_apart: bool,
}

impl DistinctionFinder<'_> {
    fn is_ours(&self, holder: HolderId) -> bool {
        self.joined.find(holder) == self.class
    }

    fn matched(&mut self, field: HolderId, value: &Expr) {
        if self.is_ours(field) {
            match value.as_constant() {
                Some(value) => self.partition.distinguish(|it| Ok(Some((it == value).into()))),
                None => self.is_all_apart = true,
            }
        }
        self.expr(value);
    }

    fn stored(
        &mut self,
        to: HolderId,
        value: &Expr,
        (domain, overflow): ((i64, i64), OverflowRule),
    ) {
        let ExprDependence::On(place, from) =
            expr_dependence(self.program, self.joined.holders, value)
        else {
            return self.expr(value);
        };
        if !self.is_ours(from) || !self.is_ours(to) {
            return self.expr(value);
        }
        walk::place(self, place);
        if matches!(value.kind, ExprKind::Read(_)) {
            return;
        }
        let program = self.program;
        self.partition.split_by_target(|it| {
            let value = evaluate(program, value, Some(it))?;
            Ok(value.map(|value| stored_value(value, domain, overflow).ok_or(value)))
        });
    }
}

impl CodeVisitor for DistinctionFinder<'_> {
    fn expr(&mut self, expr: &Expr) {
        match expr_dependence(self.program, self.joined.holders, expr) {
            ExprDependence::Nothing => {}
            ExprDependence::On(place, holder) => {
                walk::place(self, place);
                if !self.is_ours(holder) {
                    return;
                }
                match expr.kind {
                    ExprKind::Read(_) => self.is_all_apart = true,
                    _ => {
                        let program = self.program;
                        self.partition.distinguish(|it| -> EvaluationResult {
                            evaluate(program, expr, Some(it))
                        });
                    }
                }
            }
            ExprDependence::OnMore => {
                if let ExprKind::CanReceive(channel, patterns, _) = &expr.kind {
                    for id in channel.possible_channels(self.program) {
                        let fields = self.program.channels[id].fields.len();
                        for (number, pattern) in patterns.iter().enumerate().take(fields) {
                            if let ReceivePattern::Match(value) = pattern {
                                self.matched(self.joined.holders.field(id, number), value);
                            }
                        }
                    }
                }
                walk::expr(self, expr);
            }
        }
    }
}
