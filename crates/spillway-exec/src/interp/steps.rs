//! The steps of a state and their order.
//!
//! A *step* is one action, or a sequence of actions without interleaving. After an action that continues the step, the
//! same process continues: with each of its enabled actions (`atomic`) or with the first (`d_step`). If it is blocked,
//! an atomic sequence ends there, and a `d_step` fails. A rendezvous is two actions in one step (see `rendezvous`).
//!
//! Interleaved programs list the steps mover by mover (see `scheduling`), the actions of each in their order. With
//! dynamic processes, the steps of a mover are begun first and then completed, depth first. Without them, every step
//! is one action or one rendezvous, and it is complete when it begins. Programs in lockstep are in `lockstep`.

use super::failure::fault;
use super::frames::{BodyFlow, EvalContext, LocalEnv};
use super::scheduling::{MoverContext, MoverMode};
use super::step_sink::{
    BoundAction, OfferOutcome, OpenStep, StepAction, StepSink, StepTarget, StepTargetVisitor, with,
};
use super::{EvalFailure, Interp};
use spillway_analysis::instances::ActionInstance;
use spillway_base::source::Span;
use spillway_ir::{
    Action, ActionId, AssertionRule, Communication, ProcessId, ProcessInstance, Schedule, Stmt,
    StmtKind, TurnRule,
};
use spillway_model::{FaultKind, stop_request};

/// The maximum number of intermediate states inside the steps that one mover begins in one state. More are an error of
/// the model: the step cycles, or it branches too often.
pub(crate) const WITHIN_MAX: u32 = 1 << 20;

/// The maximum number of pending intermediate states at one time. Their number grows with the length of a step that
/// contains choices.
const WAITING_MAX: usize = 1 << 16;

/// The number of first actions that are reported of a step with too many intermediate states. Its last action is
/// reported, too.
const LISTED_MAX: usize = 32;

impl Interp {
    /// Calls `visit` with every step of `state`.
    pub(super) fn each_step(&self, state: &[u8], visit: &mut StepTargetVisitor) {
        match self.program.schedule {
            Schedule::Lockstep => self.lockstep(state, visit),
            Schedule::Interleaved => {
                self.each_mover(state, &mut |look| self.mover_steps(look, &|_| true, visit));
            }
        }
    }

    /// Visits the successors of a state by one mover's steps, or by those of all movers. A step that fails has none.
    pub fn each_successor(
        &self,
        state: &[u8],
        by: Option<ProcessInstance>,
        visit: &mut dyn FnMut(&[u8]),
    ) {
        let visit = &mut |_: &[StepAction], result: Result<StepTarget, EvalFailure>| {
            result.ok().and_then(StepTarget::successor).into_iter().for_each(&mut *visit);
        };
        match by {
            None => self.each_step(state, visit),
            Some(_) => {
                let look = MoverContext::new(state, by, MoverMode::All);
                self.mover_steps(&look, &|_| true, visit);
            }
        }
    }

    /// Calls `visit` with every step of a mover that begins with a `wanted` instance. Returns whether there is any
    /// step, wanted or not.
    pub(crate) fn mover_steps(
        &self,
        look: &MoverContext,
        wanted: &dyn Fn(ActionInstance) -> bool,
        visit: &mut StepTargetVisitor,
    ) -> bool {
        let is_wanted = |taken: &[StepAction]| self.begun(look.mover, taken).is_some_and(wanted);
        let visit_wanted: &mut StepTargetVisitor = &mut |taken, result| {
            if is_wanted(taken) {
                visit(taken, result);
            }
        };
        let mut out = StepSink::new(visit_wanted);
        let any = self.offers(look, &mut out);
        let mut open = out.open;
        open.retain(|it| is_wanted(&it.taken));
        self.complete_open_steps(open, visit);
        any
    }

    /// Calls `visit` with the action instances that a mover can begin. Returns whether there is any.
    pub(crate) fn visit_offers(
        &self,
        look: &MoverContext,
        visit: &mut dyn FnMut(ActionInstance),
    ) -> bool {
        let mut tell = |taken: &[StepAction]| {
            self.begun(look.mover, taken).into_iter().for_each(&mut *visit);
        };
        let visit_step: &mut StepTargetVisitor = &mut |taken, _| tell(taken);
        let mut out = StepSink::new(visit_step);
        let any = self.offers(look, &mut out);
        let open = out.open;
        open.iter().for_each(|it| tell(&it.taken));
        any
    }

    /// Returns the action instance that a step of a mover begins with.
    pub(crate) fn begun(
        &self,
        mover: Option<ProcessInstance>,
        taken: &[StepAction],
    ) -> Option<ActionInstance> {
        let mover_of = |it: &StepAction| (self.process_of(it), it.slot);
        match *taken {
            [] => mover
                .map(|ProcessInstance { process, slot }| ActionInstance::MayMove { process, slot }),
            // A process that continues after its own action is the same mover.
            [one, other, ..] if mover_of(&one) != mover_of(&other) => {
                let sends = |it: &StepAction| {
                    let communication = &self.program.actions[it.action].communication;
                    matches!(communication, Some(Communication::Send { .. }))
                };
                let (sender, receiver) = if sends(&one) { (one, other) } else { (other, one) };
                Some(ActionInstance::Meeting { sender: sender.side(), receiver: receiver.side() })
            }
            [one, ..] => Some(ActionInstance::Alone(one.side())),
        }
    }

    fn process_of(&self, taken: &StepAction) -> Option<ProcessId> {
        self.program.actions[taken.action].edge.map(|edge| edge.process)
    }

    /// Returns whether any step is possible without `timeout`.
    pub fn can_move_at_once(&self, state: &[u8]) -> bool {
        self.movers(state, MoverMode::All).into_iter().any(|mover| {
            let look = MoverContext::new(state, mover, MoverMode::All);
            self.offers(&look, &mut StepSink::new(&mut |_, _| {}))
        })
    }

    /// Returns the first endless step of `state` among those that begin with a `wanted` instance: its last action and
    /// the error.
    pub(crate) fn endless_step(
        &self,
        state: &[u8],
        wanted: &dyn Fn(ActionInstance) -> bool,
    ) -> Option<(ActionId, EvalFailure)> {
        let mut found = None;
        let mut visit = |taken: &[StepAction], result: Result<StepTarget, EvalFailure>| match result
        {
            Err(failure) if failure.message == endless_message() => {
                let last = taken.last().map_or(ActionId(0), |it| it.action);
                found.get_or_insert((last, failure));
            }
            _ => {}
        };
        self.each_mover(state, &mut |look| self.mover_steps(look, wanted, &mut visit));
        found
    }

    /// Completes the steps that have been begun, depth first.
    fn complete_open_steps(&self, mut open: Vec<OpenStep>, visit: &mut StepTargetVisitor) {
        open.reverse();
        let mut within_seen = 0;
        // The actions of the current step.
        let mut path = Vec::new();
        while let Some(within) = open.pop() {
            let OpenStep { state, depth, taken, mover, turn } = &within;
            path.truncate(*depth);
            path.extend_from_slice(taken);
            visit(&path[*depth..], Ok(StepTarget::Intermediate));
            if *turn == TurnRule::Open {
                visit(&path, Ok(StepTarget::To(state)));
                continue;
            }
            within_seen += 1;
            if stop_request::is_requested() {
                return;
            }
            if within_seen > WITHIN_MAX || open.len() > WAITING_MAX {
                let span = self.span_of_last(&path);
                let failure = fault(FaultKind::Limit, span, endless_message());
                let last = path.last().copied();
                path.truncate(LISTED_MAX);
                path.extend(last);
                return visit(&path, Err(failure));
            }
            let is_first = *turn == TurnRule::First;
            let mode = if is_first { MoverMode::First } else { MoverMode::All };
            let look = MoverContext { before: &path, ..MoverContext::new(state, *mover, mode) };
            let mut next = StepSink::new(visit);
            let any = self.offers(&look, &mut next);
            open.extend(next.open.into_iter().rev());
            if !any && is_first {
                let message = "the d_step blocks after this";
                let failure = fault(FaultKind::Error, self.span_of_last(&path), message);
                visit(&path, Err(failure));
            } else if !any {
                visit(&path, Ok(StepTarget::To(state)));
            }
        }
    }

    fn span_of_last(&self, taken: &[StepAction]) -> Span {
        taken.last().map(|it| self.program.actions[it.action].span).unwrap_or_default()
    }

    /// Begins all steps of a mover; returns whether there is any.
    fn offers(&self, look: &MoverContext, out: &mut StepSink) -> bool {
        let Some(actions) = self.actions_of(look) else { return false };
        // Inside a `d_step`, `provided` and priorities are not evaluated again.
        let may_move = match look.mode {
            MoverMode::First => Ok(true),
            _ => self.may_move(look.state, &look.locals(LocalEnv::default())),
        };
        match may_move {
            Ok(true) => {}
            Ok(false) => return false,
            Err(failure) => {
                (out.visit)(look.before, Err(failure));
                return true;
            }
        }
        let (mut any, mut tier) = (false, 0);
        for &id in &*actions {
            let control = self.program.actions[id].control;
            if (tier != 0 && tier != control.tier) || (look.mode == MoverMode::First && any) {
                break;
            }
            if control.otherwise && any {
                continue;
            }
            match self.offer(look, id, out) {
                OfferOutcome::Nothing => {}
                OfferOutcome::NoReceiver => tier = 0,
                OfferOutcome::Taken => (any, tier) = (true, control.tier),
            }
        }
        any
    }

    /// Begins all steps of one action, for each combination of its parameter values.
    fn offer(&self, look: &MoverContext, id: ActionId, out: &mut StepSink) -> OfferOutcome {
        let action = &self.program.actions[id];
        let locals = look.locals(LocalEnv::new(&self.layout.frames.actions[id]));
        let mut outcome = OfferOutcome::Nothing;
        self.each_likely_binding(id, look.state, &locals, &mut |locals| {
            let bound = BoundAction { id, action, locals };
            match self.offer_bound(look, bound, out) {
                Ok(OfferOutcome::Nothing) => {}
                Ok(came) => outcome = came,
                Err(failure) => {
                    (out.visit)(&with(look.before, &[bound.taken()]), Err(failure));
                    outcome = OfferOutcome::Taken;
                }
            }
        });
        outcome
    }

    fn offer_bound(
        &self,
        look: &MoverContext,
        bound: BoundAction,
        out: &mut StepSink,
    ) -> Result<OfferOutcome, EvalFailure> {
        let BoundAction { action, locals, .. } = bound;
        if let Some(communication) = &action.communication
            && !self.has_slots
            && self.is_rendezvous(communication)
        {
            return Ok(match communication {
                Communication::Send { .. } => OfferOutcome::Nothing,
                Communication::Receive { .. } => self.meet_senders(look, bound, out),
            });
        }
        if !self.holds(action.guard.as_ref(), look.state, locals)? {
            return Ok(OfferOutcome::Nothing);
        }
        if let Some(communication) = &action.communication {
            let channel = self.channel(communication.channel(), look.state, locals)?;
            if self.program.channels[channel.id].capacity == 0 {
                return match communication {
                    Communication::Receive { .. } => Ok(OfferOutcome::Nothing),
                    Communication::Send { .. } => self.meet_receivers(look, bound, channel, out),
                };
            }
            if !self.is_ready(communication, look.state, locals)? {
                return Ok(OfferOutcome::Nothing);
            }
        }
        let (taken, StepSink { work, open, visit }) = (bound.taken(), out);
        let tell = &mut |failure| visit(&with(look.before, &[taken]), Err(failure));
        let context = EvalContext { state: look.state, locals };
        let is_taken = self.take(action, context, work, tell)?;
        if !self.has_slots {
            self.end_step(&[taken], Ok(is_taken), work, visit);
        } else {
            let (state, depth) = (work[..self.layout.bytes].to_vec(), look.before.len());
            let turn = action.control.turn;
            open.push(OpenStep { state, depth, taken: vec![taken], mover: look.mover, turn });
        }
        Ok(OfferOutcome::Taken)
    }

    /// Calls `visit` with the result of actions that changed a state to `work`, or of an action that was not taken.
    pub(super) fn end_step(
        &self,
        taken: &[StepAction],
        are_taken: Result<bool, EvalFailure>,
        work: &mut [u8],
        visit: &mut StepTargetVisitor,
    ) {
        match are_taken {
            Ok(false) => {}
            Ok(true) => {
                let target = self.arrive(work);
                if target.is_ok() {
                    visit(taken, Ok(StepTarget::Intermediate));
                }
                visit(taken, target);
            }
            Err(failure) => visit(taken, Err(failure)),
        }
    }

    /// Returns whether an action can be taken alone.
    pub(super) fn is_enabled(
        &self,
        action: &Action,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<bool, EvalFailure> {
        if !self.holds(action.guard.as_ref(), state, locals)? {
            return Ok(false);
        }
        match &action.communication {
            Some(communication) => self.is_ready(communication, state, locals),
            None => Ok(true),
        }
    }

    /// Takes an enabled action alone, on a copy of the state in `work`: the message, the move, the body. Returns false
    /// if an assumption fails. `tell` gets an error after which the step continues.
    pub(super) fn take(
        &self,
        action: &Action,
        context: EvalContext<'_>,
        work: &mut Vec<u8>,
        tell: &mut dyn FnMut(EvalFailure),
    ) -> Result<bool, EvalFailure> {
        let EvalContext { state, locals } = context;
        self.load(state, work);
        if let Some(communication) = &action.communication {
            self.exchange(communication, context, work, tell)?;
        }
        self.complete(action, work, locals, tell).map_err(|mut failure| {
            if !self.has_slots {
                let reached = || work[..self.layout.bytes].to_vec();
                failure.reached.get_or_insert_with(reached);
            }
            failure
        })
    }

    /// Moves, and runs the body. Returns false if an assumption fails. With dynamic processes, `tell` gets a failed
    /// assertion after which the step continues.
    pub(super) fn complete(
        &self,
        action: &Action,
        state: &mut [u8],
        locals: &LocalEnv,
        tell: &mut dyn FnMut(EvalFailure),
    ) -> Result<bool, EvalFailure> {
        if let Some(edge) = action.edge {
            let mover = ProcessInstance { process: edge.process, slot: locals.slot() };
            if let Some(last) = self.program.last {
                let pid = self.pid(state, mover);
                self.layout.set(state, self.layout.variables[last].first, Some(pid));
            }
            self.set_location(state, mover, edge.to);
        }
        if !self.has_slots || self.program.assertions != AssertionRule::Continue {
            return self.finish(&action.body, state, locals);
        }
        for stmt in &action.body {
            match (&stmt.kind, self.statement(stmt, state, locals)) {
                (_, Ok(_)) => {}
                (StmtKind::Assert { .. }, Err(failure)) if failure.kind.is_assertion() => {
                    tell(failure);
                }
                (_, Err(failure)) => return Err(failure),
            }
        }
        Ok(true)
    }

    /// Runs the body of an action or start. Returns false if an assumption fails.
    pub(super) fn finish(
        &self,
        body: &[Stmt],
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<bool, EvalFailure> {
        Ok(!matches!(self.run(body, state, locals)?, BodyFlow::Dropped))
    }

    /// Ends a step or a start after all its bodies have run.
    pub(super) fn arrive<'w>(&self, work: &'w mut [u8]) -> Result<StepTarget<'w>, EvalFailure> {
        self.sort_multisets(work);
        for assumption in &self.assumptions {
            if self.eval(assumption, work, &LocalEnv::default())? == 0 {
                return Ok(StepTarget::LeftOut);
            }
        }
        Ok(StepTarget::To(&work[..self.layout.bytes]))
    }
}

fn endless_message() -> String {
    format!(
        "this atomic step does not end: it has more than {WITHIN_MAX} intermediate states, or {WAITING_MAX} choices \
         in a row"
    )
}
