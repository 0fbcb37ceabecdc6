//! The searches of the explorer, and the breakpoints at which the last step of a walk stops. Expressions are conditions
//! of the model, which is read again with them. Its steps have the same numbers.

use super::request::ExplorerRequest;
use super::run_to::{self, RunGoal, RunResult};
use crate::cli::breakpoints::{BreakpointKind, BreakpointSet, WatchedBreakpoints, breakpoint_name};
use crate::cli::expression_watch::{ExpressionWatch, condition};
use crate::cli::model_walk::{ModelWalk, WalkStep};
use crate::cli::reachable_graph::walkable;
use crate::cli::state_goal::StateGoal;
use crate::model::StateCondition;
use crate::report::RunWay;
use crate::session::{Error, SearchJob};

/// Searches from the end of a walk with breakpoints. The job reads its model again.
#[derive(Clone, Copy)]
pub(super) struct ExplorerSearch<'w> {
    pub job: &'w SearchJob,
    pub walk: &'w ModelWalk<'w>,
    pub breakpoints: &'w BreakpointSet,
}

impl ExplorerSearch<'_> {
    /// Searches for a state or a breakpoint. `None` if the job has no model with expressions.
    pub(super) fn run(self, request: &ExplorerRequest) -> Result<Option<RunResult>, Error> {
        let is_program = self.walk.model.as_program().is_some();
        let until = Some(&request.until).filter(|it| !it.is_empty());
        let condition = until.map(|it| StateGoal::condition(it, is_program));
        self.with_conditions(condition, |walk| {
            let until = until.and_then(|_| StateGoal::of_condition(walk.model, walk.walked));
            let breakpoints = self.watched(walk);
            let goal = RunGoal { until, breakpoints };
            match request.way {
                RunWay::Random => run_to::at_random(walk, &goal, request.seed, request.bounds()),
                RunWay::Nearest | RunWay::Stored => run_to::nearest(walk, &goal, request.bounds()),
            }
        })
    }

    /// Returns the numbers of the breakpoints at which the last step of the walk stops.
    pub(super) fn hit_by_last_step(self) -> Result<Vec<usize>, Error> {
        let Some((last, before)) = self.walk.steps.split_last() else { return Ok(Vec::new()) };
        let hit = self.with_conditions(None, |walk| {
            let watched = self.watched(walk);
            let before = watched.facts(walk.steps[..before.len()].last().and_then(WalkStep::state));
            let after = watched.facts(walk.state());
            let hit = watched.hit(&last.step, &before, &after);
            hit.iter().map(|it| it.number).collect()
        });
        hit.map(Option::unwrap_or_default)
    }

    /// Returns why the expression of a breakpoint is no condition in the current state.
    pub(super) fn condition_refusal(self, number: usize) -> Result<Option<String>, Error> {
        let refusal = self.with_conditions(None, |walk| {
            let name = breakpoint_name(number);
            let watch = ExpressionWatch::of_condition(&name, walk.model, walk.walked)?;
            watch.condition_refusal(walk, walk.state()?)
        });
        refusal.map(Option::flatten)
    }

    fn watched<'b>(self, walk: &'b ModelWalk<'b>) -> WatchedBreakpoints<'b>
    where
        Self: 'b,
    {
        WatchedBreakpoints::of(self.breakpoints.iter(), walk.model, walk.walked)
    }

    /// Passes the walk to a function, in a model with the expressions of the breakpoints and a further condition. `None`
    /// if there is no such model.
    fn with_conditions<R>(
        self,
        further: Option<StateCondition>,
        and_then: impl FnOnce(&ModelWalk<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        let is_program = self.walk.model.as_program().is_some();
        let expressions =
            self.breakpoints.iter().filter(|it| it.kind == BreakpointKind::Expression);
        let conditions =
            expressions.map(|it| condition(&breakpoint_name(it.number), &it.text, is_program));
        let conditions: Vec<StateCondition> = conditions.chain(further).collect();
        if conditions.is_empty() {
            return Ok(Some(and_then(self.walk)));
        }
        let Some(model) = self.job.model_with_conditions(conditions)? else { return Ok(None) };
        let searched = model.searched();
        let mut walk = ModelWalk::new(&*model, walkable(&searched));
        if !self.walk.steps.iter().all(|it| walk.take(it.choice)) {
            unreachable!("a further condition changes no step")
        }
        Ok(Some(and_then(&walk)))
    }
}
