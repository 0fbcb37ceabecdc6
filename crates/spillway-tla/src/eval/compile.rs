//! Compilation of resolved expressions to nodes.

use super::facts::Facts;
use super::node::{
    ArmNode, BindingNode, BoundNode, ClosureNode, FieldNode, LazyNode, Node, NodeId, Operator,
    StepNode, UnaryNode, UpdateNode,
};
use super::state_memo::VariableList;
use crate::level::Level;
use crate::resolve::ids::{ExprId, Slot, StringId};
use crate::resolve::tree::{
    Argument, BinaryOperator, Bound, ConstantValue, ExceptStep, ExceptUpdate, ExprKind, LetBinding,
    OperatorValue, Pattern, QuantifierKind, RecordField, Specification, UnaryOperator,
};
use crate::standard::numbers;
use crate::value::{FieldNames, ModelValue, Symbol, SymbolTable, Value, shared_names};
use rustc_hash::FxHashMap;

/// What the compiler makes.
pub(super) struct CompiledNodes {
    /// The nodes, by the index of the expression.
    pub nodes: Vec<Node>,
    /// The operators that are arguments.
    pub operators: Vec<Operator>,
    /// The variables that each memoised expression reads.
    pub memo_reads: Vec<VariableList>,
    /// The lazy expressions that bind names, by the index of the expression.
    pub lazy_closures: FxHashMap<NodeId, ClosureNode>,
    /// How many arguments the value of each expression takes before the body of a function constructor is evaluated.
    pub constructor_depths: Vec<u8>,
}

/// The state of a compilation.
pub(super) struct Compiler<'s> {
    specification: &'s Specification,
    symbols: &'s SymbolTable,
    facts: Facts,
    operators: Vec<Operator>,
    /// The memoised values of definitions without parameters.
    definition_memos: Vec<Option<u32>>,
    memo_reads: Vec<VariableList>,
    lazy_closures: FxHashMap<NodeId, ClosureNode>,
    /// The field names of record literals. Literals with the same fields share them.
    names: Vec<FieldNames>,
}

impl<'s> Compiler<'s> {
    /// Compiles every expression.
    pub fn compile(specification: &'s Specification, symbols: &'s SymbolTable) -> CompiledNodes {
        let mut compiler = Self {
            specification,
            symbols,
            facts: Facts::of(specification),
            operators: Vec::new(),
            definition_memos: vec![None; specification.definitions.len()],
            memo_reads: Vec::new(),
            lazy_closures: FxHashMap::default(),
            names: Vec::new(),
        };
        let count = specification.expressions.len() as u32;
        let nodes = (0..count).map(|it| compiler.node(ExprId(it))).collect();
        CompiledNodes {
            nodes,
            operators: compiler.operators,
            memo_reads: compiler.memo_reads,
            lazy_closures: compiler.lazy_closures,
            constructor_depths: compiler.facts.into_constructor_depths(),
        }
    }

    fn node(&mut self, id: ExprId) -> Node {
        let expr = &self.specification[id];
        let node = self.plain_node(id);
        let is_simple = matches!(
            node,
            Node::Literal(_) | Node::Variable(_) | Node::Local(_) | Node::Unsupported(_)
        );
        if is_simple || expr.uses_frame || !self.facts.is_pure(id) {
            return node;
        }
        match expr.level {
            Level::Constant => Node::Memo(self.memo(id), Box::new(node)),
            Level::State if self.is_costly(&node) && self.facts.reads(id).is_some() => {
                Node::StateMemo(self.memo(id), Box::new(node))
            }
            _ => node,
        }
    }

    /// Returns whether the evaluation of an expression costs more than to keep its value.
    fn is_costly(&self, node: &Node) -> bool {
        match node {
            Node::Call { definition, .. } => {
                let body = self.specification.definitions[*definition as usize].body;
                let kind = &self.specification[body].kind;
                !matches!(kind, ExprKind::Variable(_) | ExprKind::Local(_) | ExprKind::Tuple(_))
            }
            Node::Filter { .. }
            | Node::Map { .. }
            | Node::Function { .. }
            | Node::Choose { .. }
            | Node::Quantified { .. }
            | Node::Unary(UnaryNode::BigUnion, _) => true,
            Node::Binary(BinaryOperator::In | BinaryOperator::SubsetOrEqual, _, set) => {
                let set = &self.specification[ExprId(*set)];
                set.level == Level::Constant && !matches!(set.kind, ExprKind::SetLiteral(_))
            }
            _ => false,
        }
    }

    /// Returns the index of the memoised value of an expression. Calls of one definition without parameters
    /// share it.
    fn memo(&mut self, id: ExprId) -> u32 {
        let next = self.memo_reads.len() as u32;
        let memo = match &self.specification[id].kind {
            ExprKind::Apply { definition, arguments } if arguments.is_empty() => {
                *self.definition_memos[definition.index()].get_or_insert(next)
            }
            _ => next,
        };
        if memo == next {
            self.memo_reads.push(self.facts.reads(id).unwrap_or_default());
        }
        memo
    }

    fn plain_node(&mut self, id: ExprId) -> Node {
        let specification = self.specification;
        match &specification[id].kind {
            ExprKind::Boolean(it) => Node::Literal(Value::Bool(*it)),
            ExprKind::Integer(it) => match i32::try_from(*it) {
                Ok(it) => Node::Literal(Value::Int(it)),
                Err(_) => unsupported(&format!("{it}, which leaves 32 bits,")),
            },
            ExprKind::Decimal(it) => unsupported(it),
            ExprKind::String(it) => Node::Literal(Value::Str(self.symbol(*it))),
            ExprKind::BooleanSet => {
                Node::Literal(Value::sorted_set(vec![Value::Bool(false), Value::Bool(true)]))
            }
            ExprKind::StringSet => Node::Literal(crate::standard::sets::lazy(
                crate::value::LazyValue::Infinite(crate::value::InfiniteSet::String),
            )),
            ExprKind::ModelValue(it) => {
                Node::Literal(model_value(specification, self.symbols, it.index()))
            }
            ExprKind::Variable(it) => Node::Variable(it.0),
            ExprKind::Constant(it) => self.constant(&specification.constants[it.index()].value),
            ExprKind::Local(it) => Node::Local(it.0),
            ExprKind::Apply { definition, arguments } => {
                Node::Call { definition: definition.0, arguments: self.arguments(arguments) }
            }
            ExprKind::ApplyLocal { operator, arguments } => {
                Node::CallLocal { slot: operator.0, arguments: self.arguments(arguments) }
            }
            ExprKind::Standard { operator, arguments } => self.standard(*operator, arguments),
            ExprKind::Unary { operator, operand } => unary(*operator, operand.0),
            ExprKind::Binary { operator, left, right } => binary(*operator, left.0, right.0),
            _ => self.compound(id),
        }
    }

    fn compound(&mut self, id: ExprId) -> Node {
        let specification = self.specification;
        match &specification[id].kind {
            ExprKind::And(it) => Node::And(ids(it)),
            ExprKind::Or(it) => Node::Or(ids(it)),
            ExprKind::If { condition, yes, no } => {
                Node::If { condition: condition.0, yes: yes.0, no: no.0 }
            }
            ExprKind::Case { arms, other } => Node::Case {
                arms: arms
                    .iter()
                    .map(|it| ArmNode { guard: it.guard.0, value: it.value.0 })
                    .collect(),
                other: other.map(|it| it.0),
            },
            ExprKind::Let { bindings, body } => Node::Let {
                bindings: bindings.iter().map(|it| self.binding(it)).collect(),
                body: body.0,
            },
            ExprKind::Quantified { quantifier, bounds, body } => {
                let is_exists = *quantifier == QuantifierKind::Exists;
                let bounds = match &bounds[..] {
                    [only] if is_exists => Box::from([self.screened(bound(only), *body)]),
                    bounds => bounds.iter().map(bound).collect(),
                };
                Node::Quantified { is_exists, bounds, body: body.0 }
            }
            ExprKind::Choose { pattern, set: Some(set), body } => {
                let bound = bound(&Bound { pattern: pattern.clone(), set: *set });
                let bound = self.screened(bound, *body);
                Node::Choose { bound, body: body.0 }
            }
            ExprKind::SetLiteral(it) => Node::SetLiteral(ids(it)),
            ExprKind::SetFilter { bound: it, body } => {
                let bound = self.screened(bound(it), *body);
                let closure = self.closure(*body, std::slice::from_ref(&bound), None);
                Node::Filter { bound, closure }
            }
            ExprKind::SetMap { bounds, body } => {
                Node::Map { bounds: bounds.iter().map(bound).collect(), body: body.0 }
            }
            ExprKind::Function { bounds, body, itself } => {
                let bounds: Box<[_]> = bounds.iter().map(bound).collect();
                let itself = itself.map(|it| it.0);
                let closure = self.closure(*body, &bounds, itself);
                Node::Function { bounds, closure, itself }
            }
            _ => self.structure(id),
        }
    }

    fn structure(&mut self, id: ExprId) -> Node {
        let specification = self.specification;
        match &specification[id].kind {
            ExprKind::FunctionSet { domain, range } => Node::FunctionSet(domain.0, range.0),
            ExprKind::ApplyFunction { function, argument } => Node::Apply(function.0, argument.0),
            ExprKind::Field { record, field } => Node::Field(record.0, self.symbol(*field)),
            ExprKind::Record(fields) => {
                let fields = self.fields(fields);
                let names = self.field_names(fields.iter().map(|it| it.name).collect());
                Node::Record { names, values: fields.iter().map(|it| it.set).collect() }
            }
            ExprKind::RecordSet(fields) => Node::RecordSet(self.fields(fields).into()),
            ExprKind::Tuple(it) => Node::Tuple(ids(it)),
            ExprKind::Product(it) => Node::Product(ids(it)),
            ExprKind::Except { function, updates } => Node::Except {
                function: function.0,
                updates: updates.iter().map(|it| self.update(it)).collect(),
            },
            ExprKind::BoxAction { action, subscript } => {
                Node::BoxAction { action: action.0, subscript: subscript.0 }
            }
            ExprKind::AngleAction { action, subscript } => {
                Node::AngleAction { action: action.0, subscript: subscript.0 }
            }
            ExprKind::Unbounded { .. } => unsupported("a quantifier without a set"),
            ExprKind::Choose { .. } => unsupported("CHOOSE without a set"),
            ExprKind::WeakFairness { .. } | ExprKind::StrongFairness { .. } => {
                unsupported("a fairness formula")
            }
            ExprKind::TemporalQuantified { .. } => unsupported("a temporal quantifier"),
            ExprKind::Undefined { name, .. } => {
                unsupported(&format!("`{name}`, which has no definition,"))
            }
            _ => unsupported("this expression"),
        }
    }

    fn symbol(&self, id: StringId) -> Symbol {
        self.symbols.symbol(id.0).expect("the table has every string")
    }

    fn constant(&self, value: &ConstantValue) -> Node {
        match self.constant_value(value) {
            Some(value) => Node::Literal(value),
            None => unsupported("a constant of incomparable or too large values"),
        }
    }

    fn constant_value(&self, value: &ConstantValue) -> Option<Value> {
        Some(match value {
            ConstantValue::Boolean(it) => Value::Bool(*it),
            ConstantValue::Integer(it) => Value::Int(i32::try_from(*it).ok()?),
            ConstantValue::String(it) => Value::Str(self.symbol(*it)),
            ConstantValue::ModelValue(it) => {
                model_value(self.specification, self.symbols, it.index())
            }
            ConstantValue::Set(elements) => {
                let elements = elements.iter().map(|it| self.constant_value(it));
                Value::set(elements.collect::<Option<_>>()?).ok()?
            }
        })
    }

    fn standard(
        &mut self,
        operator: crate::resolve::tree::StandardOperator,
        arguments: &[Argument],
    ) -> Node {
        if numbers::is_binary(operator)
            && let [Argument::Expression(left), Argument::Expression(right)] = arguments
        {
            return Node::Arithmetic { operator, left: left.0, right: right.0 };
        }
        Node::Standard { operator, arguments: self.arguments(arguments) }
    }

    fn arguments(&mut self, arguments: &[Argument]) -> Box<[super::node::Argument]> {
        arguments.iter().map(|it| self.argument(it)).collect()
    }

    fn argument(&mut self, argument: &Argument) -> super::node::Argument {
        match argument {
            Argument::Operator(it) => super::node::Argument::Operator(self.operator(it)),
            Argument::Expression(id) => match self.plain_literal(*id) {
                Some(value) => super::node::Argument::Literal(value),
                None => match &self.specification[*id].kind {
                    ExprKind::Local(slot) => super::node::Argument::Local(slot.0),
                    _ => super::node::Argument::Lazy(self.lazy(*id)),
                },
            },
        }
    }

    /// Returns the value of an expression without operands.
    fn plain_literal(&mut self, id: ExprId) -> Option<Value> {
        match &self.specification[id].kind {
            ExprKind::Boolean(_)
            | ExprKind::Integer(_)
            | ExprKind::String(_)
            | ExprKind::BooleanSet
            | ExprKind::ModelValue(_)
            | ExprKind::Constant(_) => match self.plain_node(id) {
                Node::Literal(value) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }

    fn operator(&mut self, operator: &OperatorValue) -> u32 {
        let compiled = match operator {
            OperatorValue::Definition { definition, captured } => Operator::Definition {
                definition: definition.0,
                captured: self.arguments(captured),
            },
            OperatorValue::Local(slot) => Operator::Local(slot.0),
            OperatorValue::Standard(it) => Operator::Standard(*it),
            OperatorValue::Unary(it) => match unary(*it, 0) {
                Node::Unary(it, _) => Operator::Unary(it),
                _ => Operator::Unsupported,
            },
            OperatorValue::Binary(it) => match binary(*it, 0, 0) {
                Node::Binary(it, ..) => Operator::Binary(it),
                Node::Implies(..) => Operator::Implies,
                _ => Operator::Unsupported,
            },
            OperatorValue::And => Operator::And,
            OperatorValue::Or => Operator::Or,
            OperatorValue::Product => Operator::Product,
        };
        self.operators.push(compiled);
        self.operators.len() as u32 - 1
    }

    fn lazy(&mut self, id: ExprId) -> LazyNode {
        if self.facts.binds(id) {
            let closure = self.closure(id, &[], None);
            self.lazy_closures.insert(id.0, closure);
        }
        let free = self.facts.free(id).iter().map(|it| it.0).collect();
        LazyNode { node: id.0, level: self.specification[id].level, free }
    }

    /// Returns a bound with the first conjuncts of its body that are constant for each element.
    fn screened(&self, bound: BoundNode, body: ExprId) -> BoundNode {
        let mut screen = Vec::new();
        self.add_screen(body, &mut screen);
        BoundNode { screen: screen.into(), ..bound }
    }

    /// Adds the first conjuncts of a formula that are constant. Returns whether all are.
    fn add_screen(&self, id: ExprId, screen: &mut Vec<LazyNode>) -> bool {
        let expr = &self.specification[id];
        if let ExprKind::And(operands) = &expr.kind {
            return operands.iter().all(|it| self.add_screen(*it, screen));
        }
        let is_constant = expr.level == Level::Constant && self.facts.is_pure(id);
        if is_constant {
            let free = self.facts.free(id).iter().map(|it| it.0).collect();
            screen.push(LazyNode { node: id.0, level: Level::Constant, free });
        }
        is_constant
    }

    fn binding(&mut self, binding: &LetBinding) -> BindingNode {
        BindingNode { slot: binding.slot.0, value: self.lazy(binding.value) }
    }

    fn closure(&self, body: ExprId, bounds: &[BoundNode], itself: Option<u32>) -> ClosureNode {
        let is_bound =
            |it: u32| Some(it) == itself || bounds.iter().any(|bound| bound.slots.contains(&it));
        let free = self.facts.free(body).iter().map(|it| it.0).filter(|it| !is_bound(*it));
        ClosureNode { body: body.0, free: free.collect(), frame: self.facts.frame(body) }
    }

    fn field_names(&mut self, names: Vec<Symbol>) -> FieldNames {
        if let Some(known) = self.names.iter().find(|it| it.slice == *names) {
            return known.clone();
        }
        let names = shared_names(names);
        self.names.push(names.clone());
        names
    }

    /// Returns the fields in the order of their names.
    fn fields(&self, fields: &[RecordField]) -> Vec<FieldNode> {
        let mut fields: Vec<FieldNode> = fields
            .iter()
            .map(|it| FieldNode { name: self.symbol(it.name), set: it.value.0 })
            .collect();
        fields.sort_by_key(|it| it.name);
        fields
    }

    fn update(&self, update: &ExceptUpdate) -> UpdateNode {
        let step = |it: &ExceptStep| match it {
            ExceptStep::Index(it) => StepNode::Index(it.0),
            ExceptStep::Field(it) => StepNode::Field(self.symbol(*it)),
        };
        UpdateNode {
            path: update.path.iter().map(step).collect(),
            old: update.old.map(|it| it.0),
            value: update.value.0,
        }
    }
}

fn unsupported(what: &str) -> Node {
    Node::Unsupported(what.into())
}

fn ids(ids: &[ExprId]) -> Box<[NodeId]> {
    ids.iter().map(|it| it.0).collect()
}

fn bound(bound: &Bound) -> BoundNode {
    let slots = |slots: &[Slot]| slots.iter().map(|it| it.0).collect();
    let (slots, is_tuple) = match &bound.pattern {
        Pattern::Single(it) => (slots(std::slice::from_ref(it)), false),
        Pattern::Tuple(it) => (slots(it), true),
    };
    BoundNode { slots, is_tuple, set: bound.set.0, screen: Box::default() }
}

fn unary(operator: UnaryOperator, operand: NodeId) -> Node {
    let operator = match operator {
        UnaryOperator::Not => UnaryNode::Not,
        UnaryOperator::Powerset => UnaryNode::Powerset,
        UnaryOperator::BigUnion => UnaryNode::BigUnion,
        UnaryOperator::Domain => UnaryNode::Domain,
        UnaryOperator::Prime => return Node::Prime(operand),
        UnaryOperator::Unchanged => return Node::Unchanged(operand),
        UnaryOperator::Enabled => return Node::Enabled(operand),
        UnaryOperator::Always => return unsupported("a temporal formula"),
        UnaryOperator::Eventually => return unsupported("a temporal formula"),
    };
    Node::Unary(operator, operand)
}

fn binary(operator: BinaryOperator, left: NodeId, right: NodeId) -> Node {
    match operator {
        BinaryOperator::Implies => Node::Implies(left, right),
        BinaryOperator::Compose => unsupported("action composition"),
        BinaryOperator::LeadsTo | BinaryOperator::Guarantees => unsupported("a temporal formula"),
        _ => Node::Binary(operator, left, right),
    }
}

/// Returns the model value with an index.
fn model_value(specification: &Specification, symbols: &SymbolTable, index: usize) -> Value {
    let model = &specification.model_values[index];
    let name = symbols.symbol(model.string.0).expect("a model value is among the strings");
    Value::Model(ModelValue::new(name, &model.name))
}
