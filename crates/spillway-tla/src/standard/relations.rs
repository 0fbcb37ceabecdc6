//! The community modules Relation, Graphs and UndirectedGraphs.
//!
//! A relation is a function from pairs to Booleans. A graph is a record of a set of nodes and a set of edges: pairs, or
//! sets of at most two nodes if the graph is undirected. Paths are not enumerated where only reachability matters.

use super::elements::list;
use super::tlc::finite_set;
use super::{Failure, Operands, OperatorHost, Outcome, boolean, functions, operand, sets};
use crate::library::StandardOperator;
use crate::value::{Value, shared};

/// Calls an operator of these modules.
pub fn call(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    relation(host, operator, operands).or_else(|| graph(host, operator, operands))
}

/// Which elements of a finite set are related.
struct Matrix {
    elements: Vec<Value>,
    /// Row after row.
    related: Vec<bool>,
}

impl Matrix {
    /// Tabulates a relation on elements.
    fn new(
        elements: Vec<Value>,
        mut is_related: impl FnMut(&Value, &Value) -> Outcome<bool>,
    ) -> Outcome<Self> {
        let mut related = Vec::with_capacity(elements.len() * elements.len());
        for one in &elements {
            for two in &elements {
                related.push(is_related(one, two)?);
            }
        }
        Ok(Self { elements, related })
    }

    fn size(&self) -> usize {
        self.elements.len()
    }

    fn has(&self, one: usize, two: usize) -> bool {
        self.related[one * self.size() + two]
    }

    fn index(&self, element: &Value) -> Option<usize> {
        self.elements.binary_search(element).ok()
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let size = self.size();
        (0..size).flat_map(move |one| (0..size).map(move |two| (one, two)))
    }

    /// Computes the transitive closure.
    fn close(mut self) -> Self {
        let size = self.size();
        for middle in 0..size {
            for one in 0..size {
                for two in 0..size {
                    if self.has(one, middle) && self.has(middle, two) {
                        self.related[one * size + two] = true;
                    }
                }
            }
        }
        self
    }

    /// Relates each element to itself.
    fn reflexive(mut self) -> Self {
        let size = self.size();
        for one in 0..size {
            self.related[one * size + one] = true;
        }
        self
    }

    /// Returns the relation as a function from pairs to Booleans.
    fn function(&self) -> Value {
        let (mut domain, mut values) = (Vec::new(), Vec::new());
        for (one, two) in self.pairs() {
            domain.push(Value::tuple(vec![self.elements[one].clone(), self.elements[two].clone()]));
            values.push(Value::Bool(self.has(one, two)));
        }
        Value::function(shared(domain), values)
    }

    fn is_reflexive(&self) -> bool {
        (0..self.size()).all(|it| self.has(it, it))
    }

    fn is_irreflexive(&self) -> bool {
        (0..self.size()).all(|it| !self.has(it, it))
    }

    fn is_symmetric(&self) -> bool {
        self.pairs().all(|(one, two)| self.has(one, two) == self.has(two, one))
    }

    fn is_antisymmetric(&self) -> bool {
        self.pairs().all(|(one, two)| one == two || !self.has(one, two) || !self.has(two, one))
    }

    fn is_asymmetric(&self) -> bool {
        self.pairs().all(|(one, two)| !self.has(one, two) || !self.has(two, one))
    }

    fn is_transitive(&self) -> bool {
        let size = self.size();
        self.pairs().all(|(one, two)| {
            !self.has(one, two)
                || (0..size).all(|three| !self.has(two, three) || self.has(one, three))
        })
    }

    fn is_total(&self) -> bool {
        self.pairs().all(|(one, two)| self.has(one, two) || self.has(two, one))
    }

    fn is_trichotomous(&self) -> bool {
        self.pairs().all(|(one, two)| one == two || self.has(one, two) || self.has(two, one))
    }

    fn is_strict_order(&self) -> bool {
        self.is_irreflexive() && self.is_antisymmetric() && self.is_transitive()
    }

    fn is_order(&self) -> bool {
        self.is_reflexive() && self.is_antisymmetric() && self.is_transitive()
    }
}

/// Returns the relation `R` on `S` of two operands.
fn matrix_of(host: &mut dyn OperatorHost, relation: &Value, set: &Value) -> Outcome<Matrix> {
    let elements = finite_set(host, "a relation", set)?;
    Matrix::new(elements, |one, two| {
        let pair = Value::tuple(vec![one.clone(), two.clone()]);
        boolean("a relation", &functions::apply(host.closures(), relation, &pair)?)
    })
}

/// Returns the relation of the operator that is the first argument.
fn matrix_under(host: &mut dyn OperatorHost, set: &Value) -> Outcome<Matrix> {
    let elements = finite_set(host, "a relation", set)?;
    Matrix::new(elements, |one, two| {
        boolean("a relation", &host.call(0, &[one.clone(), two.clone()])?)
    })
}

fn relation(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let test: fn(&Matrix) -> bool = match operator {
        IsReflexive | IsReflexiveUnder => Matrix::is_reflexive,
        IsIrreflexive | IsIrreflexiveUnder => Matrix::is_irreflexive,
        IsSymmetric | IsSymmetricUnder => Matrix::is_symmetric,
        IsAntiSymmetric | IsAntiSymmetricUnder => Matrix::is_antisymmetric,
        IsAsymmetric | IsAsymmetricUnder => Matrix::is_asymmetric,
        IsTransitive | IsTransitiveUnder => Matrix::is_transitive,
        IsStrictlyPartiallyOrdered | IsStrictlyPartiallyOrderedUnder => Matrix::is_strict_order,
        IsPartiallyOrdered | IsPartiallyOrderedUnder => Matrix::is_order,
        IsStrictlyTotallyOrdered | IsStrictlyTotallyOrderedUnder => {
            |it| it.is_strict_order() && it.is_trichotomous()
        }
        IsTotallyOrdered | IsTotallyOrderedUnder => |it| it.is_order() && it.is_total(),
        TransitiveClosure | ReflexiveTransitiveClosure | IsConnected => {
            return Some(closure(host, operator, operands));
        }
        _ => return None,
    };
    let set = operand(operands, 1);
    let matrix = match &operands[0] {
        Some(relation) => matrix_of(host, relation, set),
        None => matrix_under(host, set),
    };
    Some(matrix.map(|it| Value::Bool(test(&it))))
}

fn closure(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Outcome<Value> {
    let matrix = matrix_of(host, operand(operands, 0), operand(operands, 1))?.close();
    Ok(match operator {
        StandardOperator::TransitiveClosure => matrix.function(),
        StandardOperator::ReflexiveTransitiveClosure => matrix.reflexive().function(),
        _ => {
            let matrix = matrix.reflexive();
            Value::Bool(matrix.pairs().all(|(one, two)| matrix.has(one, two)))
        }
    })
}

/// The nodes and edges of a graph.
struct Graph {
    nodes: Value,
    edges: Value,
}

fn read_graph(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Graph> {
    let Value::Record(record) = value else {
        return Err(Failure::wrong_kind("a graph operator", "a graph", value));
    };
    let (mut nodes, mut edges) = (None, None);
    for (name, field) in record.header.header.slice.iter().zip(&record.slice) {
        match host.symbols().text(*name) {
            "node" => nodes = Some(field.clone()),
            "edge" => edges = Some(field.clone()),
            _ => {}
        }
    }
    match (nodes, edges) {
        (Some(nodes), Some(edges)) if record.slice.len() == 2 => Ok(Graph { nodes, edges }),
        _ => Err(Failure::wrong_kind("a graph operator", "a graph", value)),
    }
}

/// Returns the edges between the nodes of a directed graph.
fn directed(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Matrix> {
    let graph = read_graph(host, value)?;
    let nodes = list(host.closures(), &graph.nodes)?;
    Matrix::new(nodes, |one, two| {
        let edge = Value::tuple(vec![one.clone(), two.clone()]);
        sets::contains(host.closures(), &graph.edges, &edge)
    })
}

/// Returns the edges between the nodes of an undirected graph.
fn undirected(host: &mut dyn OperatorHost, value: &Value) -> Outcome<Matrix> {
    let graph = read_graph(host, value)?;
    let nodes = list(host.closures(), &graph.nodes)?;
    Matrix::new(nodes, |one, two| {
        let edge = Value::set(vec![one.clone(), two.clone()])?;
        sets::contains(host.closures(), &graph.edges, &edge)
    })
}

fn graph(
    host: &mut dyn OperatorHost,
    operator: StandardOperator,
    operands: &Operands,
) -> Option<Outcome<Value>> {
    use StandardOperator::*;
    let at = |position| operand(operands, position);
    let connected = |matrix: Matrix, one: &Value, two: &Value| {
        let matrix = matrix.close().reflexive();
        let ends = matrix.index(one).zip(matrix.index(two));
        Value::Bool(ends.is_some_and(|(one, two)| matrix.has(one, two)))
    };
    let is_connected = |matrix: Matrix| {
        let matrix = matrix.close().reflexive();
        Value::Bool(matrix.pairs().all(|(one, two)| matrix.has(one, two)))
    };
    Some(match operator {
        AreConnectedInDigraph => directed(host, at(2)).map(|it| connected(it, at(0), at(1))),
        AreConnectedIn => undirected(host, at(2)).map(|it| connected(it, at(0), at(1))),
        IsStronglyConnectedDigraph => directed(host, at(0)).map(is_connected),
        IsStronglyConnected => undirected(host, at(0)).map(is_connected),
        ConnectionsIn => directed(host, at(0)).map(|it| it.close().reflexive().function()),
        ConnectedComponents => undirected(host, at(0)).and_then(components),
        HasCycle => directed(host, at(0)).map(|it| Value::Bool(!it.close().is_irreflexive())),
        Successors => neighbours(host, at(0), at(1), |it, node, other| it.has(node, other)),
        Predecessors => neighbours(host, at(0), at(1), |it, node, other| it.has(other, node)),
        OutDegree => neighbours(host, at(0), at(1), |it, node, other| it.has(node, other))
            .and_then(|it| sets::cardinality(host.closures(), &it).map(Value::Int)),
        InDegree => neighbours(host, at(0), at(1), |it, node, other| it.has(other, node))
            .and_then(|it| sets::cardinality(host.closures(), &it).map(Value::Int)),
        _ => return None,
    })
}

fn components(matrix: Matrix) -> Outcome<Value> {
    let matrix = matrix.close().reflexive();
    let component = |one: usize| {
        let members = (0..matrix.size()).filter(|two| matrix.has(one, *two));
        Value::Set(shared(members.map(|it| matrix.elements[it].clone()).collect()))
    };
    Ok(Value::set((0..matrix.size()).map(component).collect())?)
}

fn neighbours(
    host: &mut dyn OperatorHost,
    graph: &Value,
    node: &Value,
    is_neighbour: fn(&Matrix, usize, usize) -> bool,
) -> Outcome<Value> {
    let matrix = directed(host, graph)?;
    let Some(node) = matrix.index(node) else { return Ok(Value::empty_set()) };
    let others = (0..matrix.size()).filter(|it| is_neighbour(&matrix, node, *it));
    Ok(Value::Set(shared(others.map(|it| matrix.elements[it].clone()).collect())))
}
