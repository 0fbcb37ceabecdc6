//! The items of a state that may be relevant, and those that code reads and writes.

use spillway_analysis::bit_sets;
use spillway_analysis::live_variables::ScalarNumbering;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    Action, ChannelId, ChannelRef, Entity, Expr, ExprKind, FunctionId, LocationId, Place,
    ProcessId, Program, Stmt, StmtKind, Urgency,
};
use std::collections::BTreeSet;

/// Numbers the items: scalars of variables, channels, locations of processes, the existence of instances, the
/// existence of a process at a committed location, and the enabledness of actions.
#[derive(Debug)]
pub(super) struct SliceItems {
    pub scalars: ScalarNumbering,
    channels: usize,
    /// The number of the first location of each process.
    locations: Vec<usize>,
    /// The existence of instances.
    pub instances: usize,
    /// Whether a process is at a committed location.
    pub commitment: usize,
    /// Which actions are enabled.
    pub steps: usize,
}

impl SliceItems {
    /// Numbers the items of a program. Returns `None` if there are too many.
    pub fn new(program: &Program) -> Option<SliceItems> {
        let scalars = ScalarNumbering::new(program)?;
        let channels = scalars.count();
        let mut next = channels + program.channels.len();
        let mut locations = Vec::new();
        for process in program.processes.values() {
            locations.push(next);
            next += process.locations.len();
        }
        let (instances, commitment, steps) = (next, next + 1, next + 2);
        Some(SliceItems { scalars, channels, locations, instances, commitment, steps })
    }

    /// Returns the number of items.
    pub fn count(&self) -> usize {
        self.steps + 1
    }

    /// Returns the empty set.
    pub fn none(&self) -> Vec<u64> {
        vec![0; bit_sets::words_of(self.count())]
    }

    fn channel(&self, id: ChannelId) -> usize {
        self.channels + id.index()
    }

    /// Returns the item for a process at a location.
    pub fn at(&self, process: ProcessId, location: LocationId) -> usize {
        self.locations[process.index()] + location.index()
    }

    /// Adds the scalars that a place may denote to a set.
    pub fn add_place(&self, program: &Program, place: &Place, set: &mut [u64]) {
        if let Some(meant) = self.scalars.of_place(program, place) {
            meant.scalars.for_each(|it| bit_sets::insert(set, it));
        }
    }
}

/// Collects all items that code names, read or written.
pub(super) struct NamedItems<'n> {
    pub program: &'n Program,
    pub items: &'n SliceItems,
    pub found: &'n mut [u64],
    functions: BTreeSet<FunctionId>,
}

impl<'n> NamedItems<'n> {
    pub fn new(
        program: &'n Program,
        items: &'n SliceItems,
        found: &'n mut [u64],
    ) -> NamedItems<'n> {
        NamedItems { program, items, found, functions: BTreeSet::new() }
    }

    fn function(&mut self, id: FunctionId) {
        if self.functions.insert(id) {
            let program = self.program;
            walk::body(self, &program.functions[id].body);
        }
    }
}

impl CodeVisitor for NamedItems<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Call { function, .. } => self.function(*function),
            StmtKind::Exit => bit_sets::insert(self.found, self.items.instances),
            StmtKind::Run { process, .. } => {
                bit_sets::insert(self.found, self.items.instances);
                let process = &self.program.processes[*process];
                let scalars = process.parameters.iter().flat_map(|&it| self.items.scalars.of(it));
                scalars.for_each(|it| bit_sets::insert(self.found, it));
                walk::body(self, &process.life.prologue);
            }
            _ => {}
        }
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call(function, _) => self.function(*function),
            ExprKind::At { process, slot, location } => {
                bit_sets::insert(self.found, self.items.at(*process, *location));
                if slot.is_some() {
                    bit_sets::insert(self.found, self.items.instances);
                }
            }
            ExprKind::Processes | ExprKind::SlotOf(..) => {
                bit_sets::insert(self.found, self.items.instances);
            }
            ExprKind::Timeout | ExprKind::Enabled(_) | ExprKind::PriorityOf(_) => {
                bit_sets::insert(self.found, self.items.steps);
            }
            _ => {}
        }
        walk::expr(self, expr);
    }

    fn place(&mut self, place: &Place, _: PlaceAccess) {
        self.items.add_place(self.program, place, self.found);
        // Naming an instance observes whether it exists.
        if place.slot.is_some() {
            bit_sets::insert(self.found, self.items.instances);
        }
        walk::place(self, place);
    }

    fn channel(&mut self, channel: &ChannelRef, _: PlaceAccess) {
        let all = channel.possible_channels(self.program);
        all.for_each(|it| bit_sets::insert(self.found, self.items.channel(it)));
        walk::channel(self, channel);
    }
}

/// Collects the items that code may change.
struct WrittenItems<'w> {
    program: &'w Program,
    items: &'w SliceItems,
    found: &'w mut [u64],
    functions: BTreeSet<FunctionId>,
}

impl WrittenItems<'_> {
    fn function(&mut self, id: FunctionId) {
        if self.functions.insert(id) {
            let program = self.program;
            walk::body(self, &program.functions[id].body);
        }
    }
}

impl CodeVisitor for WrittenItems<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Call { function, .. } => self.function(*function),
            StmtKind::Exit => bit_sets::insert(self.found, self.items.instances),
            StmtKind::Run { process: id, .. } => {
                bit_sets::insert(self.found, self.items.instances);
                let process = &self.program.processes[*id];
                bit_sets::insert(self.found, self.items.at(*id, process.start));
                let locals = self.items.scalars.of_process(self.program, *id);
                locals.for_each(|it| bit_sets::insert(self.found, it));
                walk::body(self, &process.life.prologue);
            }
            _ => {}
        }
        walk::stmt(self, stmt);
    }

    fn place(&mut self, place: &Place, access: PlaceAccess) {
        if access == PlaceAccess::Write {
            self.items.add_place(self.program, place, self.found);
        }
        walk::place(self, place);
    }

    fn channel(&mut self, channel: &ChannelRef, access: PlaceAccess) {
        if access == PlaceAccess::Write {
            let all = channel.possible_channels(self.program);
            all.for_each(|it| bit_sets::insert(self.found, self.items.channel(it)));
        }
        walk::channel(self, channel);
    }
}

/// Returns the items that an action may change.
pub(super) fn written(program: &Program, items: &SliceItems, action: &Action) -> Vec<u64> {
    let mut found = written_by(program, items, &action.body);
    let mut writes = WrittenItems { program, items, found: &mut found, functions: BTreeSet::new() };
    action.communication.iter().for_each(|it| writes.communication(it));
    let Some(edge) = action.edge.filter(|it| it.from != it.to || ends(&action.body)) else {
        return found;
    };
    let locations = &program.processes[edge.process].locations;
    for at in [edge.from, edge.to] {
        bit_sets::insert(&mut found, items.at(edge.process, at));
        if locations[at].urgency == Urgency::Committed {
            bit_sets::insert(&mut found, items.commitment);
        }
    }
    found
}

/// Returns the items that a body may change.
pub(super) fn written_by(program: &Program, items: &SliceItems, body: &[Stmt]) -> Vec<u64> {
    let mut found = items.none();
    let functions = BTreeSet::new();
    walk::body(&mut WrittenItems { program, items, found: &mut found, functions }, body);
    found
}

/// Whether the mover ends with a body.
pub(super) fn ends(body: &[Stmt]) -> bool {
    walk::any_stmt(body, &|it| *it == StmtKind::Exit)
}
