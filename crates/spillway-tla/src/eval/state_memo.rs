//! Values of expressions that depend only on the state. A value is kept while the variables that it reads are
//! unchanged.
//!
//! A refinement mapping is such an expression: every step of a state uses it in the state, and every operator of the
//! abstract specification uses it again. A conjunct of an invariant is another: most steps change few variables. Each
//! expression has one kept value for the state and one for the successor, and either serves both: a kept value is used
//! where the variables are identical to those with which it was computed.

use crate::value::Value;

/// The variables that an expression reads, by index.
pub(super) type VariableList = Box<[u32]>;

/// The kept values, by the number of the expression.
#[derive(Debug)]
pub(super) struct StateMemos {
    /// The values in the state and in the successor.
    values: Vec<[KeptValue; 2]>,
}

/// A value with the values of the variables with which it was computed.
#[derive(Clone, Debug, Default)]
struct KeptValue {
    inputs: Vec<Value>,
    /// Nothing if no value was kept yet.
    value: Option<Value>,
    /// The values of the function for some arguments, if the expression is a function that is only applied.
    applications: Vec<KeptApplication>,
}

/// The value of a function for an argument.
#[derive(Clone, Debug)]
struct KeptApplication {
    argument: Value,
    value: Value,
}

/// The maximum number of applications of a function that are kept.
const APPLICATIONS_MAX: usize = 64;

/// The values of variables, as far as they are assigned.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'s> {
    pub variables: &'s [Option<Value>],
    /// Those that the expression reads.
    pub reads: &'s [u32],
    /// Whether the variables are those of the successor.
    pub is_primed: bool,
}

impl Inputs<'_> {
    fn are_identical(&self, values: &[Value]) -> bool {
        self.reads.iter().zip(values).all(|(variable, value)| {
            let present = &self.variables[*variable as usize];
            present.as_ref().is_some_and(|it| it.is_identical(value))
        })
    }
}

impl StateMemos {
    pub fn new(count: usize) -> Self {
        Self { values: vec![Default::default(); count] }
    }

    /// Returns the value of an expression, if one was kept for these inputs.
    pub fn get(&self, memo: u32, inputs: Inputs<'_>) -> Option<&Value> {
        let fits = |it: &&KeptValue| it.value.is_some() && inputs.are_identical(&it.inputs);
        self.sides(memo, inputs).into_iter().find(fits)?.value.as_ref()
    }

    /// Returns the value of a function for an argument, if one was kept for these inputs.
    pub fn application(&self, memo: u32, inputs: Inputs<'_>, argument: &Value) -> Option<&Value> {
        let fits =
            |it: &&KeptValue| !it.applications.is_empty() && inputs.are_identical(&it.inputs);
        let kept = self.sides(memo, inputs).into_iter().filter(fits);
        kept.flat_map(|it| &it.applications).find(|it| it.argument == *argument).map(|it| &it.value)
    }

    /// Returns the kept values of an expression. The value for the side of the inputs comes first.
    fn sides(&self, memo: u32, inputs: Inputs<'_>) -> [&KeptValue; 2] {
        let [current, next] = &self.values[memo as usize];
        if inputs.is_primed { [next, current] } else { [current, next] }
    }

    /// Keeps the value of an expression that was computed with these inputs.
    pub fn keep(&mut self, memo: u32, inputs: Inputs<'_>, value: Value) {
        let kept = &mut self.values[memo as usize][usize::from(inputs.is_primed)];
        kept.set_inputs(inputs);
        kept.value = (kept.inputs.len() == inputs.reads.len()).then_some(value);
    }

    /// Keeps the value of a function for an argument that was computed with these inputs.
    pub fn keep_application(
        &mut self,
        memo: u32,
        inputs: Inputs<'_>,
        argument: Value,
        value: Value,
    ) {
        let kept = &mut self.values[memo as usize][usize::from(inputs.is_primed)];
        if !inputs.are_identical(&kept.inputs) || kept.inputs.len() != inputs.reads.len() {
            kept.set_inputs(inputs);
        }
        if kept.inputs.len() == inputs.reads.len() && kept.applications.len() < APPLICATIONS_MAX {
            kept.applications.push(KeptApplication { argument, value });
        }
    }
}

impl KeptValue {
    /// Replaces the inputs, and removes the value that was computed with others.
    fn set_inputs(&mut self, inputs: Inputs<'_>) {
        self.inputs.clear();
        self.value = None;
        self.applications.clear();
        let present = inputs.reads.iter().map(|it| &inputs.variables[*it as usize]);
        self.inputs.extend(present.flatten().cloned());
    }
}
