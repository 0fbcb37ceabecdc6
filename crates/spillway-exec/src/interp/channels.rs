//! Channels as values: the channel that a reference denotes, and the numbers of channels.
//!
//! Channels are numbered from 1 in the order of creation: those of the program first, then those of each instance, in
//! the order of pids. Instances end in the opposite order, so a number denotes the same channel as long as it exists.

use super::failure::fault;
use super::frames::LocalEnv;
use super::{EvalFailure, Interp};
use spillway_base::source::Span;
use spillway_ir::{
    ArityMismatch, ChannelId, ChannelRef, Communication, CommunicationFit, Owner, ProcessId,
    ProcessInstance, Program, ReceivePattern,
};
use spillway_model::FaultKind;

/// A channel of the program, or a slot's own channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChannelInstance {
    /// The channel.
    pub id: ChannelId,
    /// The slot that owns it.
    pub slot: u32,
}

/// A receive operation: its channel and patterns.
#[derive(Clone, Copy)]
pub(crate) struct ChannelReceive<'a> {
    /// The channel that it receives from.
    pub channel: ChannelInstance,
    /// What each field of the message must equal, or where it is stored.
    pub patterns: &'a [ReceivePattern],
    /// The position in the source.
    pub span: Span,
}

impl Interp {
    /// Returns the channel that a reference names directly.
    pub(super) fn named(&self, channel: &ChannelRef) -> ChannelId {
        match channel {
            ChannelRef::Named(id) | ChannelRef::Element { first: id, .. } => *id,
            ChannelRef::Computed(_) => unreachable!("only programs with slots compute channels"),
        }
    }

    /// Returns the channel that a reference denotes in a state.
    pub(super) fn channel(
        &self,
        channel: &ChannelRef,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<ChannelInstance, EvalFailure> {
        match channel {
            ChannelRef::Named(id) => Ok(self.owned(*id, locals)),
            ChannelRef::Element { first, count, index } => {
                let at = self.eval(index, state, locals)?;
                if !(0..i64::from(*count)).contains(&at) {
                    let message = format!(
                        "the index is {at}, but the array has elements 0 to {}",
                        count.saturating_sub(1)
                    );
                    return Err(fault(FaultKind::Index, index.span, message));
                }
                Ok(self.owned(ChannelId(first.0 + at as u32), locals))
            }
            ChannelRef::Computed(number) => {
                let value = self.eval(number, state, locals)?;
                self.channel_numbered(value, number.span, state)
            }
        }
    }

    /// Checks whether a communication fits the messages of its channel (see [`spillway_ir::messages`]). `tell` gets an
    /// error after which the step continues.
    pub(super) fn check_arity(
        &self,
        communication: &Communication,
        channel: ChannelInstance,
        tell: &mut dyn FnMut(EvalFailure),
    ) -> Result<(), EvalFailure> {
        let fields = self.program.channels[channel.id].fields.len();
        let failure =
            |misfit| self.misfit(misfit, channel, communication.arity(), communication.span());
        match communication.fit(fields) {
            CommunicationFit::Fits => {}
            CommunicationFit::Continues(misfit) => tell(failure(misfit)),
            CommunicationFit::Fails(misfit) => return Err(failure(misfit)),
        }
        Ok(())
    }

    /// Returns the error of a statement with the wrong number of values or fields.
    pub(super) fn misfit(
        &self,
        misfit: ArityMismatch,
        channel: ChannelInstance,
        given: usize,
        span: Span,
    ) -> EvalFailure {
        let about = &self.program.channels[channel.id];
        let message = misfit.describe(given, &about.name, about.fields.len());
        fault(misfit.into(), span, message)
    }

    fn owned(&self, id: ChannelId, locals: &LocalEnv) -> ChannelInstance {
        let slot = match self.program.channels[id].owner {
            Owner::Program => 0,
            Owner::Process(_) => locals.slot(),
        };
        ChannelInstance { id, slot }
    }

    fn channel_numbered(
        &self,
        number: i64,
        span: Span,
        state: &[u8],
    ) -> Result<ChannelInstance, EvalFailure> {
        let at = usize::try_from(number - 1).ok();
        let found = at.and_then(|at| self.channels.at(at, || self.channel_owners(state)));
        found.ok_or_else(|| {
            let message = match number {
                0 => "this variable holds no channel yet".to_owned(),
                number => format!("there is no channel with the number {number}"),
            };
            fault(FaultKind::Undefined, span, message)
        })
    }

    /// Returns the number of a channel.
    pub(super) fn channel_number(&self, channel: ChannelInstance, state: &[u8]) -> i64 {
        1 + self.channels.position(channel, || self.channel_owners(state)) as i64
    }

    /// Returns every instance whose process has channels of its own, in the order of pids.
    fn channel_owners(&self, state: &[u8]) -> Vec<ProcessInstance> {
        self.instances_of(state, self.channels.own.iter().map(|it| it.0))
    }
}

/// The channels of a program in the order of their numbers.
#[derive(Debug)]
pub(super) struct ChannelOrder {
    /// The channels of the program.
    common: Vec<ChannelId>,
    /// Each process with channels of its own, with these.
    own: Vec<(ProcessId, Vec<ChannelId>)>,
}

impl ChannelOrder {
    pub fn new(program: &Program) -> ChannelOrder {
        let own = program.processes.keys();
        let own = own.map(|it| (it, program.channels_of(Owner::Process(it)).collect()));
        ChannelOrder {
            common: program.channels_of(Owner::Program).collect(),
            own: own.filter(|it: &(_, Vec<_>)| !it.1.is_empty()).collect(),
        }
    }

    /// Returns the channels of an instance of a process.
    fn of(&self, process: ProcessId) -> &[ChannelId] {
        self.own.iter().find(|it| it.0 == process).map_or(&[], |it| &it.1)
    }

    /// Returns the channel at a position. `owners` returns the instances with channels of their own, in order.
    fn at(
        &self,
        mut at: usize,
        owners: impl FnOnce() -> Vec<ProcessInstance>,
    ) -> Option<ChannelInstance> {
        if let Some(&id) = self.common.get(at) {
            return Some(ChannelInstance { id, slot: 0 });
        }
        at -= self.common.len();
        for ProcessInstance { process, slot } in owners() {
            let own = self.of(process);
            if let Some(&id) = own.get(at) {
                return Some(ChannelInstance { id, slot });
            }
            at -= own.len();
        }
        None
    }

    /// Returns the position of a channel. `owners` returns the instances with channels of their own, in order.
    /// The owner of the channel is alive.
    fn position(
        &self,
        channel: ChannelInstance,
        owners: impl FnOnce() -> Vec<ProcessInstance>,
    ) -> usize {
        let position = |of: &[ChannelId]| of.iter().position(|&id| id == channel.id);
        if let Some(at) = position(&self.common) {
            return at;
        }
        let mut before = self.common.len();
        for ProcessInstance { process, slot } in owners() {
            let own = self.of(process);
            match position(own).filter(|_| slot == channel.slot) {
                Some(at) => return before + at,
                None => before += own.len(),
            }
        }
        before
    }
}
