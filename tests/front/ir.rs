//! The printed form and the rules of programs, on one program with almost every construct.

use spillway::exec::Interp;
use spillway::ir::validate::{Rule, validate};
use spillway::ir::*;
use spillway::model::{StepOutcome, SystemDescription};
use spillway::source::Span;

const NOWHERE: Span = Span { file: 0, start: 0, end: 0 };

fn e(kind: ExprKind) -> Expr {
    Expr::new(kind, NOWHERE)
}

fn c(value: i64) -> Expr {
    e(ExprKind::Constant(value))
}

fn local(id: u32) -> Expr {
    e(ExprKind::Local(LocalId(id)))
}

fn place(variable: VarId) -> Place {
    Place::variable(variable, NOWHERE)
}

fn at(variable: VarId, path: Vec<PlaceSelector>) -> Place {
    Place { path, ..place(variable) }
}

fn read(variable: VarId) -> Expr {
    e(ExprKind::Read(place(variable)))
}

fn bin(binary: BinaryOp, left: Expr, right: Expr) -> Expr {
    e(ExprKind::Binary(binary, Box::new(left), Box::new(right)))
}

fn un(unary: UnaryOp, operand: Expr) -> Expr {
    e(ExprKind::Unary(unary, Box::new(operand)))
}

fn s(kind: StmtKind) -> Stmt {
    Stmt { kind, span: NOWHERE }
}

fn assign(target: Place, value: Expr) -> Stmt {
    s(StmtKind::Assign { target, value, overflow: OverflowRule::Fails })
}

fn call(function: FunctionId, arguments: Vec<CallArgument>) -> StmtKind {
    StmtKind::Call { function, arguments, into: None }
}

fn all(local: u32, over: TypeId, body: Expr) -> Expr {
    let (quantifier, local) = (Quantifier::All, LocalId(local));
    e(ExprKind::Quantified { quantifier, local, over, body: Box::new(body) })
}

fn for_each(local: u32, over: TypeId, body: Vec<Stmt>) -> Stmt {
    s(StmtKind::ForEach { local: LocalId(local), over, body })
}

fn parameter(local: u32, name: &str, over: TypeId) -> Parameter {
    Parameter { local: LocalId(local), name: name.into(), over }
}

fn location(name: &str) -> Location {
    Location {
        name: name.into(),
        urgency: Urgency::Free,
        valid_end: false,
        progress: false,
        accepting: false,
        span: NOWHERE,
    }
}

fn scalar(domain: Domain) -> Type {
    Type::Scalar(ScalarType::defined(domain))
}

fn optional(domain: Domain) -> Type {
    Type::Scalar(ScalarType { domain, undefined: true })
}

fn property(name: &str, kind: PropertyKind) -> ProgramProperty {
    ProgramProperty { name: name.into(), kind, span: NOWHERE }
}

fn send(channel: ChannelRef, values: Vec<Expr>) -> Communication {
    Communication::Send { channel, values, sorted: false, span: NOWHERE }
}

fn receive(channel: ChannelRef, patterns: Vec<ReceivePattern>) -> Communication {
    Communication::Receive { channel, patterns, anywhere: false, peek: false, span: NOWHERE }
}

fn function(name: &str, result: Option<TypeId>, body: Vec<Stmt>) -> Function {
    Function { name: name.into(), parameters: vec![], result, body, whole: false, span: NOWHERE }
}

/// A program and the identifiers of its parts.
struct Model {
    program: Program,
    truth: TypeId,
    byte: TypeId,
    node: TypeId,
    state: VarId,
    turn: VarId,
    nodes: VarId,
    bag: VarId,
    who: VarId,
    x: VarId,
    y: VarId,
    mine: VarId,
    meet: ChannelId,
    queue: ChannelId,
    private: ChannelId,
    client: ProcessId,
    worker: ProcessId,
    watch: ProcessId,
    max: FunctionId,
    reset: FunctionId,
    go: ActionId,
    rule: ActionId,
}

impl Model {
    fn variable(&mut self, name: &str, ty: TypeId, initial: Vec<Option<i64>>) -> VarId {
        self.owned(name, ty, Owner::Program, initial)
    }

    fn owned(&mut self, name: &str, ty: TypeId, owner: Owner, initial: Vec<Option<i64>>) -> VarId {
        self.program.variables.push(Variable {
            name: name.into(),
            ty,
            owner,
            initial,
            span: NOWHERE,
        })
    }

    fn channel(&mut self, name: &str, owner: Owner, capacity: u32, fields: &[TypeId]) -> ChannelId {
        self.program.channels.push(Channel {
            name: name.into(),
            owner,
            capacity,
            fields: fields.to_vec(),
            overflow: OverflowRule::Fails,
            span: NOWHERE,
        })
    }

    fn process(
        &mut self,
        name: &str,
        locations: Vec<Location>,
        instances: InstanceCount,
    ) -> ProcessId {
        self.program.processes.push(Process {
            name: name.into(),
            locations: locations.into_iter().collect(),
            start: LocationId(0),
            instances,
            parameters: vec![],
            life: ProcessLifecycle::default(),
            span: NOWHERE,
        })
    }

    fn action(&mut self, name: &str, edge: Option<(ProcessId, u32, u32)>) -> ActionId {
        let edge = edge.map(|(process, from, to)| ProcessEdge {
            process,
            from: LocationId(from),
            to: LocationId(to),
        });
        self.program.actions.push(Action {
            name: name.into(),
            edge,
            parameters: vec![],
            guard: None,
            communication: None,
            body: vec![],
            priority: 0,
            control: ActionControl::default(),
            span: NOWHERE,
        })
    }

    fn go(&mut self) -> &mut Action {
        &mut self.program.actions[self.go]
    }

    fn rule(&mut self) -> &mut Action {
        &mut self.program.actions[self.rule]
    }
}

/// A valid program with almost every construct.
fn model() -> Model {
    let (var, channel, process) = (VarId(0), ChannelId(0), ProcessId(0));
    let mut m = Model {
        program: Program { name: "base".into(), ..Program::default() },
        truth: TypeId(0),
        byte: TypeId(0),
        node: TypeId(0),
        state: var,
        turn: var,
        nodes: var,
        bag: var,
        who: var,
        x: var,
        y: var,
        mine: var,
        meet: channel,
        queue: channel,
        private: channel,
        client: process,
        worker: process,
        watch: process,
        max: FunctionId(0),
        reset: FunctionId(0),
        go: ActionId(0),
        rule: ActionId(0),
    };
    add_declarations(&mut m);
    add_processes(&mut m);
    add_functions(&mut m);
    add_actions(&mut m);
    add_starts_and_properties(&mut m);
    m.program.number_exprs();
    m
}

fn add_declarations(m: &mut Model) {
    let colors = ["idle", "busy", "timeout"].map(String::from).to_vec();
    let color = m.program.enums.push(EnumType { name: "Phase".into(), values: colors });
    let set = m.program.scalarsets.push(Scalarset { name: "Node".into(), size: 3 });
    m.truth = m.program.types.push(scalar(Domain::Bool));
    m.byte = m.program.types.push(scalar(Domain::Range { low: 0, high: 255 }));
    let phase = m.program.types.push(scalar(Domain::Enum(color)));
    m.node = m.program.types.push(optional(Domain::Scalarset(set)));
    let either = Domain::Union(vec![Domain::Scalarset(set), Domain::Enum(color)]);
    let either = m.program.types.push(optional(either));
    let fields = vec![("kind".into(), phase), ("from".into(), m.node)];
    let message = m.program.types.push(Type::Record { name: "Msg".into(), fields });
    let (low, length) = (0, 3);
    let nodes = Type::Array { low, length, by: Some(Domain::Scalarset(set)), element: message };
    let nodes = m.program.types.push(nodes);
    let bag = m.program.types.push(Type::Multiset { capacity: 2, element: message });
    let number = m.program.types.push(scalar(Domain::Channel));

    m.state = m.variable("state", phase, vec![Some(0)]);
    m.turn = m.variable("turn", m.byte, vec![Some(7)]);
    m.nodes = m.variable("nodes", nodes, [Some(0), None].repeat(3));
    m.bag = m.variable("bag", bag, [Some(0), Some(0), None].repeat(2));
    m.who = m.variable("who", either, vec![Some(4)]);
    m.variable("link", number, vec![Some(1)]);
    let row = Type::Array { low: -1, length: 4, by: None, element: m.byte };
    let row = m.program.types.push(row);
    m.variable("row", row, vec![Some(0), Some(0), Some(0), Some(1)]);
    m.meet = m.channel("meet", Owner::Program, 0, &[m.byte, m.truth]);
    m.queue = m.channel("queue", Owner::Program, 4, &[phase, m.byte]);
}

fn add_processes(m: &mut Model) {
    let mut wait = location("wait");
    wait.urgency = Urgency::Committed;
    wait.progress = true;
    let mut cs = location("critical section");
    cs.accepting = true;
    cs.valid_end = true;
    m.client = m.process("Client", vec![location("ncs"), wait, cs], InstanceCount::One);
    let (capacity, active) = (3, 1);
    let mut own = location("work");
    own.urgency = Urgency::Atomic;
    let locations = vec![location("ncs"), own];
    m.worker = m.process("Worker", locations, InstanceCount::Slots { capacity, active });
    m.watch = m.process("Watch", vec![location("ok")], InstanceCount::One);

    m.x = m.owned("x", m.byte, Owner::Process(m.client), vec![Some(0)]);
    m.y = m.owned("turn", m.truth, Owner::Process(m.client), vec![Some(1)]);
    m.mine = m.owned("mine", m.byte, Owner::Process(m.worker), vec![Some(0)]);
    m.private = m.channel("private", Owner::Process(m.worker), 1, &[m.byte]);
    m.program.processes[m.worker].parameters = vec![m.mine];
}

fn add_functions(m: &mut Model) {
    let compare = bin(BinaryOp::Less, local(0), local(1));
    let choose = ExprKind::Conditional(Box::new(compare), Box::new(local(1)), Box::new(local(0)));
    let body = vec![s(StmtKind::Return(Some(e(choose))))];
    m.max = m.program.functions.push(function("max", Some(m.byte), body));
    let argument = |local, name: &str, ty, by_reference| FunctionParameter {
        local: LocalId(local),
        name: name.into(),
        ty,
        by_reference,
    };
    m.program.functions[m.max].parameters =
        vec![argument(0, "a", m.byte, false), argument(1, "b", m.byte, false)];
    let body = vec![s(StmtKind::Clear(place(m.bag))), s(StmtKind::Return(None))];
    m.reset = m.program.functions.push(function("reset", None, body));
    m.program.functions[m.reset].parameters = vec![argument(0, "turn", m.byte, true)];
}

fn add_actions(m: &mut Model) {
    let max =
        ExprKind::Call(m.max, vec![CallArgument::Value(read(m.turn)), CallArgument::Value(c(3))]);
    m.go = m.action("ncs -> wait", Some((m.client, 0, 1)));
    let guard = bin(
        BinaryOp::And,
        bin(BinaryOp::Equal, read(m.state), c(0)),
        bin(BinaryOp::Greater, e(max), bin(BinaryOp::BitAnd, read(m.x), c(1))),
    );
    let body = vec![assign(place(m.x), bin(BinaryOp::Add, read(m.x), c(1)))];
    *m.go() = Action { guard: Some(guard), body, ..m.go().clone() };

    let meet = ChannelRef::Named(m.meet);
    let id = m.action("hand over", Some((m.client, 1, 2)));
    m.program.actions[id].communication = Some(send(meet.clone(), vec![read(m.x), c(1)]));
    m.program.actions[id].priority = 2;

    let id = m.action("ncs -> work", Some((m.worker, 0, 1)));
    let into = vec![ReceivePattern::Into(place(m.mine)), ReceivePattern::Match(c(1))];
    m.program.actions[id].communication = Some(receive(meet, into));

    let id = m.action("work -> ncs", Some((m.worker, 1, 0)));
    m.program.actions[id].parameters = vec![parameter(0, "i", m.byte)];
    m.program.actions[id].body = worker_body(m);

    m.rule = m.action("settle", None);
    let over = m.node;
    m.rule().parameters = vec![parameter(0, "n", over), parameter(1, "turn", over)];
    m.rule().guard = Some(rule_guard(m));
    m.rule().body = rule_body(m);
}

fn worker_body(m: &Model) -> Vec<Stmt> {
    let queue = ChannelRef::Named(m.queue);
    let patterns = vec![ReceivePattern::Match(c(1)), ReceivePattern::Any];
    let other = Place { slot: Some(Box::new(c(2))), ..place(m.mine) };
    let pid = bin(BinaryOp::Equal, e(ExprKind::Self_), c(0));
    vec![
        s(StmtKind::Communicate(Communication::Send {
            channel: queue.clone(),
            values: vec![c(1), local(0)],
            sorted: true,
            span: NOWHERE,
        })),
        s(StmtKind::Communicate(Communication::Receive {
            channel: queue.clone(),
            patterns: patterns.clone(),
            anywhere: true,
            peek: true,
            span: NOWHERE,
        })),
        s(StmtKind::Communicate(receive(ChannelRef::Computed(Box::new(c(1))), patterns.clone()))),
        s(StmtKind::Communicate(send(ChannelRef::Named(m.private), vec![read(m.mine)]))),
        s(StmtKind::If(vec![
            (
                Some(e(ExprKind::CanReceive(queue.clone(), patterns, false))),
                vec![s(StmtKind::Exit)],
            ),
            (
                Some(bin(BinaryOp::Or, e(ExprKind::IsFull(queue.clone())), pid)),
                vec![s(StmtKind::Run {
                    process: m.worker,
                    arguments: vec![c(4)],
                    into: Some(other.clone()),
                })],
            ),
            (
                None,
                vec![
                    s(StmtKind::Error("none \"left\"".into())),
                    s(StmtKind::Assign {
                        target: other,
                        value: e(ExprKind::Length(queue)),
                        overflow: OverflowRule::Wraps,
                    }),
                ],
            ),
        ])),
    ]
}

fn rule_guard(m: &Model) -> Expr {
    let from = vec![PlaceSelector::Index(local(0)), PlaceSelector::Field(1)];
    let sender = e(ExprKind::IsUndefined(at(m.nodes, from)));
    let busy = at(m.nodes, vec![PlaceSelector::Index(local(2)), PlaceSelector::Field(0)]);
    let busy = bin(BinaryOp::NotEqual, e(ExprKind::Read(busy)), c(2));
    let count = e(ExprKind::Count {
        multiset: place(m.bag),
        local: LocalId(3),
        body: Box::new(bin(BinaryOp::Equal, local(3), c(0))),
    });
    let few = bin(BinaryOp::Less, count, un(UnaryOp::Negate, c(-1)));
    let at = ExprKind::At { process: m.client, slot: None, location: LocationId(2) };
    let slot = Some(Box::new(c(0)));
    let there = ExprKind::At { process: m.worker, slot, location: LocationId(1) };
    let places = bin(BinaryOp::Implies, e(at), e(there));
    let all = all(2, m.node, busy);
    bin(
        BinaryOp::And,
        bin(BinaryOp::And, un(UnaryOp::Not, sender), all),
        bin(BinaryOp::And, few, places),
    )
}

fn rule_body(m: &Model) -> Vec<Stmt> {
    let element = at(m.nodes, vec![PlaceSelector::Index(local(0))]);
    let from = at(m.nodes, vec![PlaceSelector::Index(local(4)), PlaceSelector::Field(1)]);
    let second = at(m.bag, vec![PlaceSelector::Index(c(1))]);
    vec![
        s(StmtKind::MultisetAdd {
            multiset: place(m.bag),
            element: CallArgument::Reference(element.clone()),
        }),
        s(StmtKind::MultisetRemove { multiset: place(m.bag), position: c(0) }),
        s(StmtKind::Copy { target: element, source: second }),
        s(call(m.reset, vec![CallArgument::Reference(place(m.turn))])),
        assign(place(m.who), e(ExprKind::Undefined)),
        assign(place(m.who), c(5)),
        for_each(4, m.node, vec![s(StmtKind::Undefine(from))]),
        s(StmtKind::For {
            local: LocalId(5),
            first: c(0),
            last: c(4),
            step: c(2),
            body: vec![assign(place(m.turn), local(5))],
        }),
        s(StmtKind::While {
            condition: bin(BinaryOp::Less, read(m.turn), c(9)),
            body: vec![assign(place(m.turn), bin(BinaryOp::Add, read(m.turn), c(1)))],
            limit: 10,
        }),
        s(StmtKind::Switch(
            read(m.state),
            vec![
                (vec![c(0), c(2)], vec![assign(place(m.state), c(1))]),
                (vec![], vec![assign(place(m.state), c(0)), assign(place(m.turn), c(0))]),
            ],
        )),
        s(StmtKind::Assert {
            condition: bin(BinaryOp::Equal, read(m.y), c(0)),
            message: "y fell".into(),
            asserted: AssertionKind::Condition,
        }),
        s(StmtKind::Assert {
            condition: bin(BinaryOp::Less, read(m.y), c(9)),
            message: "y rose".into(),
            asserted: AssertionKind::Event,
        }),
        s(StmtKind::Print { format: "turn {}\n".into(), values: vec![read(m.turn)] }),
        s(StmtKind::Cover {
            property: REACHED,
            condition: bin(BinaryOp::Equal, read(m.turn), c(1)),
        }),
    ]
}

/// The property that a `cover` statement satisfies.
const REACHED: PropertyId = PropertyId(4);

fn add_starts_and_properties(m: &mut Model) {
    let body = vec![assign(place(m.turn), local(0))];
    let parameters = vec![parameter(0, "t", m.byte)];
    m.program.starts.push(StartRule { name: "any turn".into(), parameters, body, span: NOWHERE });
    let truth = e(ExprKind::Conditional(
        Box::new(e(ExprKind::Timeout)),
        Box::new(c(0)),
        Box::new(bin(BinaryOp::Less, e(ExprKind::Processes), c(9))),
    ));
    m.program.properties.push(property("few", PropertyKind::Invariant(truth)));
    let condition = bin(BinaryOp::Equal, read(m.mine), c(0));
    let (process, location) = (m.worker, LocationId(1));
    let kind = PropertyKind::AssertionAt { process, location, condition };
    m.program.properties.push(property("assert 1", kind));
    m.program.properties.push(property("never", PropertyKind::Automaton(m.watch)));
    let done = bin(BinaryOp::Equal, read(m.turn), c(0));
    m.program.properties.push(property("over", PropertyKind::AtEnd(done)));
    let reached = m.program.properties.push(property("first", PropertyKind::Reached));
    assert_eq!(reached, REACHED);
    add_claim(m);
}

/// Adds a claim that waits for a turn, asserts a condition and ends.
fn add_claim(m: &mut Model) {
    let at = |from, to, action| ClaimMove { from: LocationId(from), to: LocationId(to), action };
    let done = Location { valid_end: true, ..location("done") };
    let locations = [location("1:2"), done].into_iter().collect();
    let first = bin(BinaryOp::Equal, read(m.turn), c(3));
    let said = StmtKind::Assert {
        condition: first.clone(),
        message: "turn".into(),
        asserted: AssertionKind::Condition,
    };
    let plain = |guard, body, control| Action {
        name: "watch".into(),
        edge: None,
        parameters: vec![],
        guard,
        communication: None,
        body,
        priority: 0,
        control,
        span: NOWHERE,
    };
    let taken = plain(Some(first), vec![s(said)], ActionControl::default());
    let other = plain(None, vec![], ActionControl { otherwise: true, ..ActionControl::default() });
    let moves = vec![at(0, 1, taken), at(0, 0, other)];
    let claim = Claim { locations, start: LocationId(0), moves };
    m.program.properties.push(property("never_0", PropertyKind::Claim(Box::new(claim))));
}

/// Returns the claim of the model.
fn claim(m: &mut Model) -> &mut Claim {
    let last = m.program.properties.keys().last().unwrap();
    match &mut m.program.properties[last].kind {
        PropertyKind::Claim(claim) => claim,
        other => panic!("{other:?}"),
    }
}

const GOLDEN: &str = r#"program base
schedule interleaved
arithmetic wrapping 32-bit
end never

enum Phase { idle, busy, `timeout` }

scalarset Node of 3

record Msg { kind: Phase; from: Node or undefined; }

var state: Phase = idle
var turn: 0..255 = 7
var nodes: array [0..2 by Node] of Msg = [idle, undefined, idle, undefined, idle, undefined]
var bag: multiset [2] of Msg = [false, idle, undefined, false, idle, undefined]
var who: union(Node, Phase) or undefined = busy
var link: channel = 1
var row: array [-1..2] of 0..255 = [0 x3, 1]
channel meet: rendezvous of (0..255, bool)
channel queue: buffer of 4 (Phase, 0..255)

function max(a: 0..255, b: 0..255): 0..255 {
  return a < b ? b : a;
}

function reset(ref turn$0: 0..255) {
  clear bag;
  return;
}

process Client {
  locations ncs (start), wait (committed progress), `critical section` (end accepting)

  var x: 0..255 = 0
  var turn: bool = true

  ncs -> wait { guard state == idle && max(turn, 3) > (x & 1); x := x + 1; }
  `hand over`: wait -> `critical section` priority 2 { send meet(x, true); }
}

process Worker, 3 slots, 1 active at the start, parameters (mine) {
  locations ncs (start), work (atomic)

  var mine: 0..255 = 0
  channel private: buffer of 1 (0..255)

  ncs -> work { receive meet(mine, == true); }
  `work -> ncs` (i: 0..255): work -> ncs {
    then send sorted queue(busy, i);
    receive any peek queue(== busy, _);
    receive channel[1](== 1, _);
    send private(mine);
    if canreceive queue(== busy, _) { exit; } else if full(queue) || self == 0 { run Worker(4) into Worker[2].mine; } else {
      error "none \"left\"";
      Worker[2].mine :=% length(queue);
    }
  }
}

process Watch {
  locations ok (start)
}

action settle (n: Node or undefined, turn$1: Node or undefined) {
  guard !isundefined(nodes[n].from) && forall $2: Node or undefined (nodes[$2].kind != `timeout`) && (count $3 in bag ($3 == 0) < -(-1) && (Client@`critical section` -> Worker[0]@work));
  add ref nodes[n] to bag;
  remove bag at 0;
  nodes[n] := copy bag[1];
  call reset(ref turn);
  who := undefined;
  who := `timeout`;
  for $4: Node or undefined { undefine nodes[$4].from; }
  for $5 := 0 to 4 by 2 { turn := $5; }
  while turn < 9 limit 10 { turn := turn + 1; }
  switch state {
    idle, `timeout`: { state := busy; }
    else: {
      state := idle;
      turn := 0;
    }
  }
  assert Client.turn == false, "y fell";
  expect Client.turn < 9, "y rose";
  print "turn {}\n", turn;
  cover "first": turn == 1;
}

start `any turn` (t: 0..255) { turn := t; }

invariant few: timeout ? false : processes < 9

assertion `assert 1`: Worker@work -> mine == 0

automaton never: Watch

at end over: turn == 0

reached first

claim never_0 {
  locations `1:2` (start), done (end)

  `1:2` -> done { guard turn == 3; assert turn == 3, "turn"; }
  `1:2` -> `1:2` otherwise { }
}
"#;

#[test]
fn the_printed_form_is_unchanged() {
    let printed = text::print(&model().program).to_string();
    if printed != GOLDEN {
        println!("{printed}");
    }
    assert!(printed == GOLDEN, "the print has changed; the new one is above");
}

#[test]
fn the_base_program_is_valid() {
    assert_eq!(validate(&model().program), Ok(()));
}

type Change = fn(&mut Model);

/// Replaces the program by one with a single action, which communicates over a queue of two bytes. There are no dynamic
/// processes.
fn single_action_program(m: &mut Model, communication: fn(ChannelRef) -> Communication) {
    m.program = Program { name: "alone".into(), ..Program::default() };
    let byte = m.program.types.push(scalar(Domain::Range { low: 0, high: 255 }));
    let queue = m.channel("queue", Owner::Program, 1, &[byte, byte]);
    let client = m.process("Client", vec![location("ncs")], InstanceCount::One);
    let go = m.action("go", Some((client, 0, 0)));
    m.program.actions[go].communication = Some(communication(ChannelRef::Named(queue)));
    let (parameters, body) = (vec![], vec![]);
    m.program.starts.push(StartRule { name: "start".into(), parameters, body, span: NOWHERE });
}

/// Changes that violate a rule, and no other rule.
const VIOLATIONS: &[(Rule, Change)] = &[
    (Rule::Ids, |m| m.go().guard = Some(read(VarId(99)))),
    (Rule::Ids, |m| m.go().edge.as_mut().unwrap().to = LocationId(3)),
    (Rule::Ids, |m| m.program.variables[m.x].owner = Owner::Process(ProcessId(9))),
    (Rule::Ids, |m| m.program.variables[m.x].ty = TypeId(99)),
    (Rule::Ids, |m| {
        m.program.types.push(scalar(Domain::Enum(EnumId(7))));
    }),
    (Rule::TypeOrder, |m| {
        let element = TypeId(m.program.types.len() as u32);
        m.program.types.push(Type::Multiset { capacity: 1, element });
    }),
    (Rule::DomainSize, |m| {
        m.program.types.push(scalar(Domain::Range { low: 3, high: 2 }));
    }),
    (Rule::DomainSize, |m| {
        m.program.arithmetic = Arithmetic::Checked64;
        m.program.types.push(scalar(Domain::Range { low: i64::MIN, high: i64::MAX }));
    }),
    (Rule::DomainSize, |m| {
        m.program.arithmetic = Arithmetic::Checked64;
        m.program.types.push(optional(Domain::Range { low: 0, high: (1 << 48) - 1 }));
    }),
    (Rule::Integers, |m| m.go().guard = Some(c(1 << 31))),
    (Rule::Integers, |m| {
        m.program.types.push(scalar(Domain::Range { low: 1 << 32, high: 1 << 32 }));
    }),
    (Rule::Integers, |m| {
        let set = m.program.scalarsets.push(Scalarset { name: "All".into(), size: u32::MAX });
        m.program.types.push(scalar(Domain::Scalarset(set)));
    }),
    (Rule::Unions, |m| {
        m.program.types.push(scalar(Domain::Union(vec![Domain::Bool])));
    }),
    (Rule::Aggregates, |m| {
        let (low, length, by, element) = (0, 0, None, m.byte);
        m.program.types.push(Type::Array { low, length, by, element });
    }),
    (Rule::Aggregates, |m| {
        let (low, length, by, element) = (1, 3, Some(Domain::Scalarset(ScalarsetId(0))), m.byte);
        m.program.types.push(Type::Array { low, length, by, element });
    }),
    (Rule::Aggregates, |m| {
        m.program.types.push(Type::Multiset { capacity: 0, element: m.byte });
    }),
    (Rule::StateSize, |m| m.program.channels[m.queue].capacity = 1 << 23),
    (Rule::StateSize, |m| {
        let (capacity, active) = (u32::MAX / 2, 1);
        m.program.processes[m.worker].instances = InstanceCount::Slots { capacity, active };
    }),
    (Rule::Initial, |m| m.program.variables[m.turn].initial = vec![]),
    (Rule::Initial, |m| m.program.variables[m.turn].initial = vec![Some(256)]),
    (Rule::Initial, |m| m.program.variables[m.turn].initial = vec![None]),
    (Rule::Initial, |m| m.program.variables[m.bag].initial[0] = Some(3)),
    (Rule::Initial, |m| m.program.variables[m.bag].initial[1] = Some(1)),
    (Rule::ChannelFields, |m| {
        let ty = m.program.variables[m.nodes].ty;
        m.channel("big", Owner::Program, 1, &[ty]);
    }),
    (Rule::Processes, |m| m.program.processes[m.watch].start = LocationId(1)),
    (Rule::Processes, |m| m.program.processes[m.watch].locations = Arena::new()),
    (Rule::Processes, |m| {
        let (capacity, active) = (3, 4);
        m.program.processes[m.worker].instances = InstanceCount::Slots { capacity, active };
    }),
    (Rule::ProcessParameters, |m| m.program.processes[m.worker].parameters = vec![m.x]),
    (Rule::ProcessParameters, |m| m.program.processes[m.worker].parameters = vec![m.mine; 2]),
    (Rule::Paths, |m| {
        let wrong = at(m.nodes, vec![PlaceSelector::Field(0)]);
        m.go().guard = Some(e(ExprKind::Read(wrong)));
    }),
    (Rule::Paths, |m| {
        let wrong = at(m.nodes, vec![PlaceSelector::Index(c(0)), PlaceSelector::Field(2)]);
        m.go().guard = Some(e(ExprKind::Read(wrong)));
    }),
    (Rule::Paths, |m| {
        let value = Place { root: PlaceRoot::Local(LocalId(0)), ..place(m.x) };
        m.go().guard = Some(all(0, m.truth, e(ExprKind::Read(value))));
    }),
    (Rule::ScalarPlaces, |m| m.go().guard = Some(read(m.nodes))),
    (Rule::ScalarPlaces, |m| {
        let target = place(m.nodes);
        m.go().body = vec![assign(target, c(0))];
    }),
    (Rule::Multisets, |m| {
        let multiset = place(m.nodes);
        m.go().body = vec![s(StmtKind::MultisetRemove { multiset, position: c(0) })];
    }),
    (Rule::Multisets, |m| {
        let (multiset, element) = (place(m.bag), CallArgument::Value(c(0)));
        m.go().body = vec![s(StmtKind::MultisetAdd { multiset, element })];
    }),
    (Rule::Slots, |m| m.go().guard = Some(read(m.mine))),
    (Rule::Slots, |m| {
        let wrong = Place { slot: Some(Box::new(c(0))), ..place(m.x) };
        m.go().guard = Some(e(ExprKind::Read(wrong)));
    }),
    (Rule::Slots, |m| {
        let (process, slot, location) = (m.worker, None, LocationId(0));
        m.go().guard = Some(e(ExprKind::At { process, slot, location }));
    }),
    (Rule::Slots, |m| {
        m.go().communication = Some(send(ChannelRef::Named(m.private), vec![c(0)]));
    }),
    (Rule::Locals, |m| m.go().guard = Some(local(0))),
    (Rule::Locals, |m| {
        let twice = all(0, m.truth, all(0, m.truth, c(1)));
        m.go().guard = Some(twice);
    }),
    (Rule::Locals, |m| {
        let inside = all(0, m.truth, local(0));
        m.go().guard = Some(bin(BinaryOp::And, inside, c(1)));
        let (condition, message, asserted) = (local(0), "".into(), AssertionKind::Condition);
        m.go().body = vec![s(StmtKind::Assert { condition, message, asserted })];
    }),
    (Rule::ScalarRanges, |m| {
        let over = m.program.variables[m.nodes].ty;
        m.go().parameters = vec![parameter(0, "i", over)];
    }),
    (Rule::ScalarRanges, |m| {
        let over = m.program.variables[m.bag].ty;
        m.go().body = vec![for_each(0, over, vec![])];
    }),
    (Rule::MessageArity, |m| single_action_program(m, |queue| send(queue, vec![c(0)]))),
    (Rule::MessageArity, |m| {
        single_action_program(m, |queue| receive(queue, vec![ReceivePattern::Any; 3]))
    }),
    (Rule::Buffered, |m| m.go().guard = Some(e(ExprKind::Length(ChannelRef::Named(m.meet))))),
    (Rule::Buffered, |m| {
        let meeting = receive(ChannelRef::Named(m.meet), vec![ReceivePattern::Any; 2]);
        m.go().body = vec![s(StmtKind::Communicate(meeting))];
    }),
    (Rule::Buffered, |m| {
        let channel = ChannelRef::Named(m.meet);
        let (patterns, span) = (vec![ReceivePattern::Any; 2], NOWHERE);
        let (anywhere, peek) = (true, false);
        let meeting = Communication::Receive { channel, patterns, anywhere, peek, span };
        m.go().communication = Some(meeting);
    }),
    (Rule::Rendezvous, |m| {
        m.rule().communication = Some(send(ChannelRef::Named(m.meet), vec![c(0), c(0)]));
    }),
    (Rule::Arguments, |m| {
        m.go().guard = Some(e(ExprKind::Call(m.max, vec![CallArgument::Value(c(0))])));
    }),
    (Rule::Arguments, |m| {
        let reference = CallArgument::Reference(place(m.turn));
        let arguments = vec![CallArgument::Value(c(0)), reference];
        m.go().guard = Some(e(ExprKind::Call(m.max, arguments)));
    }),
    (Rule::Arguments, |m| {
        let wrong = CallArgument::Reference(place(m.state));
        m.go().body = vec![s(call(m.reset, vec![wrong]))];
    }),
    (Rule::Results, |m| {
        let (arguments, into) = (vec![CallArgument::Reference(place(m.turn))], Some(place(m.turn)));
        m.go().body = vec![s(StmtKind::Call { function: m.reset, arguments, into })];
    }),
    (Rule::Results, |m| {
        let change = vec![assign(place(m.turn), c(0))];
        m.program.functions[m.max].body.splice(0..0, change);
    }),
    (Rule::Recursion, |m| {
        let again = CallArgument::Reference(place(m.turn));
        m.program.functions[m.reset].body = vec![s(call(m.reset, vec![again]))];
    }),
    (Rule::Returns, |m| m.go().body = vec![s(StmtKind::Return(Some(c(0))))]),
    (Rule::Returns, |m| m.program.functions[m.max].body = vec![s(StmtKind::Return(None))]),
    (Rule::Loops, |m| {
        let (local, first, last, step) = (LocalId(0), c(0), c(1), c(0));
        m.go().body = vec![s(StmtKind::For { local, first, last, step, body: vec![] })];
    }),
    (Rule::Loops, |m| {
        let (condition, body, limit) = (c(0), vec![], 0);
        m.go().body = vec![s(StmtKind::While { condition, body, limit })];
    }),
    (Rule::Branches, |m| {
        m.go().body = vec![s(StmtKind::If(vec![(None, vec![]), (Some(c(1)), vec![])]))];
    }),
    (Rule::Branches, |m| {
        let cases = vec![(vec![], vec![]), (vec![c(1)], vec![])];
        m.go().body = vec![s(StmtKind::Switch(c(1), cases))];
    }),
    (Rule::Undefined, |m| m.go().guard = Some(e(ExprKind::Undefined))),
    (Rule::Undefined, |m| {
        let target = place(m.turn);
        m.go().body = vec![assign(target, e(ExprKind::Undefined))];
    }),
    (Rule::Undefined, |m| m.go().body = vec![s(StmtKind::Undefine(place(m.nodes)))]),
    (Rule::Copies, |m| {
        let (target, source) = (place(m.turn), place(m.nodes));
        m.go().body = vec![s(StmtKind::Copy { target, source })];
    }),
    (Rule::Instances, |m| m.go().body = vec![s(StmtKind::Exit)]),
    (Rule::Instances, |m| {
        let (process, arguments, into) = (m.client, vec![], None);
        m.go().body = vec![s(StmtKind::Run { process, arguments, into })];
    }),
    (Rule::Instances, |m| {
        let (process, arguments, into) = (m.worker, vec![], None);
        m.go().body = vec![s(StmtKind::Run { process, arguments, into })];
    }),
    (Rule::Mover, |m| m.rule().guard = Some(e(ExprKind::Self_))),
    (Rule::Prints, |m| {
        let (format, values) = ("{} {}".into(), vec![c(1)]);
        m.go().body = vec![s(StmtKind::Print { format, values })];
    }),
    (Rule::Lockstep, |m| {
        m.program.schedule = Schedule::Lockstep;
        m.program.channels[m.meet].capacity = 1;
    }),
    (Rule::Lockstep, |m| {
        m.program.schedule = Schedule::Lockstep;
        m.program.actions = m.program.actions.values().take(4).cloned().collect();
    }),
    (Rule::Automata, |m| {
        m.action("move", Some((m.watch, 0, 0)));
    }),
    (Rule::Starts, |m| m.program.starts.clear()),
    (Rule::Claims, |m| claim(m).start = LocationId(2)),
    (Rule::Covers, |m| {
        let first = m.program.properties.keys().next().unwrap();
        m.go().body = vec![s(StmtKind::Cover { property: first, condition: c(1) })];
    }),
    (Rule::Claims, |m| claim(m).moves[0].to = LocationId(2)),
    (Rule::Claims, |m| {
        let writes = assign(place(m.turn), c(1));
        claim(m).moves[1].action.body.push(writes);
    }),
    (Rule::Claims, |m| claim(m).moves[1].action.control.turn = TurnRule::First),
    (Rule::ExprNumbers, |m| m.go().guard = Some(c(1))),
    (Rule::ExprNumbers, |m| {
        let guard = read(m.turn);
        m.go().guard = Some(guard);
        m.program.number_exprs();
        let id = m.go().guard.as_ref().unwrap().id;
        m.go().guard = Some(Expr { id: ExprId(id.0 + 1), ..read(m.turn) });
    }),
];

#[test]
fn each_violation_is_reported_by_its_rule() {
    for (at, (rule, change)) in VIOLATIONS.iter().enumerate() {
        let mut model = model();
        change(&mut model);
        let problems = validate(&model.program).expect_err(&format!("breach {at} of {rule:?}"));
        let is_reported = problems.iter().all(|problem| problem.rule == *rule);
        assert!(is_reported, "breach {at} of {rule:?}: {problems:#?}");
    }
}

#[test]
fn each_rule_is_violated_at_least_once() {
    for rule in Rule::ALL {
        assert!(VIOLATIONS.iter().any(|(broken, _)| broken == rule), "nothing breaks {rule:?}");
    }
}

#[test]
fn one_violation_is_one_problem_with_its_place() {
    let mut model = model();
    let span = Span::new(0, 3..9);
    model.go().guard = Some(Expr { span, ..local(5) });
    let problems = validate(&model.program).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].span, span);
    let help = problems[0].diagnostic().help.unwrap();
    assert_eq!(help, "rule 16 of valid programs (Locals)");
}

/// Changes of meaning that leave the program valid.
const CHANGES: &[Change] = &[
    |m| m.program.schedule = Schedule::Lockstep,
    |m| m.program.arithmetic = Arithmetic::Checked64,
    |m| m.program.end = EndRule::AllAtValidEnd,
    |m| m.program.variables[m.turn].initial = vec![Some(8)],
    |m| m.program.variables[m.nodes].initial[3] = Some(1),
    |m| m.program.types[m.byte] = scalar(Domain::Range { low: 0, high: 256 }),
    |m| m.program.types[m.byte] = optional(Domain::Range { low: 0, high: 255 }),
    |m| m.program.scalarsets[ScalarsetId(0)].size = 4,
    |m| m.program.channels[m.queue].capacity = 5,
    |m| m.program.channels[m.queue].overflow = OverflowRule::Wraps,
    |m| m.program.channels[m.queue].fields.swap(0, 1),
    |m| {
        let channels: Vec<_> = [2, 0, 1].map(|at| m.program.channels[ChannelId(at)].clone()).into();
        m.program.channels = channels.into_iter().collect();
    },
    |m| m.program.processes[m.worker].parameters.clear(),
    |m| {
        let (capacity, active) = (3, 2);
        m.program.processes[m.worker].instances = InstanceCount::Slots { capacity, active };
    },
    |m| m.program.processes[m.client].start = LocationId(1),
    |m| m.program.processes[m.client].locations[LocationId(0)].urgency = Urgency::Committed,
    |m| m.program.processes[m.client].locations[LocationId(0)].urgency = Urgency::Atomic,
    |m| m.program.processes[m.client].locations[LocationId(0)].valid_end = true,
    |m| m.program.processes[m.client].locations[LocationId(0)].progress = true,
    |m| m.program.processes[m.client].locations[LocationId(0)].accepting = true,
    |m| m.go().edge.as_mut().unwrap().to = LocationId(2),
    |m| m.go().priority = -1,
    |m| m.go().guard = None,
    |m| m.go().body.clear(),
    |m| {
        let mut actions: Vec<_> = m.program.actions.values().cloned().collect();
        actions.swap(1, 2);
        m.program.actions = actions.into_iter().collect();
    },
    |m| {
        let rule = m.rule().clone();
        let others: Vec<_> = m.program.actions.values().take(4).cloned().collect();
        m.program.actions = [rule].into_iter().chain(others).collect();
    },
    |m| match &mut m.go().body[0].kind {
        StmtKind::Assign { overflow, .. } => *overflow = OverflowRule::Wraps,
        other => panic!("{other:?}"),
    },
    |m| m.go().body = vec![assign(place(m.turn), bin(BinaryOp::Add, read(m.x), c(1)))],
    |m| m.go().body = vec![assign(place(m.y), bin(BinaryOp::Add, read(m.x), c(1)))],
    |m| {
        let message = send(ChannelRef::Named(m.queue), vec![c(0), c(0)]);
        m.go().communication = Some(message);
    },
    |m| {
        let message = send(ChannelRef::Named(m.queue), vec![c(0), c(0)]);
        m.go().body.insert(0, s(StmtKind::Communicate(message)));
    },
    |m| {
        let message = receive(ChannelRef::Named(m.queue), vec![ReceivePattern::Any; 2]);
        m.go().communication = Some(message);
    },
    |m| {
        let patterns = vec![ReceivePattern::Into(place(m.x)), ReceivePattern::Any];
        m.go().communication = Some(receive(ChannelRef::Named(m.queue), patterns));
    },
    |m| {
        let patterns = vec![ReceivePattern::Match(read(m.x)), ReceivePattern::Any];
        m.go().communication = Some(receive(ChannelRef::Named(m.queue), patterns));
    },
    |m| m.rule().parameters.swap(0, 1),
    |m| m.program.starts[0].body.clear(),
    |m| m.program.starts[0].parameters[0].over = m.truth,
    |m| m.program.properties = m.program.properties.values().take(2).cloned().collect(),
    |m| m.program.functions[m.reset].parameters[0].by_reference = false,
];

#[test]
fn programs_of_different_meaning_print_differently() {
    let mut seen = vec![text::print(&model().program).to_string()];
    for (at, change) in CHANGES.iter().enumerate() {
        let mut model = model();
        change(&mut model);
        let printed = text::print(&model.program).to_string();
        assert!(!seen.contains(&printed), "change {at} does not show");
        seen.push(printed);
    }
}

#[test]
fn spans_are_not_printed() {
    let mut model = model();
    model.go().span = Span::new(0, 1..2);
    model.program.variables[VarId(0)].span = Span::new(0, 1..2);
    assert_eq!(text::print(&model.program).to_string(), GOLDEN);
}

#[test]
fn only_necessary_parentheses_are_printed() {
    use BinaryOp::*;
    let model = model();
    let (x, y) = (|| read(model.turn), || c(2));
    let cases = [
        (bin(Add, bin(Add, x(), y()), x()), "turn + 2 + turn"),
        (bin(Add, x(), bin(Add, y(), x())), "turn + (2 + turn)"),
        (bin(Multiply, bin(Add, x(), y()), x()), "(turn + 2) * turn"),
        (bin(Add, bin(Multiply, x(), y()), x()), "turn * 2 + turn"),
        (bin(Less, bin(Less, x(), y()), x()), "(turn < 2) < turn"),
        (bin(Equal, bin(BitAnd, x(), y()), x()), "(turn & 2) == turn"),
        (bin(BitAnd, x(), bin(Equal, y(), x())), "turn & 2 == turn"),
        (bin(Implies, x(), bin(Implies, x(), x())), "turn -> turn -> turn"),
        (bin(Implies, bin(Implies, x(), x()), x()), "(turn -> turn) -> turn"),
        (bin(Or, x(), bin(And, x(), x())), "turn || turn && turn"),
        (bin(And, bin(Or, x(), x()), x()), "(turn || turn) && turn"),
        (bin(Subtract, x(), c(-1)), "turn - -1"),
        (un(UnaryOp::Negate, c(1)), "-(1)"),
        (un(UnaryOp::Negate, un(UnaryOp::Negate, x())), "-(-turn)"),
        (un(UnaryOp::Not, bin(Equal, x(), y())), "!(turn == 2)"),
        (un(UnaryOp::Complement, un(UnaryOp::Not, x())), "~!turn"),
        (bin(ShiftLeft, un(UnaryOp::Negate, x()), y()), "-turn << 2"),
    ];
    for (tree, printed) in cases {
        let shown = text::expr(&model.program, &tree, &text::NameScope::default()).to_string();
        assert_eq!(shown, printed);
    }
}

#[test]
fn clashing_names_are_disambiguated() {
    let mut model = model();
    let second = model.variable("turn", model.byte, vec![Some(0)]);
    let state = model.variable("idle", model.byte, vec![Some(0)]);
    let printer = text::ProgramPrinter::new(&model.program);
    let scope = text::NameScope::inside(model.client);
    let shown = |variable| printer.place(&place(variable), &scope);
    assert_eq!(shown(model.turn), "turn");
    assert_eq!(shown(second), "turn#2");
    assert_eq!(shown(model.y), "Client.turn");
    assert_eq!(shown(model.x), "x");
    assert_eq!(shown(state), "idle");
    let phase = model.program.variables[model.state].ty;
    assert_eq!(printer.value(phase, Some(0)), "idle#2");
    assert_eq!(printer.value(model.node, None), "undefined");
}

#[test]
fn long_operator_chains_need_no_deep_stack() {
    let model = model();
    let mut sum = read(model.turn);
    for _ in 0..20_000 {
        sum = bin(BinaryOp::Add, sum, c(1));
    }
    let shown = text::expr(&model.program, &sum, &text::NameScope::default()).to_string();
    assert_eq!(shown.len(), "turn".len() + 20_000 * " + 1".len());
    let mut program = model.program.clone();
    program.properties.push(property("sum", PropertyKind::Invariant(sum)));
    program.number_exprs();
    assert_eq!(validate(&program), Ok(()));
}

/// A procedure that swaps two places given by reference, through a local variable.
#[test]
fn places_may_start_at_references_and_local_variables() {
    let byte = TypeId(0);
    let local = |number| Place { root: PlaceRoot::Local(LocalId(number)), ..place(VarId(0)) };
    let get = |place: Place| e(ExprKind::Read(place));
    let body = vec![
        assign(local(2), get(local(0))),
        assign(local(0), get(local(1))),
        assign(local(1), get(local(2))),
    ];
    let declare = s(StmtKind::Declare { local: LocalId(2), name: "old".into(), ty: byte, body });
    let parameter = |number, name: &str| FunctionParameter {
        local: LocalId(number),
        name: name.into(),
        ty: byte,
        by_reference: true,
    };
    let parameters = vec![parameter(0, "a"), parameter(1, "b")];
    let swap = Function { parameters, ..function("swap", None, vec![declare]) };
    let mut program = Program::default();
    program.types.push(scalar(Domain::Range { low: 0, high: 255 }));
    let swap = program.functions.push(swap);
    let [one, other] = [("x", 1), ("y", 2)].map(|(name, value)| {
        let (ty, initial) = (TypeId(0), vec![Some(value)]);
        let (name, owner) = (name.into(), Owner::Program);
        program.variables.push(Variable { name, ty, owner, initial, span: NOWHERE })
    });
    let arguments = [one, other].map(|id| CallArgument::Reference(place(id))).to_vec();
    program.starts.push(StartRule {
        name: "start".into(),
        parameters: vec![],
        body: vec![s(call(swap, arguments))],
        span: NOWHERE,
    });
    program.number_exprs();
    assert_eq!(validate(&program).map_err(|problems| format!("{problems:?}")), Ok(()));
    let printed = text::print(&program).to_string();
    for piece in ["function swap(ref a: ", "var old: ", "old := a", "a := b", "b := old"] {
        assert!(printed.contains(piece), "{piece}: {printed}");
    }
    let model = Interp::new(program).unwrap();
    let StepOutcome::Successor(state) = &model.starts()[0].outcome else {
        panic!("the start fails")
    };
    let swapped = [("x", 2), ("y", 1)].map(|(name, value)| (name.into(), value.into()));
    assert_eq!(model.describe(state), swapped);
}

#[test]
fn the_validator_has_the_state_size_of_the_search() {
    assert_eq!(spillway::ir::validate::STATE_BITS_MAX, 8 * spill::WIDTH_MAX as u64);
}
