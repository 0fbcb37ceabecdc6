//! The pieces of code that store values, and which of them are to be run again: those that mention what has changed. A counter
//! that goes on for long is found in the actions that ask for it, and the others are left alone.

use crate::analysis::bit_sets;
use crate::ir::walk::{self, CodeVisitor, PlaceAccess};
use crate::ir::{Action, Arena, ChannelId, ChannelRef, Place, Process, Program, StartRule, VarId};
use std::collections::BTreeSet;

/// A piece of code.
#[derive(Clone, Copy)]
pub(super) enum CodePiece<'a> {
    /// A way to begin.
    Start(&'a StartRule),
    /// What instances of a process do when they are started.
    Process(&'a Process),
    Action(&'a Action),
}

/// All of a program's pieces.
pub(super) struct CodeWorklist<'a> {
    all: Vec<CodePiece<'a>>,
    /// Those that are to be run.
    due: Vec<u64>,
    /// The one behind that which was run last: all have their turn.
    next: usize,
    /// The pieces that mention each variable, and each channel.
    of_variables: Arena<VarId, Vec<usize>>,
    of_channels: Arena<ChannelId, Vec<usize>>,
}

impl<'a> CodeWorklist<'a> {
    /// Those of a program, all of which are to be run.
    pub fn of(program: &'a Program) -> CodeWorklist<'a> {
        let starts = program.starts.iter().map(CodePiece::Start);
        let processes = program.processes.values().map(CodePiece::Process);
        let all = starts.chain(processes).chain(program.actions.values().map(CodePiece::Action));
        let mut pieces = CodeWorklist {
            all: all.collect(),
            due: Vec::new(),
            next: 0,
            of_variables: program.variables.values().map(|_| Vec::new()).collect(),
            of_channels: program.channels.values().map(|_| Vec::new()).collect(),
        };
        pieces.due.resize(bit_sets::words_of(pieces.all.len()), 0);
        for (at, &code) in pieces.all.iter().enumerate() {
            bit_sets::insert(&mut pieces.due, at);
            let CodeMentions { variables, channels, .. } = mentioned(program, code);
            variables.into_iter().for_each(|it| pieces.of_variables[it].push(at));
            channels.into_iter().for_each(|it| pieces.of_channels[it].push(at));
        }
        pieces
    }

    /// The next one that is to be run; none if nothing would come to anything else.
    pub fn take(&mut self) -> Option<CodePiece<'a>> {
        let from = |first| bit_sets::first_from(&self.due, first);
        let at = from(self.next).or_else(|| from(0))?;
        bit_sets::remove_member(&mut self.due, at);
        self.next = at + 1;
        Some(self.all[at])
    }

    /// Notes that more is known of a variable.
    pub fn changed(&mut self, variable: VarId) {
        self.of_variables[variable].iter().for_each(|&it| bit_sets::insert(&mut self.due, it));
    }

    /// Notes that more is known of a channel's messages.
    pub fn channel_changed(&mut self, channel: ChannelId) {
        self.of_channels[channel].iter().for_each(|&it| bit_sets::insert(&mut self.due, it));
    }
}

/// What a piece mentions.
struct CodeMentions<'a> {
    program: &'a Program,
    variables: BTreeSet<VarId>,
    channels: BTreeSet<ChannelId>,
}

fn mentioned<'a>(program: &'a Program, code: CodePiece<'a>) -> CodeMentions<'a> {
    let mut mentions =
        CodeMentions { program, variables: BTreeSet::new(), channels: BTreeSet::new() };
    match code {
        CodePiece::Start(it) => walk::body(&mut mentions, &it.body),
        CodePiece::Process(it) => walk::body(&mut mentions, &it.life.prologue),
        CodePiece::Action(it) => walk::action(&mut mentions, it),
    }
    mentions
}

impl CodeVisitor for CodeMentions<'_> {
    fn place(&mut self, place: &Place, _: PlaceAccess) {
        self.variables.extend(super::root(place));
        walk::place(self, place);
    }

    fn channel(&mut self, channel: &ChannelRef, _: PlaceAccess) {
        self.channels.extend(channel.possible_channels(self.program));
        walk::channel(self, channel);
    }
}
