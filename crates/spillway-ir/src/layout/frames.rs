//! The frames of the local variables of bodies.
//!
//! No function calls itself, so each function has one frame for its arguments by value and its local variables. So
//! has each action and each start. The frames of actions and starts never exist at the same time, so they begin at
//! the same bit. The frames of functions follow, side by side. Within a frame, every local has cells of its own.

use super::builder::LayoutBuilder;
use super::{CellId, Layout};
use crate::{ActionId, Arena, Entity, FunctionId, LocalId, Stmt, StmtKind, TypeId};

/// The cells of locals, by body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalFrames {
    /// The frame of each action.
    pub actions: Arena<ActionId, LocalFrame>,
    /// The frame of each start, in order.
    pub starts: Vec<LocalFrame>,
    /// The frame of each function.
    pub functions: Arena<FunctionId, LocalFrame>,
    /// The number of bytes of a state with all frames after it.
    pub bytes: usize,
}

/// The cells of one body's locals, by [`LocalId`]; `None` for a local without cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalFrame(Vec<Option<CellId>>);

impl LocalFrame {
    /// Returns the first cell of a local.
    pub fn cell(&self, local: LocalId) -> Option<CellId> {
        self.0.get(local.index()).copied().flatten()
    }
}

impl LocalFrames {
    /// Creates the cells of all frames after a state of `bytes` bytes.
    pub(super) fn new(builder: &mut LayoutBuilder, bytes: usize) -> LocalFrames {
        let program = builder.program;
        let start = bytes as u32 * 8;
        let mut end = start;
        let mut overlaid = |builder: &mut LayoutBuilder, body: &[Stmt]| {
            builder.bits = start;
            let frame = frame(builder, &[], body);
            end = end.max(builder.bits);
            frame
        };
        let actions = program.actions.values().map(|it| overlaid(builder, &it.body)).collect();
        let starts = program.starts.iter().map(|it| overlaid(builder, &it.body)).collect();
        builder.bits = end;
        let functions = program.functions.values().map(|function| {
            let given = function.parameters.iter().filter(|it| !it.by_reference);
            let given: Vec<_> = given.map(|it| (it.local, it.ty)).collect();
            frame(builder, &given, &function.body)
        });
        let functions = functions.collect();
        LocalFrames { actions, starts, functions, bytes: builder.bits.div_ceil(8) as usize }
    }
}

impl Layout {
    /// Returns whether any body has locals with cells.
    pub fn has_frames(&self) -> bool {
        self.frames.bytes > self.bytes
    }
}

fn frame(builder: &mut LayoutBuilder, given: &[(LocalId, TypeId)], body: &[Stmt]) -> LocalFrame {
    let mut locals = given.to_vec();
    declared(body, &mut locals);
    let mut frame = LocalFrame::default();
    for (local, ty) in locals {
        let length = frame.0.len().max(local.index() + 1);
        frame.0.resize(length, None);
        frame.0[local.index()] = Some(builder.next());
        builder.cells_of(ty, None);
    }
    frame
}

/// Collects every local variable that statements declare, at any depth.
fn declared(body: &[Stmt], locals: &mut Vec<(LocalId, TypeId)>) {
    for stmt in body {
        if let StmtKind::Declare { local, ty, .. } = &stmt.kind {
            locals.push((*local, *ty));
        }
        stmt.kind.bodies().for_each(|body| declared(body, locals));
    }
}
