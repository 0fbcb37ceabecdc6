//! Lowering of the syntax tree to a program.
//!
//! Every process type becomes a process with slots. A `run` starts an instance; an action at the end of the body ends
//! it. A channel whose variable is never assigned is referred to by name, any other channel by its number, which is
//! SPIN's. Locals whose initial values must be computed get them in the prologue of their process.
//!
//! An `mtype` variable has the names of its set as its domain if only such names are ever stored to variables of the
//! set. Otherwise lowering restarts with that set as bytes.

mod actions;
mod claim;
mod cyclic_transitions;
mod expressions;
mod location_names;
mod message_values;
mod parameters;
mod trace;
mod trace_events;
mod types;
mod unchecked;

pub(super) use claim::chosen_claim;

use super::ARITHMETIC;
use super::ast::{ProcessRole, PromelaProcess};
use super::graph::{self, ControlGraph};
use super::parse::PromelaModel;
use super::symbols::{PromelaInitializer, PromelaSymbol, PromelaType, SymbolId};
use crate::Options;
use spillway_base::components::components;
use spillway_base::diag::Diagnostic;
use spillway_base::source::{SourceMap, Span};
use spillway_ir::{
    self as ir, AssertionRule, ChannelId, EndRule, Entity, EnumId, ExprKind, InstanceCount,
    Location, LocationId, Owner, PidRule, ProcessId, ProcessLifecycle, Program, StartRule, Stmt,
    StmtKind, TypeId, VarId,
};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The default number of slots for instances in addition to those active at the start, if processes are started in
/// loops or by recursion.
pub const SLOTS_DEFAULT: u32 = 16;
/// The maximum number of processes at one time.
const PROCESSES_MAX: u32 = 255;

type LoweringResult<T> = std::result::Result<T, Diagnostic>;

/// A lowered model.
pub struct LoweredModel {
    /// The program.
    pub program: Program,
    /// The conditions of the propositions of the checked property.
    pub conditions: Vec<ir::Expr>,
    /// Warnings.
    pub advice: Vec<Diagnostic>,
}

/// Lowers a model.
pub fn lower(
    model: &PromelaModel,
    sources: &SourceMap,
    options: &Options,
) -> LoweringResult<LoweredModel> {
    let remote: Vec<&str> = model.remote_labels.iter().map(|label| &**label).collect();
    let mut bodies = Vec::new();
    for process in model.processes.iter().filter(|process| process.role == ProcessRole::Process) {
        let control = graph::control_graph(process, &remote)?;
        bodies.push((process, if options.lossy { control.with_losses() } else { control }));
    }
    let claim = claim::chosen_claim(model, &claim::effective_choice(model, options), &remote)?;
    let mut bytes = BTreeSet::new();
    loop {
        let mut lowering = PromelaLowering::new(model, sources, &bodies, bytes.clone());
        let program = lowering.whole(options, claim.as_ref())?;
        if lowering.bytes == bytes {
            let advice = claim::advice(model, &options.claim);
            let chosen = claim.as_ref().map(|(process, _)| *process);
            let unchecked =
                unchecked::unchecked_properties(model, chosen, lowering.asks_for_progress);
            let program = Program { unchecked, ..program };
            let advice = [lowering.warnings, advice].concat();
            return Ok(LoweredModel { program, conditions: lowering.conditions, advice });
        }
        bytes = lowering.bytes;
    }
}

/// The `run`s of each process, by its name: the number of the starting process, and whether the `run` can be repeated.
type RunSites<'a> = HashMap<&'a str, Vec<(usize, bool)>>;

/// The meaning of a symbol in the program.
#[derive(Clone, Copy, Debug)]
enum SymbolMeaning {
    Variable(VarId),
    /// Channels that the name always denotes: the first, and their number.
    Channels(ChannelId, u32),
    /// A parameter that is a structure: a variable for each leaf, from this one on.
    Parts(VarId),
    /// A symbol that is not part of the state.
    Nothing,
}

struct PromelaLowering<'m, 'b> {
    model: &'m PromelaModel,
    sources: &'m SourceMap,
    bodies: &'b [(&'m PromelaProcess, ControlGraph<'m>)],
    program: Program,
    meanings: HashMap<SymbolId, SymbolMeaning>,
    types: HashMap<ir::Type, TypeId>,
    structs: HashMap<usize, TypeId>,
    enums: HashMap<usize, EnumId>,
    /// The automaton of the model's `trace` or `notrace`.
    trace: Option<Rc<trace::TraceAutomaton>>,
    /// The variables that hold message fields for the automaton, by field and type.
    message_variables: HashMap<(usize, TypeId), VarId>,
    /// Sets of names that are stored as bytes.
    bytes: BTreeSet<usize>,
    last: Option<VarId>,
    /// The conditions of the propositions.
    conditions: Vec<ir::Expr>,
    warnings: Vec<Diagnostic>,
    uses_priorities: bool,
    /// Whether a claim is being lowered.
    in_claim: bool,
    /// Whether the claim itself tests `progress` labels.
    asks_for_progress: bool,
}

impl<'m, 'b> PromelaLowering<'m, 'b> {
    fn new(
        model: &'m PromelaModel,
        sources: &'m SourceMap,
        bodies: &'b [(&'m PromelaProcess, ControlGraph<'m>)],
        bytes: BTreeSet<usize>,
    ) -> Self {
        Self {
            model,
            sources,
            bodies,
            program: Program::default(),
            meanings: HashMap::new(),
            types: HashMap::new(),
            structs: HashMap::new(),
            enums: HashMap::new(),
            trace: None,
            message_variables: HashMap::new(),
            bytes,
            last: None,
            conditions: Vec::new(),
            warnings: Vec::new(),
            uses_priorities: model.uses_priorities,
            in_claim: false,
            asks_for_progress: false,
        }
    }

    fn whole(
        &mut self,
        options: &Options,
        claim: Option<&(&'m PromelaProcess, ControlGraph<'m>)>,
    ) -> LoweringResult<Program> {
        self.program = Program {
            arithmetic: ARITHMETIC,
            end: EndRule::AllAtValidEnd,
            assertions: AssertionRule::Continue,
            ..Program::default()
        };
        if self.bodies.iter().all(|(process, _)| process.active == 0) {
            let error = match self.bodies.first() {
                None => Diagnostic::error(Span::default(), "the model has no process"),
                Some((process, _)) => {
                    Diagnostic::error(process.name.span, "no process is active at the start")
                }
            };
            return Err(error.help("declare an `active proctype` or an `init`"));
        }
        let mut body = Vec::new();
        self.globals(&mut body)?;
        if self.model.uses_last {
            self.last_mover();
        }
        self.trace_automaton(&body)?;
        self.processes(options)?;
        for number in 0..self.bodies.len() {
            self.locals(number)?;
        }
        self.starts(body);
        for number in 0..self.bodies.len() {
            self.actions(number)?;
        }
        if let Some((claim, control)) = claim {
            self.claim(claim, control)?;
        }
        if let Some(asked) = &self.model.property {
            self.in_claim = true;
            for (_, proposition) in &asked.propositions {
                let condition = self.expr(proposition, None)?;
                self.conditions.push(condition);
            }
            self.in_claim = false;
        }
        self.program.last = self.last;
        Ok(std::mem::take(&mut self.program))
    }

    fn symbols_of(&self, owner: Option<usize>) -> Vec<(SymbolId, &'m PromelaSymbol)> {
        let model: &'m PromelaModel = self.model;
        model.symbols.all.iter().filter(|(_, symbol)| symbol.owner == owner).collect()
    }

    fn globals(&mut self, body: &mut Vec<Stmt>) -> LoweringResult<()> {
        for (id, symbol) in self.symbols_of(None) {
            self.symbol(id, symbol, Owner::Program, body)?;
        }
        Ok(())
    }

    /// Declares the processes: their locations and slots.
    fn processes(&mut self, options: &Options) -> LoweringResult<()> {
        let runs = self.runs();
        let capacities = self.slots(options, &runs);
        let is_run: Vec<bool> =
            self.bodies.iter().map(|(it, _)| runs.contains_key(&*it.name.text)).collect();
        let mut pid = 0;
        let about = capacities.into_iter().zip(is_run);
        for (&(process, ref control), (capacity, is_run)) in self.bodies.iter().zip(about) {
            let first = pid;
            pid += process.active;
            if pid > PROCESSES_MAX {
                let error = format!(
                    "with this, {pid} processes are active at the start, but there can be {PROCESSES_MAX} \
                     at one time"
                );
                return Err(Diagnostic::error(process.name.span, error)
                    .help("let fewer be `active`, and `run` others when those have ended"));
            }
            let names = self.location_names(control);
            let locations = control.locations.iter().zip(names).map(|(place, name)| Location {
                name,
                urgency: ir::Urgency::Free,
                valid_end: place.marks.end,
                progress: place.marks.progress,
                accepting: place.marks.accepting,
                span: place.span,
            });
            self.program.processes.push(ir::Process {
                name: process_name(process).to_owned(),
                locations: locations.collect(),
                start: LocationId::from_index(control.start),
                instances: InstanceCount::Slots { capacity, active: 0 },
                parameters: Vec::new(),
                life: ProcessLifecycle {
                    pid: if is_run { PidRule::None } else { PidRule::From(first) },
                    ..ProcessLifecycle::default()
                },
                span: process.name.span,
            });
        }
        Ok(())
    }

    /// Returns the `run`s of each process.
    fn runs(&self) -> RunSites<'m> {
        let bodies = self.bodies;
        let mut runs = RunSites::new();
        for (number, (_, control)) in bodies.iter().enumerate() {
            let mut again = None;
            for (at, it) in control.transitions.iter().enumerate() {
                if let Some(started) = actions::started_process(&it.act) {
                    let again = again
                        .get_or_insert_with(|| cyclic_transitions::transitions_on_cycles(control))
                        [at];
                    runs.entry(started).or_default().push((number, again));
                }
            }
        }
        runs
    }

    /// Returns the number of slots of each process.
    fn slots(&mut self, options: &Options, runs: &RunSites) -> Vec<u32> {
        if let Some(looped) = options.slots {
            return self.capacities(looped, runs);
        }
        let bounds = self.capacities(PROCESSES_MAX, runs);
        let slots = self.bodies.iter().zip(&bounds).map(|((process, _), &bound)| {
            let said =
                options.slots_by_process.iter().find(|(name, _)| *name == process_name(process));
            let room = said.map_or(process.active.saturating_add(SLOTS_DEFAULT), |it| it.1);
            match bound {
                ..=SLOTS_DEFAULT => bound,
                _ => room.max(process.active).clamp(1, bound),
            }
        });
        let slots: Vec<u32> = slots.collect();
        self.program.slots_can_grow = slots != bounds;
        slots
    }

    /// Returns the maximum number of instances of each process at one time: those active at the start, and one for each
    /// execution of a `run`. A `run` in a loop or a recursion counts as `looped` executions.
    fn capacities(&self, looped: u32, runs: &RunSites) -> Vec<u32> {
        let of = |number: usize| {
            let name = &*self.bodies[number].0.name.text;
            runs.get(name).map_or(&[][..], Vec::as_slice)
        };
        let numbers = 0..self.bodies.len();
        let edges =
            numbers.clone().flat_map(|number| of(number).iter().map(move |it| (it.0, number)));
        let group = components(self.bodies.len(), &edges.collect::<Vec<_>>());
        let mut most: Vec<u32> = self.bodies.iter().map(|(process, _)| process.active).collect();
        // Groups of processes that start each other are numbered after the groups that start them.
        let mut order: Vec<usize> = numbers.collect();
        order.sort_by_key(|&number| group[number]);
        for number in order {
            let started = of(number).iter().fold(0u32, |sum, &(by, again)| {
                let times = match (group[by] == group[number], again) {
                    (true, _) => looped,
                    (false, true) => looped.saturating_mul(most[by]),
                    (false, false) => most[by],
                };
                sum.saturating_add(times)
            });
            most[number] = most[number].saturating_add(started).min(PROCESSES_MAX);
        }
        most.into_iter().map(|most| most.max(1)).collect()
    }

    fn locals(&mut self, number: usize) -> LoweringResult<()> {
        let id = ProcessId::from_index(number);
        let owner = Owner::Process(id);
        let mut prologue = Vec::new();
        let index = self.index_of(number);
        for (symbol_id, symbol) in self.symbols_of(Some(index)) {
            self.symbol(symbol_id, symbol, owner, &mut prologue)?;
        }
        if let Some(pid) = self.own_pid(number) {
            // This goes first, because the initial values of other variables may use it.
            let (span, overflow) = (self.program.variables[pid].span, ir::OverflowRule::Wraps);
            let value = ir::Expr::new(ExprKind::Self_, span);
            let kind = StmtKind::Assign { target: element(pid, None, span), value, overflow };
            prologue.insert(0, Stmt { kind, span });
        }
        let process = self.bodies[number].0;
        let parameters = self.parameter_variables(&process.parameters)?;
        let span = process.name.span;
        let own = |lowering: &mut Self, name: &str| {
            let ty = lowering.range(0, 255);
            lowering.program.variables.push(ir::Variable {
                name: name.to_owned(),
                ty,
                owner,
                initial: vec![Some(0)],
                span,
            })
        };
        if self.program.processes[id].life.pid == PidRule::None {
            self.program.processes[id].life.pid = PidRule::In(own(self, "_pid"));
        }
        if self.uses_priorities {
            let priority = own(self, "_priority");
            self.program.processes[id].life.priority = Some(priority);
        }
        let provided = match &process.provided {
            Some(condition) => Some(self.expr(condition, Some(number))?),
            None => None,
        };
        let about = &mut self.program.processes[id];
        about.parameters = parameters;
        about.life.prologue = prologue;
        about.life.provided = provided;
        Ok(())
    }

    /// Returns the variable that replaces `_pid` in a process that receives into `_pid`.
    fn own_pid(&self, number: usize) -> Option<VarId> {
        let symbol = self.model.own_pids.get(&self.index_of(number))?;
        match self.meanings.get(symbol) {
            Some(SymbolMeaning::Variable(variable)) => Some(*variable),
            _ => None,
        }
    }

    /// Returns the number in the model of a process, by its number among the lowered processes.
    fn index_of(&self, number: usize) -> usize {
        let name = &self.bodies[number].0.name.text;
        self.model.processes.iter().position(|it| it.name.text == *name).unwrap_or(number)
    }

    /// Declares the meaning of a symbol; initial values that must be computed are appended to `stores`.
    fn symbol(
        &mut self,
        id: SymbolId,
        symbol: &'m PromelaSymbol,
        owner: Owner,
        stores: &mut Vec<Stmt>,
    ) -> LoweringResult<()> {
        if symbol.hidden && !symbol.read && symbol.basic != PromelaType::Channel {
            self.meanings.insert(id, SymbolMeaning::Nothing);
            return Ok(());
        }
        if symbol.parameter && matches!(symbol.basic, PromelaType::Struct(_)) {
            return self.structure_parameter(id, symbol, owner);
        }
        let first = self.channels(symbol, owner)?;
        if let (Some(first), false) = (first, symbol.assigned) {
            self.meanings.insert(id, SymbolMeaning::Channels(first, symbol.length.unwrap_or(1)));
            return Ok(());
        }
        let variable = self.variable(symbol, owner)?;
        self.meanings.insert(id, SymbolMeaning::Variable(variable));
        self.initialize(variable, symbol, first, stores)
    }

    /// Declares the variable of a symbol.
    fn variable(&mut self, symbol: &PromelaSymbol, owner: Owner) -> LoweringResult<VarId> {
        let ty = self.type_of(symbol)?;
        let scalars = self.program.scalars(ty) as usize;
        Ok(self.program.variables.push(ir::Variable {
            name: symbol.name.text.to_string(),
            ty,
            owner,
            initial: vec![Some(0); scalars],
            span: symbol.name.span,
        }))
    }

    /// Initializes the variable of a symbol; its channels begin with `first`.
    fn initialize(
        &mut self,
        variable: VarId,
        symbol: &'m PromelaSymbol,
        first: Option<ChannelId>,
        stores: &mut Vec<Stmt>,
    ) -> LoweringResult<()> {
        let ir::Variable { ty, owner, .. } = self.program.variables[variable];
        let span = symbol.name.span;
        let indices: Vec<Option<u32>> = match symbol.length {
            None => vec![None],
            Some(length) => (0..length).map(Some).collect(),
        };
        if let PromelaType::Struct(number) = symbol.basic {
            for index in &indices {
                let place = element(variable, *index, span);
                self.structure_begins(number, &place, owner, stores)?;
            }
        }
        for (index, value) in self.first_values(symbol, owner, first, &indices)? {
            let target = element(variable, index, span);
            let kind = StmtKind::Assign { target, value, overflow: ir::OverflowRule::Wraps };
            if let (ExprKind::Constant(value), StmtKind::Assign { .. }) =
                (&self.stored_constant(&kind), &kind)
            {
                let at = index.unwrap_or(0) as usize;
                let wrapped = self.wrap_value(ty, *value);
                self.program.variables[variable].initial[at] = Some(wrapped);
            } else {
                stores.push(Stmt { kind, span });
            }
        }
        Ok(())
    }

    /// Returns the nonzero initial values of a variable's elements.
    fn first_values(
        &mut self,
        symbol: &'m PromelaSymbol,
        owner: Owner,
        first: Option<ChannelId>,
        indices: &[Option<u32>],
    ) -> LoweringResult<Vec<(Option<u32>, ir::Expr)>> {
        let number = match owner {
            Owner::Program => None,
            Owner::Process(process) => Some(process.index()),
        };
        let mut values = Vec::new();
        match &symbol.initial {
            PromelaInitializer::Zero => {}
            // SPIN ignores it, too.
            PromelaInitializer::Value(_) if matches!(symbol.basic, PromelaType::Struct(_)) => {}
            PromelaInitializer::Value(value) => {
                self.note_store(symbol.basic, value);
                let value = self.expr(value, number)?;
                values.extend(indices.iter().map(|&index| (index, value.clone())));
            }
            PromelaInitializer::List(list) => {
                for (at, &index) in indices.iter().enumerate() {
                    let Some(value) = list.get(at).or(list.last()) else { break };
                    self.note_store(symbol.basic, value);
                    values.push((index, self.expr(value, number)?));
                }
            }
            PromelaInitializer::Channel { .. } => {
                let Some(first) = first else { return Ok(values) };
                for (at, &index) in indices.iter().enumerate() {
                    let channel = ir::ChannelRef::Named(ChannelId(first.0 + at as u32));
                    let (kind, span) = (ExprKind::ChannelNumber(channel), symbol.name.span);
                    values.push((index, ir::Expr::new(kind, span)));
                }
            }
        }
        Ok(values)
    }

    /// Declares the channels inside a structure, and stores the initial values of its fields.
    fn structure_begins(
        &mut self,
        structure: usize,
        place: &ir::Place,
        owner: Owner,
        stores: &mut Vec<Stmt>,
    ) -> LoweringResult<()> {
        let model: &'m PromelaModel = self.model;
        for (at, field) in model.symbols.structs[structure].fields.iter().enumerate() {
            let mut inner = place.clone();
            inner.path.push(ir::PlaceSelector::Field(at as u32));
            let channels = self.channels(field, owner)?;
            for index in 0..field.length.unwrap_or(1) {
                let mut part = inner.clone();
                if field.length.is_some() {
                    let index = ir::Expr::constant(index.into(), place.span);
                    part.path.push(ir::PlaceSelector::Index(index));
                }
                let span = field.name.span;
                let value = match (&field.initial, channels) {
                    (_, Some(first)) => {
                        let channel = ir::ChannelRef::Named(ChannelId(first.0 + index));
                        ir::Expr::new(ExprKind::ChannelNumber(channel), span)
                    }
                    (PromelaInitializer::Value(value), _) => {
                        self.note_store(field.basic, value);
                        self.expr(value, None)?
                    }
                    _ => {
                        if let PromelaType::Struct(number) = field.basic {
                            self.structure_begins(number, &part, owner, stores)?;
                        }
                        continue;
                    }
                };
                let overflow = ir::OverflowRule::Wraps;
                let kind = StmtKind::Assign { target: part, value, overflow };
                stores.push(Stmt { kind, span });
            }
        }
        Ok(())
    }

    /// Returns the kind of the value that an assignment stores.
    fn stored_constant(&self, kind: &StmtKind) -> ExprKind {
        match kind {
            StmtKind::Assign { value, .. } => value.kind.clone(),
            _ => ExprKind::Undefined,
        }
    }

    /// Declares the initial channels of a symbol. Returns the first one, if there are any.
    fn channels(
        &mut self,
        symbol: &PromelaSymbol,
        owner: Owner,
    ) -> LoweringResult<Option<ChannelId>> {
        let &PromelaInitializer::Channel { capacity, ref fields, span } = &symbol.initial else {
            return Ok(None);
        };
        let leaves: Vec<PromelaType> =
            fields.iter().flat_map(|&field| self.model.symbols.leaves(field)).collect();
        let mut types = Vec::new();
        let alone = leaves.len() == 1;
        for leaf in leaves {
            // SPIN stores the only field of a message in at least a byte; next to other fields, a bit is a bit.
            let bit = matches!(leaf, PromelaType::Bit | PromelaType::Bool);
            types.push(self.basic(if bit && alone { PromelaType::Byte } else { leaf })?);
        }
        let first = ChannelId::from_index(self.program.channels.len());
        for at in 0..symbol.length.unwrap_or(1) {
            let name = match symbol.length {
                None => symbol.name.text.to_string(),
                Some(_) => format!("{}[{at}]", symbol.name.text),
            };
            self.program.channels.push(ir::Channel {
                name,
                owner,
                capacity,
                fields: types.clone(),
                overflow: ir::OverflowRule::Wraps,
                span,
            });
        }
        Ok(Some(first))
    }

    /// Adds the start: the initial values of globals, then the active processes in order.
    fn starts(&mut self, mut body: Vec<Stmt>) {
        for (number, (process, _)) in self.bodies.iter().enumerate() {
            let id = ProcessId::from_index(number);
            let span = process.name.span;
            for _ in 0..process.active {
                let zeros = self.program.processes[id].parameters.iter();
                let arguments = zeros.map(|_| ir::Expr::constant(0, span)).collect();
                let kind = StmtKind::Run { process: id, arguments, into: None };
                body.push(Stmt { kind, span });
                if let Some(priority) = self.program.processes[id].life.priority {
                    let value = ir::Expr::constant(process.priority.unwrap_or(1), span);
                    body.push(self.set_newest_priority(id, priority, value, span));
                }
            }
        }
        let span = Span::default();
        self.program.starts.push(StartRule {
            name: "start".into(),
            parameters: Vec::new(),
            body,
            span,
        });
    }

    /// Stores the priority of the instance started last.
    fn set_newest_priority(
        &self,
        process: ProcessId,
        priority: VarId,
        value: ir::Expr,
        span: Span,
    ) -> Stmt {
        let number = |kind| ir::Expr::new(kind, span);
        let newest = number(ExprKind::Binary(
            ir::BinaryOp::Subtract,
            Box::new(number(ExprKind::Processes)),
            Box::new(ir::Expr::constant(1, span)),
        ));
        let slot = number(ExprKind::SlotOf(process, Box::new(newest)));
        let target =
            ir::Place { slot: Some(Box::new(slot)), ..ir::Place::variable(priority, span) };
        Stmt { kind: StmtKind::Assign { target, value, overflow: ir::OverflowRule::Wraps }, span }
    }
}

fn process_name(process: &PromelaProcess) -> &str {
    match &*process.name.text {
        ":init:" => "init",
        name => name,
    }
}

/// Returns the place of a variable or of one of its elements.
fn element(variable: VarId, index: Option<u32>, span: Span) -> ir::Place {
    let path = index.map(|index| ir::PlaceSelector::Index(ir::Expr::constant(index.into(), span)));
    ir::Place { path: path.into_iter().collect(), ..ir::Place::variable(variable, span) }
}
