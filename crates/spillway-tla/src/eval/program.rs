//! The program: a resolved specification, compiled for the evaluator.

use super::compile::{CompiledNodes, Compiler};
use super::node::{ClosureNode, Node, NodeId, Operator};
use super::state_memo::VariableList;
use crate::level::Level;
use crate::resolve::ids::{DefinitionId, ExprId};
use crate::resolve::tree::{BinaryOperator, DefinitionOrigin, Specification};
use crate::value::SymbolTable;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A compiled specification. It is shared between threads; each has its own [`Evaluator`](super::Evaluator).
#[derive(Debug)]
pub struct CompiledSpecification {
    /// The specification.
    pub specification: Specification,
    /// The symbols of its strings and names.
    pub symbols: SymbolTable,
    /// The environment variables that `IOEnv` has.
    pub environment: BTreeMap<String, String>,
    /// The compiled expressions, by the index of the expression.
    pub(super) nodes: Vec<Node>,
    /// Whether an action only tests the expression: it is no formula that is entered and assigns nothing.
    pub(super) tests: Vec<bool>,
    /// Whether an action can enter the expression, so that it may have more than one successor.
    pub(super) is_enterable: Vec<bool>,
    /// The compiled definitions, by the index of the definition.
    pub(super) definitions: Vec<CompiledDefinition>,
    /// The operators that are arguments.
    pub(super) operators: Vec<Operator>,
    /// The variables that each memoised expression reads.
    pub(super) memo_reads: Vec<VariableList>,
    /// The lazy expressions that bind names. An action that enters one does so in a frame of its own, because the same
    /// expression may be evaluated while the action is still under way.
    pub(super) lazy_closures: FxHashMap<NodeId, ClosureNode>,
    /// How many arguments the value of each expression takes before the body of a function constructor is evaluated.
    pub(super) constructor_depths: Vec<u8>,
}

/// A compiled definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompiledDefinition {
    /// The body.
    pub body: u32,
    /// The slots of a frame.
    pub slots: u32,
    /// The leading parameters that its text does not have.
    pub captured: u32,
    /// The level if all arguments are constants.
    pub level: Level,
    /// Whether a disjunct of the next-state action that calls it has its name.
    pub is_named: bool,
}

/// Returns whether an action only tests an expression.
fn is_test(nodes: &[Node], node: usize) -> bool {
    match &nodes[node] {
        Node::Binary(
            BinaryOperator::Equal | BinaryOperator::In | BinaryOperator::SubsetOrEqual,
            left,
            _,
        ) => {
            matches!(nodes[*left as usize], Node::Field(..) | Node::Apply(..) | Node::Literal(_))
        }
        Node::Binary(..) | Node::Arithmetic { .. } | Node::Unary(..) => true,
        _ => false,
    }
}

/// Returns whether an action can enter an expression, or the body of the function that is its value.
fn is_enterable(compiled: &CompiledNodes, node: usize) -> bool {
    let node_of = |id: usize| match &compiled.nodes[id] {
        Node::Memo(_, inner) | Node::StateMemo(_, inner) => inner,
        node => node,
    };
    match node_of(node) {
        Node::And(_)
        | Node::Or(_)
        | Node::Implies(..)
        | Node::Quantified { .. }
        | Node::If { .. }
        | Node::Case { .. }
        | Node::Let { .. }
        | Node::Call { .. }
        | Node::CallLocal { .. } => true,
        Node::Apply(function, _) => {
            let function = *function as usize;
            compiled.constructor_depths[function] > 0
                || matches!(node_of(function), Node::Local(_) | Node::Call { .. })
        }
        _ => compiled.constructor_depths[node] > 0,
    }
}

impl CompiledSpecification {
    /// Compiles a specification. It sees no environment variables.
    pub fn new(specification: Specification) -> Self {
        let mut symbols = SymbolTable::default();
        for text in &specification.strings {
            symbols.intern(text);
        }
        let definitions = specification
            .definitions
            .iter()
            .map(|it| CompiledDefinition {
                body: it.body.0,
                slots: it.slots,
                captured: it.captured as u32,
                level: it.level,
                is_named: matches!(it.origin, DefinitionOrigin::Module | DefinitionOrigin::Let),
            })
            .collect();
        let compiled = Compiler::compile(&specification, &symbols);
        Self {
            tests: (0..compiled.nodes.len()).map(|it| is_test(&compiled.nodes, it)).collect(),
            is_enterable: (0..compiled.nodes.len()).map(|it| is_enterable(&compiled, it)).collect(),
            nodes: compiled.nodes,
            operators: compiled.operators,
            memo_reads: compiled.memo_reads,
            lazy_closures: compiled.lazy_closures,
            constructor_depths: compiled.constructor_depths,
            environment: BTreeMap::new(),
            specification,
            symbols,
            definitions,
        }
    }

    /// Returns the number of variables of a state.
    pub fn variable_count(&self) -> usize {
        self.specification.state_variables
    }

    /// Returns a node as it is entered by an action or a closure: without the memo of a value of the state.
    pub(super) fn entered(&self, node: u32) -> &Node {
        match &self.nodes[node as usize] {
            Node::StateMemo(_, inner) => inner,
            node => node,
        }
    }

    /// Returns whether the value of an expression is that of a function constructor, so that an application of it
    /// evaluates the body of the constructor for its argument alone.
    pub(super) fn is_constructor(&self, node: NodeId) -> bool {
        self.constructor_depths[node as usize] > 0
    }

    /// Returns the name of a variable.
    pub fn variable_name(&self, variable: usize) -> &str {
        &self.specification.variables[variable].name
    }

    /// Returns the body of a definition.
    pub(super) fn body(&self, definition: DefinitionId) -> u32 {
        self.definitions[definition.index()].body
    }

    /// Returns the expression that a node was compiled from.
    pub(super) fn expression(node: u32) -> ExprId {
        ExprId(node)
    }
}
