//! States as trees of variables.

use crate::cli::editors::positions::is_word;
use crate::model::{ProcessLocation, StateValue};
use serde_json::{Value, json};

/// A value with a name.
type NamedValue = (String, StateValue);

/// A group of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableScope {
    /// Those of a process, by its number among the processes of the state.
    Locals(usize),
    /// Those of the model.
    Globals,
    /// The channels of the model.
    Channels,
}

/// The variables of a state, as a user sees them.
pub(super) struct StateVariables {
    /// All variables, those of processes with the names of these before a dot.
    all: Vec<NamedValue>,
    /// The processes.
    pub processes: Vec<ProcessLocation>,
    /// The nodes that the client may ask for. Their number is the index, from 1 on.
    nodes: Vec<VariableNode>,
}

/// A node of the tree.
enum VariableNode {
    Scope(VariableScope),
    /// A value with parts, and its expression.
    Value(String, StateValue),
}

/// A part of a value.
struct ValuePart {
    name: String,
    value: StateValue,
    expression: String,
}

impl StateVariables {
    pub(super) fn new(all: Vec<NamedValue>, processes: Vec<ProcessLocation>) -> StateVariables {
        StateVariables { all, processes, nodes: Vec::new() }
    }

    /// Returns the variables of a scope, with their names in the scope.
    fn of_scope(&self, scope: VariableScope) -> Vec<ValuePart> {
        let owner = |name: &str| {
            let owns = |it: &ProcessLocation| {
                let rest = name.strip_prefix(it.process.as_str());
                rest.is_some_and(|it| it.is_empty() || it.starts_with('.'))
            };
            // The name of a process may begin with that of another one.
            let owners = self.processes.iter().enumerate().filter(|it| owns(it.1));
            owners.max_by_key(|it| it.1.process.len()).map(|it| it.0)
        };
        let belongs = |(name, value): &&NamedValue| match (owner(name), scope) {
            (Some(owner), VariableScope::Locals(process)) => owner == process,
            (None, VariableScope::Channels) => is_channel(value),
            (None, VariableScope::Globals) => !is_channel(value),
            _ => false,
        };
        let part = |(name, value): &NamedValue| {
            let short = match scope {
                VariableScope::Locals(process) => {
                    let rest = name.strip_prefix(&*self.processes[process].process);
                    let rest = rest.and_then(|it| it.strip_prefix('.'));
                    rest.map_or_else(|| "location".to_owned(), str::to_owned)
                }
                VariableScope::Globals | VariableScope::Channels => name.clone(),
            };
            ValuePart { name: short, value: value.clone(), expression: name.clone() }
        };
        self.all.iter().filter(belongs).map(part).collect()
    }

    /// Returns the scopes of a frame of a process, or of the model's only thread.
    pub(super) fn scopes(&mut self, process: Option<usize>) -> Value {
        let locals = process.map(|it| ("Locals", VariableScope::Locals(it)));
        let others = [("Globals", VariableScope::Globals), ("Channels", VariableScope::Channels)];
        let mut scopes = Vec::new();
        for (name, scope) in locals.into_iter().chain(others) {
            let count = self.of_scope(scope).len();
            if count > 0 {
                let reference = self.add(VariableNode::Scope(scope));
                scopes.push(json!({
                    "name": name, "variablesReference": reference, "namedVariables": count,
                    "expensive": false,
                }));
            }
        }
        json!({ "scopes": scopes })
    }

    fn add(&mut self, node: VariableNode) -> usize {
        self.nodes.push(node);
        self.nodes.len()
    }

    /// Returns the variables below a node. `None` if the node does not exist in this state.
    pub(super) fn below(&mut self, reference: usize) -> Option<Value> {
        let parts = match self.nodes.get(reference.checked_sub(1)?)? {
            VariableNode::Scope(scope) => self.of_scope(*scope),
            VariableNode::Value(expression, value) => parts_of(expression, value),
        };
        let variables: Vec<Value> = parts.into_iter().map(|it| self.variable(it)).collect();
        Some(json!({ "variables": variables }))
    }

    fn variable(&mut self, ValuePart { name, value, expression }: ValuePart) -> Value {
        let shown = self.shown(&expression, value);
        json!({
            "name": name, "value": shown.text, "variablesReference": shown.reference,
            "evaluateName": expression,
        })
    }

    /// Adds a value to the tree.
    pub(super) fn shown(&mut self, expression: &str, value: StateValue) -> ShownValue {
        let text = value.to_string();
        let has_parts = !parts_of(expression, &value).is_empty();
        let node = || VariableNode::Value(expression.to_owned(), value);
        ShownValue { text, reference: if has_parts { self.add(node()) } else { 0 } }
    }

    /// Returns an expression with the name of the process before each name of a local variable of its frame, as the
    /// language separates the two.
    pub(super) fn qualified(&self, expression: &str, process: usize, separator: &str) -> String {
        let locals = self.of_scope(VariableScope::Locals(process));
        let prefix = format!("{}{separator}", self.processes[process].process);
        let (mut text, mut rest) = (String::new(), expression);
        while let Some(first) = rest.chars().next() {
            let is_name = is_word(first);
            let end = rest.find(|it| is_word(it) != is_name).unwrap_or(rest.len());
            let (token, after) = rest.split_at(end);
            // A name after one of these belongs to something else.
            let before = text.trim_end();
            let is_member = before.ends_with(['.', ':', '@', '"']) || before.ends_with("->");
            if is_name && !is_member && locals.iter().any(|it| it.name == token) {
                text.push_str(&prefix);
            }
            text.push_str(token);
            rest = after;
        }
        text
    }

    /// Returns the value of a variable or of a part of one, in the frame of a process.
    pub(super) fn find(&self, expression: &str, process: Option<usize>) -> Option<StateValue> {
        let local = process.and_then(|it| {
            let found = self.of_scope(VariableScope::Locals(it));
            find_part(found, expression)
        });
        let all = || {
            let part = |(name, value): &NamedValue| ValuePart {
                name: name.clone(),
                value: value.clone(),
                expression: name.clone(),
            };
            find_part(self.all.iter().map(part).collect(), expression)
        };
        local.or_else(all)
    }
}

/// A value as the client shows it.
pub(super) struct ShownValue {
    pub text: String,
    /// The number of its node, or 0 without parts.
    pub reference: usize,
}

/// Finds the part that an expression names: a name, then indices in brackets and fields after dots.
fn find_part(parts: Vec<ValuePart>, expression: &str) -> Option<StateValue> {
    for ValuePart { name, value, .. } in parts {
        let Some(rest) = expression.strip_prefix(&name) else { continue };
        if rest.is_empty() {
            return Some(value);
        }
        if !rest.starts_with(['[', '.']) {
            continue;
        }
        let inner = parts_of("", &value).into_iter();
        let inner = inner.map(|it| ValuePart { name: it.expression.clone(), ..it }).collect();
        if let Some(found) = find_part(inner, rest) {
            return Some(found);
        }
    }
    None
}

/// Returns whether a variable is a channel, or an array of channels.
fn is_channel(value: &StateValue) -> bool {
    match value {
        StateValue::Queue(_) => true,
        StateValue::Array(_, all) => all.first().is_some_and(is_channel),
        _ => false,
    }
}

/// Returns the parts of a value of this expression.
fn parts_of(expression: &str, value: &StateValue) -> Vec<ValuePart> {
    let indexed = |first: i64, all: &[StateValue]| {
        let part = |(index, value): (i64, &StateValue)| ValuePart {
            name: format!("[{index}]"),
            value: value.clone(),
            expression: format!("{expression}[{index}]"),
        };
        (first..).zip(all).map(part).collect()
    };
    let named = |parts: &[NamedValue], open: &str, close: &str| {
        let part = |(name, value): &NamedValue| ValuePart {
            name: name.clone(),
            value: value.clone(),
            expression: format!("{expression}{open}{name}{close}"),
        };
        parts.iter().map(part).collect()
    };
    match value {
        StateValue::Array(first, all) => indexed(*first, all),
        StateValue::Queue(all)
        | StateValue::Message(all)
        | StateValue::Bag(all)
        | StateValue::Set(all) => indexed(0, all),
        StateValue::Table(parts) => named(parts, "[", "]"),
        StateValue::Record(parts) => named(parts, ".", ""),
        StateValue::Written(_, parts) => parts_of(expression, parts),
        StateValue::Number(_)
        | StateValue::Truth(_)
        | StateValue::Name(_)
        | StateValue::Undefined => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_their_expressions() {
        let inner = StateValue::Record(vec![("f".into(), StateValue::Number(7))]);
        let all = vec![
            ("P.a".to_owned(), StateValue::Number(1)),
            ("a".to_owned(), StateValue::Array(1, vec![StateValue::Number(2), inner])),
        ];
        let span = crate::source::Span::default();
        let process = ProcessLocation {
            process: "P".into(),
            location: "q".into(),
            span,
            outgoing: Vec::new(),
        };
        let mut variables = StateVariables::new(all, vec![process]);
        let number = |it: i64| Some(StateValue::Number(it));
        assert_eq!(variables.find("a", Some(0)), number(1));
        assert_eq!(variables.find("a[1]", None), number(2));
        assert_eq!(variables.find("a[2].f", Some(0)), number(7));
        assert_eq!(variables.find("P.a", None), number(1));
        assert_eq!(variables.find("a[3]", None), None);
        assert_eq!(variables.find("ab", None), None);
        assert_eq!(variables.qualified("a + b.a*(ab-a)", 0, ":"), "P:a + b.a*(ab-P:a)");
        assert_eq!(variables.scopes(Some(0))["scopes"].as_array().unwrap().len(), 2);
        assert_eq!(variables.below(2).unwrap()["variables"][0]["variablesReference"], 3);
        assert!(variables.below(0).is_none() && variables.below(9).is_none());
    }
}
