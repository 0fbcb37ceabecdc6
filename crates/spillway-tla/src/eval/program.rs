//! The program: a resolved specification, compiled for the evaluator.

use super::compile::Compiler;
use super::node::{BinaryNode, Node, Operator};
use super::state_memo::VariableList;
use crate::level::Level;
use crate::resolve::ids::{DefinitionId, ExprId};
use crate::resolve::tree::{DefinitionOrigin, Specification};
use crate::value::SymbolTable;
use std::collections::BTreeMap;

/// A compiled specification. It is shared between threads; each has its own [`Evaluator`](super::Evaluator).
#[derive(Debug)]
pub struct Program {
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
    /// The compiled definitions, by the index of the definition.
    pub(super) definitions: Vec<CompiledDefinition>,
    /// The operators that are arguments.
    pub(super) operators: Vec<Operator>,
    /// The variables that each memoised expression reads.
    pub(super) memo_reads: Vec<VariableList>,
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
        Node::Binary(BinaryNode::Equal | BinaryNode::In | BinaryNode::SubsetOrEqual, left, _) => {
            matches!(nodes[*left as usize], Node::Field(..) | Node::Apply(..) | Node::Literal(_))
        }
        Node::Binary(..) | Node::Arithmetic { .. } | Node::Unary(..) => true,
        _ => false,
    }
}

impl Program {
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
            nodes: compiled.nodes,
            operators: compiled.operators,
            memo_reads: compiled.memo_reads,
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
