//! The bindings of an action's parameters: all of them, or those that the action's plan lists for a state.

use super::Interp;
use super::frames::{LocalEnv, LocalValue};
use spillway_analysis::bindings::{
    BindingPlan, BindingStep, IndexBinding, NonzeroScan, conjuncts, nonzero_place,
};
use spillway_ir::{ActionId, Expr, Parameter, Place, Program};
use spillway_model::stop_request;
use std::ops::ControlFlow;

/// How the parameters of an action are bound.
#[derive(Clone, Debug)]
pub(crate) struct ActionBindingPlan {
    pub plan: BindingPlan,
    /// By how much the number of a combination grows with each parameter's value.
    strides: Vec<u32>,
}

impl ActionBindingPlan {
    /// Returns the plans of all actions of a program that have one.
    pub(super) fn all(program: &Program) -> Vec<Option<ActionBindingPlan>> {
        let of = |action| {
            let plan = BindingPlan::of(program, action)?;
            let mut stride = 1u32;
            let strides = action.parameters.iter().rev().map(|it| {
                let own = stride;
                let (low, high) = bounds(program, it);
                stride = stride.wrapping_mul(high.wrapping_sub(low).wrapping_add(1) as u32);
                own
            });
            let mut strides: Vec<u32> = strides.collect();
            strides.reverse();
            Some(ActionBindingPlan { plan, strides })
        };
        program.actions.values().map(of).collect()
    }
}

/// Returns the least and the greatest value of a parameter.
fn bounds(program: &Program, parameter: &Parameter) -> (i64, i64) {
    match &program.types[parameter.over] {
        spillway_ir::Type::Scalar(scalar) => program.bounds(&scalar.domain),
        _ => unreachable!("the validator lets only scalar types be ranged over"),
    }
}

/// An action with the context in which its bindings are listed.
struct BindingSearch<'a> {
    parameters: &'a [Parameter],
    conjuncts: Vec<&'a Expr>,
    plan: &'a ActionBindingPlan,
    state: &'a [u8],
}

/// A place that is not 0, and the parameters that its indices bind.
#[derive(Clone, Copy)]
pub(crate) struct IndexScan<'s> {
    pub place: &'s Place,
    pub binds: &'s [IndexBinding],
}

/// A value that a parameter is bound to.
#[derive(Clone, Copy)]
struct ParameterBinding {
    /// The number of the parameter.
    parameter: usize,
    value: i64,
    /// The least value of the parameter.
    least: i64,
}

impl Interp {
    /// Calls `visit` with every combination of the parameters' values, the last varying fastest. An action with a
    /// [plan](Interp::plan) lists its combinations by that instead.
    pub(super) fn each_binding<'f>(
        &self,
        parameters: &[Parameter],
        locals: &LocalEnv<'f>,
        visit: &mut dyn FnMut(&LocalEnv<'f>),
    ) {
        let _ = self.bindings_until(parameters, locals, &mut |locals| {
            visit(locals);
            ControlFlow::Continue(())
        });
    }

    /// Does the same until `visit` stops it.
    pub(super) fn bindings_until<'f>(
        &self,
        parameters: &[Parameter],
        locals: &LocalEnv<'f>,
        visit: &mut dyn FnMut(&LocalEnv<'f>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((parameter, rest)) = parameters.split_first() else { return visit(locals) };
        let (low, high) = self.scalar_bounds(parameter.over);
        let outer = locals.combination.get();
        // Combinations are not numbered if this exceeds 32 bits.
        let first = outer.wrapping_mul(high.wrapping_sub(low).wrapping_add(1) as u32);
        for value in low..=high {
            if stop_request::is_requested() {
                return ControlFlow::Break(());
            }
            locals.set(parameter.local, LocalValue::Value(value));
            locals.combination.set(first.wrapping_add(value.wrapping_sub(low) as u32));
            self.bindings_until(rest, locals, visit)?;
        }
        locals.combination.set(outer);
        ControlFlow::Continue(())
    }

    /// Returns the plan by which an action's parameters are bound, if it has one.
    pub(crate) fn plan(&self, id: ActionId) -> Option<&ActionBindingPlan> {
        self.plans.get(spillway_ir::Entity::index(id))?.as_ref()
    }

    /// Calls `visit` with every combination of an action's parameters that may be enabled in a state.
    pub(super) fn each_likely_binding<'f>(
        &self,
        id: ActionId,
        state: &[u8],
        locals: &LocalEnv<'f>,
        visit: &mut dyn FnMut(&LocalEnv<'f>),
    ) {
        let action = &self.program.actions[id];
        let (Some(plan), Some(guard)) = (self.plan(id), &action.guard) else {
            return self.each_binding(&action.parameters, locals, visit);
        };
        let parameters = &action.parameters;
        let listed = BindingSearch { parameters, conjuncts: conjuncts(guard), plan, state };
        let _ = self.follow(&listed, &plan.plan.steps, locals, visit);
    }

    fn follow<'f>(
        &self,
        listed: &BindingSearch<'_>,
        steps: &[BindingStep],
        locals: &LocalEnv<'f>,
        visit: &mut dyn FnMut(&LocalEnv<'f>),
    ) -> ControlFlow<()> {
        if stop_request::is_requested() {
            return ControlFlow::Break(());
        }
        let Some((step, rest)) = steps.split_first() else {
            visit(locals);
            return ControlFlow::Continue(());
        };
        let mut go_on = |locals: &LocalEnv<'f>| self.follow(listed, rest, locals, visit);
        match step {
            BindingStep::Test(number) => {
                // It cannot fail; if it does, evaluating the whole guard reports the fault.
                match self.eval(listed.conjuncts[*number], listed.state, locals) {
                    Ok(0) => ControlFlow::Continue(()),
                    _ => go_on(locals),
                }
            }
            BindingStep::Each(parameter) => {
                let (low, high) = bounds(&self.program, &listed.parameters[*parameter]);
                let values = low..=high;
                values.into_iter().try_for_each(|value| {
                    let bound = ParameterBinding { parameter: *parameter, value, least: low };
                    listed.bind(bound, locals, &mut go_on)
                })
            }
            BindingStep::Scan(NonzeroScan { conjunct, binds }) => {
                let place = nonzero_place(listed.conjuncts[*conjunct]).map(|it| it.0);
                let place = place.unwrap_or_else(|| unreachable!("a source reads a place"));
                self.scan(listed, IndexScan { place, binds }, locals, &mut go_on)
            }
        }
    }

    /// Binds the parameters that are indices of a place, so that the place is not 0.
    fn scan<'f>(
        &self,
        listed: &BindingSearch<'_>,
        scanned: IndexScan<'_>,
        locals: &LocalEnv<'f>,
        go_on: &mut dyn FnMut(&LocalEnv<'f>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let IndexScan { place, binds } = scanned;
        let Some((bind, rest)) = binds.split_first() else {
            return match self.cell(place, listed.state, locals) {
                Ok((cell, _)) if self.layout.get(listed.state, cell) == Some(0) => {
                    ControlFlow::Continue(())
                }
                _ => go_on(locals),
            };
        };
        let (least, _) = bounds(&self.program, &listed.parameters[bind.parameter]);
        let indices = bind.low..bind.low + i64::from(bind.length);
        let values = indices.filter_map(|index| bind.value(index));
        for value in values {
            let bound = ParameterBinding { parameter: bind.parameter, value, least };
            listed.bind(bound, locals, &mut |locals| {
                self.scan(listed, IndexScan { place, binds: rest }, locals, go_on)
            })?;
        }
        ControlFlow::Continue(())
    }
}

impl BindingSearch<'_> {
    /// Continues with a parameter bound to a value.
    fn bind<'f>(
        &self,
        bound: ParameterBinding,
        locals: &LocalEnv<'f>,
        go_on: &mut dyn FnMut(&LocalEnv<'f>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let ParameterBinding { parameter, value, least } = bound;
        let outer = locals.combination.get();
        let offset = value.wrapping_sub(least) as u32;
        locals.set(self.parameters[parameter].local, LocalValue::Value(value));
        let further = offset.wrapping_mul(self.plan.strides[parameter]);
        locals.combination.set(outer.wrapping_add(further));
        let went = go_on(locals);
        locals.combination.set(outer);
        went
    }
}
