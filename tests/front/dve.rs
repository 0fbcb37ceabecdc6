//! DVE from text to program: each construct of the language, and each diagnostic.

use proptest::prelude::*;
use spillway::diag::Diagnostic;
use spillway::exec::{ExecutionMode, Executor, Interp};
use spillway::front::{LoadedModel, Options, dve};
use spillway::ir::validate::validate;
use spillway::ir::*;
use spillway::model::{FaultKind, SystemDescription, Violation, memory};
use spillway::search::{self, SearchLimits};
use spillway::source::SourceMap;

// ---- helpers ----

fn load_with(text: &str, options: &Options) -> (SourceMap, Result<LoadedModel, Vec<Diagnostic>>) {
    let mut sources = SourceMap::default();
    sources.add("models/test.dve", text);
    let loaded = dve::LANGUAGE.load(&mut sources, options);
    (sources, loaded)
}

fn render(sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let rendered = diagnostics.iter().map(|diagnostic| diagnostic.render(sources).to_string());
    rendered.collect::<Vec<_>>().join("\n")
}

fn loaded_with(text: &str, options: &Options) -> LoadedModel {
    let (sources, loaded) = load_with(text, options);
    loaded.unwrap_or_else(|errors| panic!("{}", render(&sources, &errors)))
}

fn program(text: &str) -> Program {
    loaded_with(text, &Options::default()).program
}

fn defining(name: &str, value: i64) -> Options {
    Options { defines: vec![(name.to_owned(), value)], ..Options::default() }
}

fn wrapping() -> Options {
    Options { overflow: Some(OverflowRule::Wraps), ..Options::default() }
}

fn errors_with(text: &str, options: &Options) -> String {
    let (sources, loaded) = load_with(text, options);
    match loaded {
        Ok(_) => panic!("accepted: {text}"),
        Err(errors) => render(&sources, &errors),
    }
}

fn errors(text: &str) -> String {
    errors_with(text, &Options::default())
}

fn warnings(text: &str) -> String {
    let (sources, loaded) = load_with(text, &Options::default());
    render(&sources, &loaded.expect("no errors").warnings)
}

/// Returns a model with one process.
fn model_with(globals: &str, locals: &str, transitions: &str) -> String {
    format!(
        "{globals}\nprocess P {{\n{locals}\nstate a, b; init a;\ntrans {transitions};\n}}\n\
         system async;\n"
    )
}

/// A model whose only guard is `guard`.
fn guarded(guard: &str) -> String {
    model_with("byte x, y, z, a1[3]; const int N = 3;", "", &format!("a -> b {{ guard {guard}; }}"))
}

fn guard(text: &str) -> String {
    let program = program(&guarded(text));
    let guard = program.actions[ActionId(0)].guard.as_ref();
    print_expr(&program, guard.expect("a guard"))
}

fn root(place: &Place) -> VarId {
    match place.root {
        PlaceRoot::Variable(variable) => variable,
        PlaceRoot::Local(local) => panic!("{local:?} where a variable is expected"),
    }
}

fn print_place(program: &Program, place: &Place) -> String {
    let mut text = program.variables[root(place)].name.clone();
    for selector in &place.path {
        match selector {
            PlaceSelector::Index(index) => text += &format!("[{}]", print_expr(program, index)),
            PlaceSelector::Field(field) => text += &format!(".{field}"),
        }
    }
    text
}

/// Prints an expression with all brackets and the operator first.
fn print_expr(program: &Program, expr: &Expr) -> String {
    let print = |expr| print_expr(program, expr);
    match &expr.kind {
        ExprKind::Constant(value) => value.to_string(),
        ExprKind::Read(place) => print_place(program, place),
        ExprKind::Unary(operator, operand) => format!("({operator:?} {})", print(operand)),
        ExprKind::Binary(operator, left, right) => {
            format!("({operator:?} {} {})", print(left), print(right))
        }
        ExprKind::At { process, location, .. } => {
            let process = &program.processes[*process];
            format!("{}.{}", process.name, process.locations[*location].name)
        }
        ExprKind::IsFull(ChannelRef::Named(id)) => format!("full({})", program.channels[*id].name),
        ExprKind::IsEmpty(ChannelRef::Named(id)) => {
            format!("empty({})", program.channels[*id].name)
        }
        other => panic!("unexpected {other:?}"),
    }
}

fn print_action(program: &Program, action: &Action) -> String {
    let mut text = action.name.clone();
    if let Some(guard) = &action.guard {
        text += &format!(" | {}", print_expr(program, guard));
    }
    match &action.communication {
        Some(Communication::Send { values, .. }) => {
            let values: Vec<_> = values.iter().map(|value| print_expr(program, value)).collect();
            text += &format!(" | send {}", values.join(", "));
        }
        Some(Communication::Receive { patterns, .. }) => {
            let patterns: Vec<_> = patterns
                .iter()
                .map(|pattern| match pattern {
                    ReceivePattern::Into(place) => print_place(program, place),
                    other => format!("{other:?}"),
                })
                .collect();
            text += &format!(" | receive {}", patterns.join(", "));
        }
        None => {}
    }
    for stmt in &action.body {
        match &stmt.kind {
            StmtKind::Assign { target, value, .. } => {
                let (target, value) = (print_place(program, target), print_expr(program, value));
                text += &format!(" | {target} = {value}");
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    text
}

fn actions(text: &str) -> Vec<String> {
    let program = program(text);
    program.actions.values().map(|action| print_action(&program, action)).collect()
}

fn domain(program: &Program, ty: TypeId) -> (i64, i64) {
    match &program.types[ty] {
        Type::Scalar(scalar) => program.bounds(&scalar.domain),
        Type::Array { element, .. } => domain(program, *element),
        other => panic!("unexpected {other:?}"),
    }
}

fn variable<'p>(program: &'p Program, name: &str) -> &'p Variable {
    let mut variables = program.variables.values();
    variables.find(|variable| variable.name == name).expect("a variable of this name")
}

fn initial(program: &Program, name: &str) -> Vec<i64> {
    variable(program, name).initial.iter().map(|value| value.expect("defined")).collect()
}

// ---- the language ----

#[test]
fn a_program_has_the_rules_of_dve_and_one_start() {
    let program = program("process P { state a; init a; } system async;");
    assert_eq!(program.name, "test");
    assert_eq!(program.schedule, Schedule::Interleaved);
    assert_eq!(program.arithmetic, Arithmetic::Wrapping32);
    assert_eq!(program.end, EndRule::Never);
    assert_eq!(program.starts.len(), 1);
    assert!(program.starts[0].body.is_empty());
}

#[test]
fn sync_systems_move_in_lockstep() {
    let program = program("process P { state a; init a; } system sync;");
    assert_eq!(program.schedule, Schedule::Lockstep);
}

#[test]
fn variables_have_types_owners_and_initial_values() {
    let program =
        program(&model_with("byte x = 200, y; int a1[3] = {-1, 2};", "int x = -300;", ""));
    let owners: Vec<_> = program.variables.values().map(|v| (v.name.as_str(), v.owner)).collect();
    let process = Owner::Process(ProcessId(0));
    assert_eq!(
        owners,
        [("x", Owner::Program), ("y", Owner::Program), ("a1", Owner::Program), ("x", process)]
    );
    let initial_values: Vec<_> = program.variables.values().map(|v| v.initial.clone()).collect();
    assert_eq!(initial_values[0], [Some(200)]);
    assert_eq!(initial_values[1], [Some(0)]);
    assert_eq!(initial_values[2], [Some(-1), Some(2), Some(0)]);
    assert_eq!(initial_values[3], [Some(-300)]);
    assert_eq!(domain(&program, variable(&program, "x").ty), (0, 255));
    assert_eq!(domain(&program, variable(&program, "a1").ty), (-32768, 32767));
    let array = &program.types[variable(&program, "a1").ty];
    assert!(matches!(array, Type::Array { low: 0, length: 3, by: None, .. }));
}

#[test]
fn constants_use_those_before_them() {
    let program = program(&model_with(
        "const byte N = 3, M = N * 2 + 1; int x = M << 1; byte a1[M - N] = {N, M};",
        "const int K = -M; int y = K;",
        "a -> b { guard x == N; effect x = M + K; }",
    ));
    assert_eq!(program.variables.len(), 3);
    assert_eq!(initial(&program, "x"), [14]);
    assert_eq!(initial(&program, "a1"), [3, 7, 0, 0]);
    assert_eq!(initial(&program, "y"), [-7]);
    let action = print_action(&program, &program.actions[ActionId(0)]);
    assert_eq!(action, "P.a -> b | (Equal x 3) | x = 0");
}

#[test]
fn constant_arrays_are_kept_but_never_assigned() {
    let globals = "const byte cost[2] = {5, 7}; byte x;";
    let reads = model_with(globals, "", "a -> b { effect x = cost[x]; }");
    assert_eq!(actions(&reads), ["P.a -> b | x = cost[x]"]);
    let writes = model_with(globals, "", "a -> b { effect cost[0] = 1; }");
    assert!(errors(&writes).contains("`cost` is a constant and cannot be assigned"));
}

#[test]
fn transitions_become_actions_in_source_order() {
    let text = "byte x; channel c;
        process P { state a, b; init b; trans
            a -> b { guard x > 0; effect x = x - 1, x = 2 * x; },
              -> a { sync c!x + 1; },
            b -> a {}; }
        process Q { byte y[2]; state q; init q; trans q -> q { sync c?y[x]; }; }
        system async;";
    assert_eq!(
        actions(text),
        [
            "P.a -> b | (Greater x 0) | x = (Subtract x 1) | x = (Multiply 2 x)",
            "P.a -> a (c!) | send (Add x 1)",
            "P.b -> a",
            "Q.q -> q (c?) | receive y[x]",
        ]
    );
    let program = program(text);
    assert_eq!(program.processes[ProcessId(0)].start, LocationId(1));
    let edge = program.actions[ActionId(1)].edge.expect("an edge");
    assert_eq!(edge, ProcessEdge { process: ProcessId(0), from: LocationId(0), to: LocationId(0) });
}

#[test]
fn assignments_fail_on_overflow_unless_they_wrap() {
    let text = model_with("byte x;", "", "a -> b { effect x = 1; }");
    for (options, expected) in
        [(Options::default(), OverflowRule::Fails), (wrapping(), OverflowRule::Wraps)]
    {
        let program = loaded_with(&text, &options).program;
        let body = &program.actions[ActionId(0)].body;
        assert!(matches!(body[0].kind, StmtKind::Assign { overflow, .. } if overflow == expected));
    }
}

#[test]
fn untyped_channels_have_the_values_of_their_uses() {
    let text = "byte x; channel plain, one, two;
        process P { state a; init a; trans
            a -> a { sync plain!; }, a -> a { sync one!x; }, a -> a { sync two!{x, 2}; }; }
        process Q { byte y, z; state a; init a; trans
            a -> a { sync plain?; }, a -> a { sync one?; }, a -> a { sync two?{y, z}; }; }
        system async;";
    let program = program(text);
    let channels: Vec<_> = program.channels.values().collect();
    assert_eq!(channels.iter().map(|c| c.fields.len()).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(channels.iter().all(|c| c.capacity == 0 && c.owner == Owner::Program));
    assert_eq!(domain(&program, channels[1].fields[0]), (i32::MIN.into(), i32::MAX.into()));
    assert_eq!(actions(text)[4], "Q.a -> a (one?) | receive Any");
}

#[test]
fn typed_channels_have_fields_and_a_buffer() {
    let text = "channel {byte, int} c[4]; channel {byte} d[0], e;
        process P { byte x; int y; state a; init a; trans
            a -> a { guard not full(c); sync c!{1, y}; },
            a -> a { guard empty(c) or x == 0; sync c?{x, y}; },
            a -> a { sync d!x; }; }
        system async;";
    let program = program(text);
    let capacities: Vec<_> = program.channels.values().map(|channel| channel.capacity).collect();
    assert_eq!(capacities, [4, 0, 0]);
    let fields = &program.channels[ChannelId(0)].fields;
    assert_eq!(domain(&program, fields[0]), (0, 255));
    assert_eq!(domain(&program, fields[1]), (-32768, 32767));
    assert_eq!(
        actions(text)[..2],
        [
            "P.a -> a (c!) | (Not full(c)) | send 1, y",
            "P.a -> a (c?) | (Or empty(c) (Equal x 0)) | receive x, y",
        ]
    );
}

#[test]
fn processes_read_locations_and_variables_of_each_other() {
    let text = "process P { state a; init a; trans
            a -> a { guard Q.r and Q->x == Q->y[1] + Q->K; }; }
        process Q { const byte K = 4; byte x, y[2]; state q, r; init q; } system async;";
    assert_eq!(actions(text), ["P.a -> a | (And Q.r (Equal x (Add y[1] 4)))"]);
}

#[test]
fn committed_and_accepting_states_are_marked() {
    let text = "process P { state a, b, c; commit b, c; init a; accept a, c; } system async;";
    let program = program(text);
    let locations: Vec<_> = program.processes[ProcessId(0)].locations.values().collect();
    let grips: Vec<_> = locations.iter().map(|location| location.urgency).collect();
    assert_eq!(grips, [Urgency::Free, Urgency::Committed, Urgency::Committed]);
    let accepting: Vec<_> = locations.iter().map(|location| location.accepting).collect();
    assert_eq!(accepting, [true, false, true]);
}

#[test]
fn assertions_belong_to_a_state() {
    let text = "process P { byte x; state a, b; init a;
        assert a: x   ==\n 0, b (x < 3); } system async;";
    let program = program(text);
    let names: Vec<_> = program.properties.values().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["x == 0", "(x < 3)"]);
    match &program.properties[PropertyId(1)].kind {
        PropertyKind::AssertionAt { process, location, condition } => {
            assert_eq!((*process, *location), (ProcessId(0), LocationId(1)));
            assert_eq!(print_expr(&program, condition), "(Less x 3)");
        }
        other => panic!("unexpected {other:?}"),
    }
}

#[test]
fn a_property_process_is_kept_but_does_not_move() {
    let text = "byte x;
        process P { state a; init a; trans a -> a { effect x = 1; }; }
        process LTL { state q, r; init q; commit q; accept r; trans q -> r { guard P.a; }; }
        system async property LTL;";
    let program = program(text);
    assert_eq!(actions(text), ["P.a -> a | x = 1"]);
    assert_eq!(program.processes.len(), 2);
    let property = &program.properties[PropertyId(0)];
    assert_eq!(property.kind, PropertyKind::Automaton(ProcessId(1)));
    assert_eq!(program.processes[ProcessId(1)].locations[LocationId(0)].urgency, Urgency::Free);
    let broken = text.replace("guard P.a", "guard P.z");
    assert!(errors(&broken).contains("process `P` has no state `z`"));
}

#[test]
fn sections_come_in_any_order() {
    let text = "process P { trans a -> b { effect x = 1; guard x == 0; }; init a; byte x; \
                state b; state a; } system async;";
    assert_eq!(actions(text), ["P.a -> b | (Equal x 0) | x = 1"]);
}

#[test]
fn local_names_hide_global_ones() {
    let text = model_with("int x = -1;", "byte x = 1;", "a -> b { effect x = x; }");
    let program = program(&text);
    match &program.actions[ActionId(0)].body[0].kind {
        StmtKind::Assign { target, .. } => assert_eq!(target.root, PlaceRoot::Variable(VarId(1))),
        other => panic!("unexpected {other:?}"),
    }
}

// ---- expressions ----

#[test]
fn operators_bind_by_level() {
    let levels = [
        ("x imply y || z", "(Implies x (Or y z))"),
        ("x or (y and z)", "(Or x (And y z))"),
        ("x and y or z", "(Or (And x y) z)"),
        ("x && y | z", "(And x (BitOr y z))"),
        ("x | (y ^ z)", "(BitOr x (BitXor y z))"),
        ("x ^ (y & z)", "(BitXor x (BitAnd y z))"),
        ("x & y == z", "(BitAnd x (Equal y z))"),
        ("x == y < z", "(Equal x (Less y z))"),
        ("x != y >= z", "(NotEqual x (GreaterEqual y z))"),
        ("x <= y << z", "(LessEqual x (ShiftLeft y z))"),
        ("x >> y + z", "(ShiftRight x (Add y z))"),
        ("x - y * z", "(Subtract x (Multiply y z))"),
        ("x / -y", "(Divide x (Negate y))"),
        ("x % ~y", "(Remainder x (Complement y))"),
        ("not x == y", "(Equal (Not x) y)"),
        ("!x && - - y", "(And (Not x) (Negate (Negate y)))"),
        ("not a1[x + 1]", "(Not a1[(Add x 1)])"),
    ];
    for (text, expected) in levels {
        assert_eq!(guard(text), expected, "{text}");
    }
}

#[test]
fn mixed_precedence_follows_c_with_a_warning() {
    let cases = [
        ("x or y and z", "(Or x (And y z))", "`&&` binds tighter than `||` here"),
        ("x | y & z", "(BitOr x (BitAnd y z))", "`&` binds tighter than `|` here"),
        ("x | y ^ z", "(BitOr x (BitXor y z))", "`^` binds tighter than `|` here"),
    ];
    for (text, expected, warning) in cases {
        assert_eq!(guard(text), expected);
        assert!(warnings(&guarded(text)).contains(warning), "{}", warnings(&guarded(text)));
    }
    assert_eq!(warnings(&guarded("x or (y and z)")), "");
    assert_eq!(warnings(&guarded("x and y or z")), "");
}

#[test]
fn operators_associate_to_the_left() {
    assert_eq!(guard("x - y - z"), "(Subtract (Subtract x y) z)");
    assert_eq!(guard("x / y % z"), "(Remainder (Divide x y) z)");
    assert_eq!(guard("x imply y imply z"), "(Implies (Implies x y) z)");
    assert_eq!(guard("x - (y - z)"), "(Subtract x (Subtract y z))");
    assert_eq!(guard("x + y + z"), "(Add (Add x y) z)");
}

#[test]
fn operator_chains_are_balanced_and_keep_their_order() {
    assert_eq!(guard("x || y || z || x"), "(Or (Or x y) (Or z x))");
}

#[test]
fn constants_are_folded_in_32_bits() {
    let cases = [
        ("2147483647 + 1 == x", "(Equal -2147483648 x)"),
        ("x == 7 / -2", "(Equal x -3)"),
        ("x == -7 % 2", "(Equal x -1)"),
        ("true and N == 3", "1"),
        ("false and x / 0 == 1", "0"),
        ("true or x == 1", "1"),
        ("false imply x", "1"),
        ("x == 1 / 0", "(Equal x (Divide 1 0))"),
        ("x == 1 << 32", "(Equal x (ShiftLeft 1 32))"),
        ("x == ~0", "(Equal x -1)"),
        ("not 5", "0"),
    ];
    for (text, expected) in cases {
        assert_eq!(guard(text), expected, "{text}");
    }
}

// ---- extensions ----

const RING: &str = "const byte N = 3; channel link[i < N];
process Node[i < N] {
    byte x = i; state idle, busy; init idle;
    trans idle -> busy { guard Node[(i + 1) % N].idle; sync link[(i + 1) % N]!x; },
          busy -> idle { sync link[i]?x; };
}
process Watch { state w; init w;
    trans w -> w { guard Node[N - 1]->x == Node_0->x; sync link_1!N; }; }
system async;";

#[test]
fn families_become_their_members() {
    let program = program(RING);
    let names: Vec<_> = program.processes.values().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["Node_0", "Node_1", "Node_2", "Watch"]);
    let names: Vec<_> = program.channels.values().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["link_0", "link_1", "link_2"]);
    let first: Vec<_> = program.variables.values().map(|v| v.initial[0]).collect();
    assert_eq!(first, [Some(0), Some(1), Some(2)]);
    assert_eq!(
        actions(RING),
        [
            "Node_0.idle -> busy (link_1!) | Node_1.idle | send x",
            "Node_0.busy -> idle (link_0?) | receive x",
            "Node_1.idle -> busy (link_2!) | Node_2.idle | send x",
            "Node_1.busy -> idle (link_1?) | receive x",
            "Node_2.idle -> busy (link_0!) | Node_0.idle | send x",
            "Node_2.busy -> idle (link_2?) | receive x",
            "Watch.w -> w (link_1!) | (Equal x x) | send 3",
        ]
    );
}

#[test]
fn defines_replace_global_constants() {
    let program = loaded_with(RING, &defining("N", 5)).program;
    assert_eq!(program.processes.len(), 6);
    assert_eq!(program.channels.len(), 5);
}

#[test]
fn buffered_channels_form_families() {
    let text = "channel {byte} buf[i < 2][4]; process P { state a; init a; trans
        a -> a { guard empty(buf[1]); sync buf[0]!1; }; } system async;";
    let capacities: Vec<_> = program(text).channels.values().map(|c| c.capacity).collect();
    assert_eq!(capacities, [4, 4]);
    assert_eq!(actions(text), ["P.a -> a (buf_0!) | empty(buf_1) | send 1"]);
}

#[test]
fn an_index_outside_a_family_is_reported_with_its_member() {
    let text = RING.replace("link[(i + 1) % N]", "link[i + 1]");
    let message = "error: `link` has no member 3 for i = 2";
    assert_error(&text, (4, 66), "i + 1", message);
    assert!(errors(&text).contains("help: its members are 0 to 2"));
}

#[test]
fn a_define_must_name_a_global_constant() {
    assert_eq!(
        errors_with(RING, &defining("Size", 5)),
        "error: no global constant is called `Size`, so it cannot be defined\n  \
         help: its global constants are `N`"
    );
    let bare = model_with("", "const byte N = 1;", "");
    assert!(errors_with(&bare, &defining("N", 5)).contains("the model has no global constants"));
    assert!(errors_with(RING, &defining("N", 300)).contains("`N` is a byte (0 to 255)"));
}

// ---- execution ----

/// Returns the outcome of a search of all states, interpreted and compiled, and the findings other than deadlocks.
fn search_results(
    text: &str,
    options: &Options,
) -> (search::SearchOutcome, Vec<(Violation, u64, u64)>) {
    let program = loaded_with(text, options).program;
    validate(&program).unwrap();
    let interp = Interp::new(program).unwrap();
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let [interpreted, compiled] = [ExecutionMode::Interp, ExecutionMode::Jit]
        .map(|exec| memory::search(Executor::new(&interp, exec).model(), &limits).unwrap());
    assert_eq!(interpreted, compiled);
    let all = compiled.findings.iter().filter(|(check, _)| *check != Violation::Deadlock);
    let all = all.map(|(check, finding)| (check, finding.level, finding.count)).collect();
    (compiled, all)
}

#[test]
fn values_sent_by_rendezvous_must_fit_the_fields() {
    let model = |channel: &str, expected: i64| {
        format!(
            "channel {channel};
            process P {{ state a, b; init a; trans a -> b {{ sync c!300; }}; }}
            process Q {{ int x; state a, b; init a; assert b x == {expected};
                trans a -> b {{ sync c?x; }}; }}
            system async;"
        )
    };
    let plain = Options::default();
    for channel in ["{byte} c[0]", "{byte} c"] {
        let (outcome, found) = search_results(&model(channel, 44), &plain);
        // The receiver's action is the second one.
        assert_eq!(found, [(Violation::Fault(FaultKind::Range, 1), 0, 1)], "{channel}");
        assert_eq!((outcome.states(), outcome.counters.transitions), (1, 0));
    }
    for (channel, expected, options) in [
        ("{byte} c[0]", 44, wrapping()),
        ("{int} c[0]", 300, wrapping()),
        ("{int} c[0]", 300, plain.clone()),
        ("c", 300, plain),
    ] {
        let (outcome, found) = search_results(&model(channel, expected), &options);
        assert_eq!((found, outcome.states()), (vec![], 2), "{channel}");
    }
}

#[test]
fn a_fault_in_an_assertion_is_a_violation() {
    let text = "byte zero; byte one = 1; byte a[2];
        process P { state s, t, u; init s;
            assert s 1 / zero == 0, t a[one + 1] == 0, u a[one] == 1;
            trans s -> t {}, t -> u {}; }
        system async;";
    let (outcome, found) = search_results(text, &Options::default());
    // The evaluations of assertions are numbered after the actions and the start.
    let expected = [
        (Violation::Property(2), 2, 1),
        (Violation::Fault(FaultKind::Index, 4), 1, 1),
        (Violation::Fault(FaultKind::Division, 3), 0, 1),
    ];
    assert!(expected.iter().all(|it| found.contains(it)) && found.len() == 3, "{found:?}");
    assert_eq!((outcome.states(), outcome.deadlocks()), (3, 1));
    let interp = Interp::new(loaded_with(text, &Options::default()).program).unwrap();
    assert_eq!(interp.action_name(3), "1 / zero == 0");
}

// ---- diagnostics ----

#[test]
fn sync_systems_have_no_rendezvous() {
    let process = "process P { state a; init a; }\nsystem sync;";
    for (channel, position, name) in
        [("channel c;", (1, 9), "c"), ("channel {byte} ch[2], d[0];", (1, 23), "d")]
    {
        let text = format!("{channel}\n{process}");
        assert_error(&text, position, name, "is a rendezvous, which a `system sync` cannot have");
    }
    let family = format!("channel link[i < 3];\n{process}");
    assert_eq!(errors(&family).matches("error:").count(), 1);
    assert!(errors(&family).contains("write `system async;`"));
}

#[test]
fn a_define_of_any_size_wraps() {
    let options = |value| Options { overflow: Some(OverflowRule::Wraps), ..defining("N", value) };
    for (value, wrapped) in [(i64::MAX, -1), (i64::MIN, 0), (65_536 + 7, 7)] {
        let text = "const int N = 1; int x = N; process P { state a; init a; } system async;";
        assert_eq!(initial(&loaded_with(text, &options(value)).program, "x"), [wrapped]);
    }
}

#[test]
fn a_diagnostic_shows_the_place() {
    assert_eq!(
        errors(&model_with("byte counter;", "", "a -> b { guard conter == 1; }")),
        "models/test.dve:5:22: error: no variable or constant is called `conter`
   |
 5 | trans a -> b { guard conter == 1; };
   |                      ^^^^^^
  help: did you mean `counter`?"
    );
}

/// Checks the first error of a model: its line, its column, the text at the caret, and a part of the message.
fn assert_error(text: &str, (line, column): (usize, usize), marked: &str, message: &str) {
    let (sources, loaded) = load_with(text, &Options::default());
    let errors = loaded.err().unwrap_or_else(|| panic!("accepted: {text}"));
    let shown = render(&sources, &errors);
    let at = sources.file(0).position(errors[0].span.start);
    assert!(shown.contains(message), "{shown}\nlacks {message}");
    assert_eq!((at.line, at.column), (line, column), "{shown}");
    assert_eq!(sources.text(errors[0].span), marked, "{shown}");
}

/// Checks the first error in the only transition, on line 5 of the model.
fn assert_error_in_transition(globals: &str, inside: &str, marked: &str, message: &str) {
    let text = model_with(globals, "", &format!("a -> b {{ {inside} }}"));
    let line = text.lines().nth(4).expect("five lines");
    let column = line.find(marked).expect("the marked text") + 1;
    assert_error(&text, (5, column), marked, message);
}

#[test]
fn misused_names_are_reported_with_their_kind() {
    let globals = "byte x, arr[2]; const byte N = 1; channel c, d; channel {byte, byte} two[2];";
    let cases = [
        ("guard arr == 1;", "arr", "`arr` is an array, and this names no element"),
        ("guard x[0+0] == 1;", "0+0", "`x` is a variable, not an array"),
        ("guard N[4] == 1;", "4", "`N` is a constant, not an array"),
        ("effect N = 2;", "N", "`N` is a constant and cannot be assigned"),
        ("effect P->y = 2;", "P->y", "only `P` itself may assign its variables"),
        ("guard P.zzz;", "zzz", "process `P` has no state `zzz`"),
        ("guard P->zzz == 1;", "zzz", "process `P` has no variable `zzz`"),
        ("sync c[1]!;", "1", "`c` is one channel, not a family"),
        ("sync c?N;", "N", "`N` is a constant and cannot be assigned"),
        ("sync c?x+1;", "x+1", "expected a variable, found an expression"),
        ("sync two!1;", "two!1", "`two` carries 2 values, but 1 given here"),
        ("guard 99999999999 == x;", "99999999999", "this number does not fit into 32 bits"),
    ];
    for (inside, marked, message) in cases.into_iter() {
        assert_error_in_transition(globals, inside, marked, message);
    }
    let kinds = [
        ("guard P == 1;", "expected a variable or constant, but `P` is a process"),
        ("guard b == 1;", "expected a variable or constant, but `b` is a state"),
        ("guard c == 1;", "expected a variable or constant, but `c` is a channel"),
        ("guard x.a;", "expected a process, but `x` is a variable"),
        ("sync x!;", "expected a channel, but `x` is a variable"),
        ("sync e!;", "no channel is called `e`"),
        ("guard full(c);", "`c` has no buffer"),
        ("effect y = 1;", "no variable or constant is called `y`"),
    ];
    for (inside, message) in kinds {
        let shown = errors(&model_with(globals, "", &format!("a -> b {{ {inside} }}")));
        assert!(shown.contains(message), "{shown}");
    }
}

#[test]
fn a_name_has_one_meaning_in_a_scope() {
    let text = "byte x;\nchannel x;\nprocess P { byte a; state a; init a; } system async;";
    let shown = errors(text);
    assert!(shown.contains("2:9: error: `x` is declared twice"), "{shown}");
    assert!(shown.contains("help: it is declared first on line 1"), "{shown}");
    assert!(shown.contains("3:27: error: `a` is declared twice"), "{shown}");
}

#[test]
fn declarations_are_checked() {
    let p = "process P { state a; init a; } system async;";
    let cases = [
        ("const byte N;", "N", "the constant `N` has no value"),
        ("const byte N = M;", "M", "no variable or constant is called `M`"),
        ("const byte N = 3 / 0;", "3 / 0", "a division by zero in a constant's value"),
        ("int x = 1 << 40;", "1 << 40", "a shift by less than 0 or more than 31 bits"),
        ("byte x = 300;", "300", "`x` is a byte (0 to 255) and cannot be 300"),
        ("byte x = -1;", "-1", "`x` is a byte (0 to 255) and cannot be -1"),
        ("int x = 40000;", "40000", "`x` is an int (-32768 to 32767) and cannot be 40000"),
        ("byte a[0];", "0", "the size of an array is 0, but must be 1 to 65536"),
        ("byte a[2] = 1;", "1", "an array starts with a list of values"),
        ("byte x = {1};", "{1}", "`x` is not an array and starts with one value"),
        ("channel c[4];", "4", "only a channel with declared fields has a capacity"),
        ("channel c[i < 0];", "0", "the number of members is 0, but must be 1 to 65536"),
    ];
    for (declaration, marked, message) in cases.into_iter() {
        let column = declaration.find(marked).expect("marked") + 1;
        assert_error(&format!("{declaration}\n{p}"), (1, column), marked, message);
    }
    assert!(errors(&format!("const byte N = N; {p}")).contains("is called `N`"));
    assert!(errors(&format!("byte x; byte y = x; {p}")).contains("a first value must be constant"));
}

#[test]
fn processes_are_checked() {
    let cases = [
        ("process P { state a; }", "P", "process `P` has no initial state"),
        ("process P { init a; }", "P", "process `P` has no states"),
        ("process P { state a; init z; }", "z", "process `P` has no state `z`"),
        ("process P { state a; init a; commit z; }", "z", "process `P` has no state `z`"),
        ("process P { state a; init a; accept z; }", "z", "process `P` has no state `z`"),
        ("process P { state a; init a; assert z: 1; }", "z", "process `P` has no state `z`"),
        ("process P { state a; init a; trans a -> z {}; }", "z", "has no state `z`"),
        ("process P[3] { state a; init a; }", "3", "expected the members of a family"),
    ];
    for (process, marked, message) in cases.into_iter() {
        let found = if marked == "P" { process.find(marked) } else { process.rfind(marked) };
        let column = found.expect("the marked text") + 1;
        assert_error(&format!("{process}\nsystem async;"), (1, column), marked, message);
    }
    let twice = "process P { state a; init a; init a; } system async;";
    assert!(errors(twice).contains("a process has one initial state"));
    let property = "process P { state a; init a; } system async property Q;";
    assert!(errors(property).contains("no process is called `Q`"));
    assert!(errors("byte x; system async;").contains("the model has no process"));
}

#[test]
fn syntax_errors_name_the_expected_tokens() {
    let cases = [
        ("", (1, 1), "the file holds no model"),
        (" // nothing\n", (2, 1), "the file holds no model"),
        ("byte x", (1, 7), "expected `;`, found the end of the file"),
        ("byte ;", (1, 6), "expected the name of a variable, found `;`"),
        ("byte init;", (1, 6), "help: `init` is a reserved word"),
        ("byte x\nbyte y;", (1, 7), "expected `;`, found `byte`"),
        ("byte x = 3 +;", (1, 13), "expected an expression, found `;`"),
        ("byte x = (3;", (1, 12), "expected `)`, found `;`"),
        ("byte x = foo(3);", (1, 13), "expected an operator or the end of the expression"),
        ("const x = 3;", (1, 7), "expected `byte` or `int`, found `x`"),
        ("foo", (1, 1), "expected a declaration, a `process` or `system`, found `foo`"),
        ("process P { state a; init a; }", (1, 31), "the model has no `system` line"),
        ("process P { foo }", (1, 13), "`assert`, `trans` or `}`, found `foo`"),
        ("process P { channel c; }", (1, 13), "channels are declared outside processes"),
        ("process P { trans -> b {}; }", (1, 19), "the first transition needs a source state"),
        ("process P { trans a => {b:1}; }", (1, 21), "probabilistic transitions"),
        ("process P { trans a -> b {} a -> b {}; }", (1, 29), "expected `,` or `;` after"),
        ("process P { trans a -> b { foo }; }", (1, 28), "expected `guard`, `sync`, `effect`"),
        ("process P { trans a -> b { guard 1; guard 1; }; }", (1, 37), "has one `guard`"),
        ("process P { trans a -> b { effect 3 = 1; }; }", (1, 35), "a variable to assign"),
        ("process P { trans a -> b { effect x == 1; }; }", (1, 37), "expected `=`, found `==`"),
        ("process P { trans a -> b { sync c; }; }", (1, 34), "expected `!` or `?`, found `;`"),
        ("system foo;", (1, 8), "expected `async` or `sync`, found `foo`"),
        ("system async; byte x;", (1, 15), "expected the end of the file after the `system`"),
        ("byte x = 3x;", (1, 10), "a number runs into a name"),
        ("byte x = @;", (1, 10), "the character '@' has no meaning here"),
        ("byte x; /* never", (1, 9), "this comment is never closed"),
    ];
    for (text, (line, column), message) in cases {
        let (sources, loaded) = load_with(text, &Options::default());
        let errors = loaded.err().unwrap_or_else(|| panic!("accepted: {text}"));
        let shown = render(&sources, &errors);
        assert_eq!(errors.len(), 1, "{shown}");
        assert!(shown.contains(message), "{shown}\nlacks {message}");
        let at = sources.file(0).position(errors[0].span.start);
        assert_eq!((at.line, at.column), (line, column), "{shown}");
    }
}

#[test]
fn uses_of_an_untyped_channel_must_agree() {
    let model = |left: &str, right: &str| {
        format!(
            "byte x, y; channel c;\nprocess P {{ state a; init a; trans\na -> a {{ sync {left}; }},\n\
             a -> a {{ sync {right}; }}; }} system async;"
        )
    };
    assert_error(
        &model("c!{1, 2}", "c?x"),
        (4, 15),
        "c?x",
        "`c` carries 2 values on line 3, but 1 here",
    );
    assert_error(&model("c!", "c?x"), (3, 15), "c!", "`c` carries 1 value on line 4, but 0 here");
}

#[test]
fn surplus_values_and_indices_out_of_range_are_warnings() {
    let text =
        model_with("byte s[2] = {1, 0, 0}, x;", "", "a -> b { guard x == 1 and s[2] == 0; }");
    assert_eq!(
        warnings(&text),
        "models/test.dve:1:20: warning: `s` has 2 elements, but 3 values are given
   |
 1 | byte s[2] = {1, 0, 0}, x;
   |                    ^
  help: this value and those after it are ignored
models/test.dve:5:35: warning: `s` has no element 2: a step that gets here fails
   |
 5 | trans a -> b { guard x == 1 and s[2] == 0; };
   |                                   ^
  help: its elements are 0 to 1"
    );
}

#[test]
fn initial_values_wrap_with_a_warning_if_selected() {
    let loaded = loaded_with(&model_with("byte x = 300; int y = 40000;", "", ""), &wrapping());
    assert_eq!(initial(&loaded.program, "x"), [44]);
    assert_eq!(initial(&loaded.program, "y"), [-25536]);
    assert_eq!(loaded.warnings.len(), 2);
}

#[test]
fn errors_are_sorted_and_limited() {
    let transitions: Vec<_> = (0..500).map(|i| format!("a -> b {{ guard v{i}; }}")).collect();
    let (_, loaded) = load_with(&model_with("", "", &transitions.join(",\n")), &Options::default());
    let errors = loaded.expect_err("unknown names");
    assert_eq!(errors.len(), 21);
    assert!(errors[..20].is_sorted_by_key(|error| error.span));
    assert_eq!(errors[20].message, "480 more errors are not shown");
}

#[test]
fn an_error_in_a_family_is_reported_once() {
    let text = RING.replace("byte x = i", "byte x = j");
    let (_, loaded) = load_with(&text, &Options::default());
    assert_eq!(loaded.expect_err("unknown name").len(), 1);
}

#[test]
fn huge_states_are_refused() {
    let distinct: String = (0..17).map(|i| format!("byte a{i}[65536]; ")).collect();
    assert!(
        errors(&model_with(&distinct, "", "")).contains("a state holds more than 1048576 integers")
    );
    let family = "process P[i < 65536] { byte x[65536]; state a; init a; } system async;";
    assert!(errors(family).contains("a state holds more than"));
}

// ---- hostile input ----

const BIG: usize = 10 << 20;

#[test]
fn deep_nesting_is_refused() {
    let deep = |open: &str, close: &str| {
        guarded(&format!("{}x{}", open.repeat(100_000), close.repeat(100_000)))
    };
    for (open, close) in
        [("(", ")"), ("-", ""), ("not ", ""), ("a1[", "]"), ("1 + (", ")"), ("full(c[", "])")]
    {
        let shown = errors(&deep(open, close));
        assert!(shown.contains("this expression is nested more than 250 deep"), "{shown}");
    }
    assert!(errors(&guarded(&"x - ".repeat(100_000))).contains("nested more than 250 deep"));
    assert_eq!(guard(&format!("{}x{}", "(".repeat(250), ")".repeat(250))), "x");
}

#[test]
fn long_chains_are_not_deep() {
    for operator in ["||", "&&", "+", "*", "|", "&", "^"] {
        let text = guarded(&format!("{}x", format!("x {operator} ").repeat(100_000)));
        assert_eq!(program(&text).actions.len(), 1);
    }
}

#[test]
fn ten_megabytes_of_garbage_cause_one_message() {
    for piece in ["(", "{", "[", "process ", "byte x = ((((", "\u{1F980}", "a", "1", "/*", "\\"] {
        let text = piece.repeat(BIG / piece.len());
        let (sources, loaded) = load_with(&text, &Options::default());
        let errors = loaded.expect_err("garbage");
        assert_eq!(errors.len(), 1);
        assert!(render(&sources, &errors).len() < 1000);
    }
    let long_name = guarded(&"v".repeat(BIG));
    assert!(errors(&long_name).len() < 1000);
}

/// Generates random words of the language.
fn random_words() -> impl Strategy<Value = String> {
    let words = [
        "process", "P", "{", "}", "state", "a", "b", ",", ";", "init", "trans", "->", "guard",
        "sync", "effect", "c", "!", "?", "x", "=", "==", "1", "(", ")", "[", "]", "system",
        "async", "byte", "int", "const", "channel", "<", "N", ".", "+", "-", "not", "and", "/",
        "commit", "accept", "assert", ":", "property", "full", "0", "<<", "imply",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..80).prop_map(|w| w.join(" "))
}

/// Generates models with random words in expressions.
fn models_with_random_expressions() -> impl Strategy<Value = String> {
    let names = ["x", "y", "arr", "N", "c", "buf", "P", "Q", "Q[1]", "a", "i", "Q_0", "zzz"];
    let signs = ["+", "-", "/", "<<", "and", "[", "]", "(", ")", "->x", ".a", "==", "1", "9", "!"];
    let words: Vec<&str> = names.into_iter().chain(signs).collect();
    let words_of = || prop::collection::vec(prop::sample::select(words.clone()), 1..6);
    (words_of(), words_of(), words_of()).prop_map(|(size, guard, effect)| {
        format!(
            "const int N = {}; byte x, y, arr[4]; channel c; channel {{byte}} buf[2];
             process P {{ state a, b; init a; }}
             process Q[i < 2] {{ byte x; state a; init a; trans
                a -> a {{ guard {}; effect x = {}; }}, a -> a {{ sync {}; }}; }}
             system async;",
            size.join(" "),
            guard.join(" "),
            effect.join(" "),
            guard.join(""),
        )
    })
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in ".*") {
        let (sources, loaded) = load_with(&text, &Options::default());
        loaded.err().iter().for_each(|errors| drop(render(&sources, errors)));
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (sources, loaded) = load_with(&String::from_utf8_lossy(&bytes), &Options::default());
        loaded.err().iter().for_each(|errors| drop(render(&sources, errors)));
    }

    #[test]
    fn any_words_are_read_without_panic(text in random_words()) {
        let (sources, loaded) = load_with(&text, &Options::default());
        loaded.err().iter().for_each(|errors| drop(render(&sources, errors)));
    }

    #[test]
    fn any_expressions_are_read_without_panic(text in models_with_random_expressions()) {
        let (sources, loaded) = load_with(&text, &wrapping());
        loaded.err().iter().for_each(|errors| drop(render(&sources, errors)));
    }
}
