//! The order in which the parameters of an action are bound, and the parts of its guard that are evaluated before all
//! of them are.
//!
//! An action exists once for each combination of the values of its parameters, and most combinations are disabled in
//! most states. A plan avoids listing all combinations. A conjunct of the guard is evaluated as soon as the
//! parameters that it mentions are bound. Parameters are bound by *sources* where there are some. A source is a
//! conjunct that holds only if an element of an array is not 0, such as a required token. Its nonzero elements
//! determine the values to try. The next source is the one with the fewest nonzero elements in the initial values.
//!
//! All enumerations of combinations follow the same plan, so the order of transitions is the same.

mod totality;

use spillway_ir::walk::{self, CodeVisitor};
use spillway_ir::{
    Action, BinaryOp, ConversionPiece, Expr, ExprKind, LocalId, NumberConversion, Parameter, Place,
    PlaceRoot, PlaceSelector, Program, ScalarType, Type, TypeId,
};
use std::collections::BTreeSet;
pub use totality::TotalityChecker;

/// The maximal number of combinations that are listed without a plan.
const COMBINATIONS_MAX: u64 = 32;

/// A plan for the parameters of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindingPlan {
    /// The steps, in order. Each step is executed for every result of the steps before it.
    pub steps: Vec<BindingStep>,
    /// The conjuncts of the guard that are evaluated after all parameters are bound, in order.
    pub rest: Vec<usize>,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindingStep {
    /// Binds the parameter with this number to each of its values, in ascending order.
    Each(usize),
    /// Binds parameters to the indices of each nonzero element of an array, in ascending order of positions.
    Scan(NonzeroScan),
    /// Evaluates the conjunct of the guard with this number, which must hold.
    Test(usize),
}

/// A scan for the nonzero elements of an array, whose indices bind parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonzeroScan {
    /// The conjunct of the guard that requires such an element.
    pub conjunct: usize,
    /// The bindings of the last indices of the place, in the order of the indices.
    pub binds: Vec<IndexBinding>,
}

/// A parameter that an index binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexBinding {
    /// The number of the parameter.
    pub parameter: usize,
    /// The least index.
    pub low: i64,
    /// The number of indices.
    pub length: u32,
    /// The conversion from the index to the value. `None` if they are equal.
    pub pieces: Option<Vec<ConversionPiece>>,
}

/// Returns the conjuncts of a condition, in order.
pub fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    let (mut found, mut open) = (Vec::new(), vec![condition]);
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => open.extend([&**right, &**left]),
            _ => found.push(expr),
        }
    }
    found
}

impl IndexBinding {
    /// Returns the value of the parameter for an index, if there is one.
    pub fn value(&self, index: i64) -> Option<i64> {
        match &self.pieces {
            None => Some(index),
            Some(pieces) => {
                let piece = pieces.iter().find(|it| (it.low..=it.high).contains(&index))?;
                Some(index + piece.by)
            }
        }
    }
}

impl BindingPlan {
    /// Returns the plan of an action, or `None` if its combinations are listed without a plan.
    pub fn of(program: &Program, action: &Action) -> Option<BindingPlan> {
        let guard = action.guard.as_ref().filter(|_| action.communication.is_none())?;
        BindingPlan::of_conjuncts(program, &action.parameters, &conjuncts(guard))
    }

    /// Returns the plan for parameters and the conjuncts that must hold for them.
    pub fn of_conjuncts(
        program: &Program,
        parameters: &[Parameter],
        conjuncts: &[&Expr],
    ) -> Option<BindingPlan> {
        let sizes: Vec<u64> = parameters.iter().map(|it| size(program, it.over)).collect();
        let combinations = sizes.iter().fold(1, |all: u64, it| all.saturating_mul(*it));
        if combinations <= COMBINATIONS_MAX {
            return None;
        }
        let mut total = TotalityChecker::new(program);
        parameters.iter().for_each(|it| total.bind(it.local, it.over));
        // An earlier evaluation of a conjunct must not hide the failure of a conjunct before it.
        let certain = conjuncts.iter().take_while(|it| total.is_total(it)).count();
        if certain == 0 {
            return None;
        }
        let known =
            conjuncts[..certain].iter().map(|it| ConjunctFacts::of(program, parameters, it));
        let planner = BindingPlanner {
            sizes,
            known: known.collect(),
            bound: BTreeSet::new(),
            judged: vec![false; certain],
            steps: Vec::new(),
        };
        Some(planner.plan(conjuncts.len()))
    }
}

/// Returns the number of values of a scalar type.
fn size(program: &Program, ty: TypeId) -> u64 {
    match &program.types[ty] {
        Type::Scalar(ScalarType { domain, .. }) => {
            let (low, high) = program.bounds(domain);
            high.saturating_sub(low).saturating_add(1).max(0) as u64
        }
        _ => u64::MAX,
    }
}

/// The facts about a conjunct that cannot fail.
struct ConjunctFacts {
    /// The parameters that the conjunct mentions.
    mentions: BTreeSet<usize>,
    /// The array element that is not 0 if the conjunct holds.
    source: Option<BindingSource>,
    /// Whether the conjunct holds for each nonzero value of the element.
    is_source: bool,
}

/// An element of an array that must not be 0.
struct BindingSource {
    indices: Vec<SourceIndex>,
    /// The number of nonzero initial elements of the array.
    tokens: u64,
}

/// An index of an element.
struct SourceIndex {
    length: u64,
    mentions: BTreeSet<usize>,
    /// The binding, if the index is a parameter or a converted parameter.
    binds: Option<IndexBinding>,
}

impl ConjunctFacts {
    fn of(program: &Program, parameters: &[Parameter], conjunct: &Expr) -> ConjunctFacts {
        let place = nonzero_place(conjunct);
        let source = place.and_then(|(it, _)| BindingSource::of(program, parameters, it));
        let is_source = source.is_some() && place.is_some_and(|it| it.1);
        ConjunctFacts { mentions: mentioned(parameters, conjunct), source, is_source }
    }
}

/// Returns the parameters that an expression mentions.
fn mentioned(parameters: &[Parameter], expr: &Expr) -> BTreeSet<usize> {
    struct ParameterMentions(BTreeSet<LocalId>);
    impl CodeVisitor for ParameterMentions {
        fn expr(&mut self, expr: &Expr) {
            if let ExprKind::Local(local) = expr.kind {
                self.0.insert(local);
            }
            walk::expr(self, expr);
        }
    }
    let mut locals = ParameterMentions(BTreeSet::new());
    locals.expr(expr);
    let all = parameters.iter().enumerate();
    all.filter(|(_, it)| locals.0.contains(&it.local)).map(|(number, _)| number).collect()
}

/// Returns the place that is not 0 if a condition holds, and whether the condition requires nothing else.
pub fn nonzero_place(condition: &Expr) -> Option<(&Place, bool)> {
    let ExprKind::Binary(operator, left, right) = &condition.kind else {
        return match &condition.kind {
            ExprKind::Read(place) => Some((place, true)),
            _ => None,
        };
    };
    let (operator, place, other) = match (operator, &left.kind, &right.kind) {
        (operator, ExprKind::Read(place), _) => (*operator, place, right),
        (BinaryOp::LessEqual, _, ExprKind::Read(place)) => (BinaryOp::GreaterEqual, place, left),
        (BinaryOp::Less, _, ExprKind::Read(place)) => (BinaryOp::Greater, place, left),
        (BinaryOp::Equal | BinaryOp::NotEqual, _, ExprKind::Read(place)) => {
            (*operator, place, left)
        }
        _ => return None,
    };
    let least = least(other);
    match operator {
        BinaryOp::GreaterEqual if least >= 1 => Some((place, other.as_constant() == Some(1))),
        BinaryOp::Greater if least >= 0 => Some((place, other.as_constant() == Some(0))),
        BinaryOp::Equal if least >= 1 => Some((place, false)),
        BinaryOp::NotEqual if other.as_constant() == Some(0) => Some((place, true)),
        _ => None,
    }
}

/// Returns a lower bound of an expression, from its constants.
fn least(expr: &Expr) -> i64 {
    match &expr.kind {
        ExprKind::Constant(value) => *value,
        ExprKind::Binary(BinaryOp::Add, left, right) => least(left).saturating_add(least(right)),
        ExprKind::Conditional(_, then, otherwise) => least(then).min(least(otherwise)),
        _ => i64::MIN,
    }
}

impl BindingSource {
    /// Returns the source of a place, which must be an element of an array in a variable of the program, with values
    /// from 0 on.
    fn of(program: &Program, parameters: &[Parameter], place: &Place) -> Option<BindingSource> {
        let PlaceRoot::Variable(id) = place.root else { return None };
        let variable = &program.variables[id];
        let (mut ty, mut indices) = (variable.ty, Vec::new());
        for selector in &place.path {
            let (&Type::Array { low, length, element, .. }, PlaceSelector::Index(index)) =
                (&program.types[ty], selector)
            else {
                return None;
            };
            let mentions = mentioned(parameters, index);
            let binds = bind(parameters, index, low, length);
            indices.push(SourceIndex { length: u64::from(length), mentions, binds });
            ty = element;
        }
        let is_counter = matches!(&program.types[ty], Type::Scalar(scalar)
            if !scalar.undefined && program.bounds(&scalar.domain).0 == 0);
        if indices.is_empty() || !is_counter || place.slot.is_some() {
            return None;
        }
        let tokens = variable.initial.iter().filter(|it| it.unwrap_or(0) != 0).count() as u64;
        Some(BindingSource { indices, tokens })
    }
}

/// Returns the binding of an index, if it is a parameter or an invertible conversion of one.
fn bind(parameters: &[Parameter], index: &Expr, low: i64, length: u32) -> Option<IndexBinding> {
    let number = |expr: &Expr| match expr.kind {
        ExprKind::Local(local) => parameters.iter().position(|it| it.local == local),
        _ => None,
    };
    match &index.kind {
        ExprKind::Convert(convert) => {
            let NumberConversion { operand, pieces } = &**convert;
            let undone = pieces.iter().map(|it| ConversionPiece {
                low: it.low + it.by,
                high: it.high + it.by,
                by: -it.by,
            });
            let mut undone: Vec<ConversionPiece> = undone.collect();
            undone.sort_unstable_by_key(|it| it.low);
            let is_one_to_one = undone.windows(2).all(|it| it[0].high < it[1].low);
            let parameter = number(operand).filter(|_| is_one_to_one)?;
            Some(IndexBinding { parameter, low, length, pieces: Some(undone) })
        }
        _ => Some(IndexBinding { parameter: number(index)?, low, length, pieces: None }),
    }
}

struct BindingPlanner {
    sizes: Vec<u64>,
    known: Vec<ConjunctFacts>,
    bound: BTreeSet<usize>,
    judged: Vec<bool>,
    steps: Vec<BindingStep>,
}

/// A source and the preparations for its use.
struct SourceChoice {
    conjunct: usize,
    /// The parameters that are bound to each of their values before.
    each: Vec<usize>,
    binds: Vec<IndexBinding>,
    /// The approximate cost.
    cost: f64,
}

impl BindingPlanner {
    fn plan(mut self, conjuncts: usize) -> BindingPlan {
        self.judge();
        while self.bound.len() < self.sizes.len() {
            let open = (0..self.known.len()).filter(|it| !self.judged[*it]);
            let choices = open.filter_map(|it| self.choice(it));
            match choices.min_by(|one, other| one.cost.total_cmp(&other.cost)) {
                Some(choice) => self.take(choice),
                None => self.bind_next(),
            }
            self.judge();
        }
        let certain = self.judged.len();
        let rest = (0..conjuncts).filter(|it| *it >= certain || !self.judged[*it]).collect();
        BindingPlan { steps: self.steps, rest }
    }

    /// Adds tests of the conjuncts that can be evaluated now.
    fn judge(&mut self) {
        for (number, known) in self.known.iter().enumerate() {
            if !self.judged[number] && known.mentions.is_subset(&self.bound) {
                self.judged[number] = true;
                self.steps.push(BindingStep::Test(number));
            }
        }
    }

    fn is_open(&self, parameter: usize) -> bool {
        !self.bound.contains(&parameter)
    }

    /// Returns how a conjunct would bind parameters.
    fn choice(&self, conjunct: usize) -> Option<SourceChoice> {
        let source = self.known[conjunct].source.as_ref()?;
        let is_open = |it: &SourceIndex| it.mentions.iter().any(|it| self.is_open(*it));
        if !source.indices.iter().any(is_open) {
            return None;
        }
        // The scan covers neighbouring elements: those of the last indices.
        let mut binds: Vec<IndexBinding> = Vec::new();
        for (at, index) in source.indices.iter().enumerate().rev() {
            let others = source.indices.iter().enumerate().filter(|(other, _)| *other != at);
            let is_alone = |bind: &&IndexBinding| {
                let mut others = others.clone().map(|(_, it)| &it.mentions);
                self.is_open(bind.parameter) && !others.any(|it| it.contains(&bind.parameter))
            };
            let Some(bind) = index.binds.as_ref().filter(is_alone) else { break };
            binds.insert(0, bind.clone());
        }
        let is_scanned = |parameter: usize| binds.iter().any(|it| it.parameter == parameter);
        let mentioned = source.indices.iter().flat_map(|it| &it.mentions).copied();
        let each: BTreeSet<usize> =
            mentioned.filter(|it| self.is_open(*it) && !is_scanned(*it)).collect();
        let product = |all: &mut dyn Iterator<Item = u64>| all.fold(1, u64::saturating_mul) as f64;
        let scanned = product(&mut binds.iter().map(|it| self.sizes[it.parameter]));
        let loops = product(&mut each.iter().map(|it| self.sizes[*it]));
        let known = source.indices.iter().filter(|it| !is_open(it)).map(|it| it.length);
        let found = source.tokens.max(1) as f64 / product(&mut known.into_iter());
        let cost = found + loops * (1.0 + scanned / SCANNED_AT_ONCE) / LOOKS;
        Some(SourceChoice { conjunct, each: each.into_iter().collect(), binds, cost })
    }

    /// Adds the steps of a source.
    fn take(&mut self, SourceChoice { conjunct, each, binds, .. }: SourceChoice) {
        for parameter in each {
            self.bind(parameter);
        }
        if binds.is_empty() {
            return;
        }
        self.bound.extend(binds.iter().map(|it| it.parameter));
        self.judged[conjunct] |= self.known[conjunct].is_source;
        self.steps.push(BindingStep::Scan(NonzeroScan { conjunct, binds }));
    }

    /// Binds a parameter to each of its values, and adds tests of the conjuncts that can be evaluated then.
    fn bind(&mut self, parameter: usize) {
        self.bound.insert(parameter);
        self.steps.push(BindingStep::Each(parameter));
        self.judge();
    }

    /// Binds the parameter that makes the most conjuncts evaluable; among equals, the one with the fewest values.
    fn bind_next(&mut self) {
        let open = (0..self.sizes.len()).filter(|it| self.is_open(*it));
        let judged = |parameter: usize| {
            let is_last = |it: &&ConjunctFacts| {
                let mut left = it.mentions.iter().filter(|it| self.is_open(**it));
                left.next() == Some(&parameter) && left.next().is_none()
            };
            self.known.iter().filter(is_last).count()
        };
        let next = open.min_by_key(|it| (std::cmp::Reverse(judged(*it)), self.sizes[*it]));
        next.into_iter().for_each(|it| self.bind(it));
    }
}

/// The approximate number of elements that a scan examines at once.
const SCANNED_AT_ONCE: f64 = 64.0;

/// The approximate number of examinations that cost as much as one combination.
const LOOKS: f64 = 16.0;
