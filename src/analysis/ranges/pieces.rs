//! The pieces of code that store values, and which of them are to be run again: those that mention what has changed. A counter
//! that goes on for long is found in the actions that ask for it, and the others are left alone.

use crate::analysis::bits;
use crate::ir::walk::{self, Access, Visitor};
use crate::ir::{Action, Arena, ChannelId, ChannelRef, Place, Process, Program, Start, VarId};
use std::collections::BTreeSet;

/// A piece of code.
#[derive(Clone, Copy)]
pub(super) enum Code<'a> {
    /// A way to begin.
    Start(&'a Start),
    /// What instances of a process do when they are started.
    Process(&'a Process),
    Action(&'a Action),
}

/// All of a program's pieces.
pub(super) struct Pieces<'a> {
    all: Vec<Code<'a>>,
    /// Those that are to be run.
    due: Vec<u64>,
    /// The one behind that which was run last: all have their turn.
    next: usize,
    /// The pieces that mention each variable, and each channel.
    of_variables: Arena<VarId, Vec<usize>>,
    of_channels: Arena<ChannelId, Vec<usize>>,
}

impl<'a> Pieces<'a> {
    /// Those of a program, all of which are to be run.
    pub fn of(program: &'a Program) -> Pieces<'a> {
        let starts = program.starts.iter().map(Code::Start);
        let processes = program.processes.values().map(Code::Process);
        let all = starts.chain(processes).chain(program.actions.values().map(Code::Action));
        let mut pieces = Pieces {
            all: all.collect(),
            due: Vec::new(),
            next: 0,
            of_variables: program.variables.values().map(|_| Vec::new()).collect(),
            of_channels: program.channels.values().map(|_| Vec::new()).collect(),
        };
        pieces.due.resize(bits::words_of(pieces.all.len()), 0);
        for (at, &code) in pieces.all.iter().enumerate() {
            bits::insert(&mut pieces.due, at);
            let Mentions { variables, channels, .. } = mentioned(program, code);
            variables.into_iter().for_each(|it| pieces.of_variables[it].push(at));
            channels.into_iter().for_each(|it| pieces.of_channels[it].push(at));
        }
        pieces
    }

    /// The next one that is to be run; none if nothing would come to anything else.
    pub fn take(&mut self) -> Option<Code<'a>> {
        let from = |first| bits::first_from(&self.due, first);
        let at = from(self.next).or_else(|| from(0))?;
        bits::take_out(&mut self.due, at);
        self.next = at + 1;
        Some(self.all[at])
    }

    /// Notes that more is known of a variable.
    pub fn changed(&mut self, variable: VarId) {
        self.of_variables[variable].iter().for_each(|&it| bits::insert(&mut self.due, it));
    }

    /// Notes that more is known of a channel's messages.
    pub fn channel_changed(&mut self, channel: ChannelId) {
        self.of_channels[channel].iter().for_each(|&it| bits::insert(&mut self.due, it));
    }
}

/// What a piece mentions.
struct Mentions<'a> {
    program: &'a Program,
    variables: BTreeSet<VarId>,
    channels: BTreeSet<ChannelId>,
}

fn mentioned<'a>(program: &'a Program, code: Code<'a>) -> Mentions<'a> {
    let mut mentions = Mentions { program, variables: BTreeSet::new(), channels: BTreeSet::new() };
    match code {
        Code::Start(it) => walk::body(&mut mentions, &it.body),
        Code::Process(it) => walk::body(&mut mentions, &it.life.prologue),
        Code::Action(it) => walk::action(&mut mentions, it),
    }
    mentions
}

impl Visitor for Mentions<'_> {
    fn place(&mut self, place: &Place, _: Access) {
        self.variables.extend(super::root(place));
        walk::place(self, place);
    }

    fn channel(&mut self, channel: &ChannelRef, _: Access) {
        self.channels.extend(channel.meant(self.program));
        walk::channel(self, channel);
    }
}
