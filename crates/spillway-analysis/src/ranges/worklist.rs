//! A worklist of the pieces of code that store values. A piece is analysed again if it mentions something that has
//! changed. For a counter with many values, only the actions that mention it are repeated.

use crate::bit_sets;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    Action, Arena, ChannelId, ChannelRef, Place, Process, Program, StartRule, VarId,
};
use std::collections::BTreeSet;

/// A piece of code.
#[derive(Clone, Copy)]
pub(super) enum CodePiece<'a> {
    /// A start of the program.
    Start(&'a StartRule),
    /// The prologue of a process.
    Process(&'a Process),
    Action(&'a Action),
}

/// All pieces of code of a program.
pub(super) struct CodeWorklist<'a> {
    all: Vec<CodePiece<'a>>,
    /// The pieces to be analysed.
    due: Vec<u64>,
    /// The piece after the last one that was analysed: all pieces take turns.
    next: usize,
    /// The pieces that mention each variable, and each channel.
    of_variables: Arena<VarId, Vec<usize>>,
    of_channels: Arena<ChannelId, Vec<usize>>,
}

impl<'a> CodeWorklist<'a> {
    /// Creates a worklist of a program with all pieces.
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

    /// Removes and returns the next piece, if there is one.
    pub fn take(&mut self) -> Option<CodePiece<'a>> {
        let from = |first| bit_sets::first_from(&self.due, first);
        let at = from(self.next).or_else(|| from(0))?;
        bit_sets::remove_member(&mut self.due, at);
        self.next = at + 1;
        Some(self.all[at])
    }

    /// Adds the pieces that mention a variable.
    pub fn changed(&mut self, variable: VarId) {
        self.of_variables[variable].iter().for_each(|&it| bit_sets::insert(&mut self.due, it));
    }

    /// Adds the pieces that mention a channel.
    pub fn channel_changed(&mut self, channel: ChannelId) {
        self.of_channels[channel].iter().for_each(|&it| bit_sets::insert(&mut self.due, it));
    }
}

/// The variables and channels that a piece mentions.
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
