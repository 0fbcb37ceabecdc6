//! Dead variables: resetting them has no effect on behaviour. The resetting program and the original run in lockstep,
//! and the size of the reduced space is compared with counts by hand.
//!
//! `SPILLWAY_LARGE` runs more random programs, which take minutes.

use crate::generated::{Generated, dense_programs, programs};
use crate::support::lockstep::{
    self, check_resumed_reduction, check_rewriting, compare_in_lockstep, load,
};
use crate::support::reductions::{bisimilar, dead};
use proptest::prelude::*;
use spillway::budget::AnalysisBudget;
use spillway::exec::Interp;
use spillway::ir::{EndRule, Program, Stmt, StmtKind};
use spillway::reduce::ReductionConfig;
use spillway::reduce::dead::DeadVariableElimination;
use spillway::reduce::rewriting::{ProgramForm, RewrittenProgram};
use spillway::reduce::{PreservedProperties, PropertyClass, ReductionPlan, ReductionStack};

/// Returns the numbers of states of a model as written and with resets, after a check that both simulate each other.
fn state_counts(language: &str, text: &str) -> (usize, usize) {
    lockstep::state_counts(language, text, dead())
}

/// `x` is live at `b` only, where it has three values. As written, there are 1 + 3 + 3 + 3 states. With resets, there
/// are 1 + 3 + 1.
#[test]
fn dve_locals_are_dead_where_they_are_set_before_they_are_read() {
    let text = "process P { byte x; state a, b, c; init a;
        trans a -> b { effect x = 1; }, a -> b { effect x = 2; }, a -> b { effect x = 3; },
              b -> c { guard x < 9; }, c -> a { }; } system async;";
    assert_eq!(state_counts("dve", text), (10, 5));
}

/// As written, there are three states before the first message. For each of two last messages, the sender's variable is
/// the same or one of two, and the receiver has checked it or not: 3 + 2 * (1 + 2) * 2. The sender's variable is live
/// before the send, the receiver's before the check: (1 + 2) * (1 + 2).
#[test]
fn rendezvous_operands_are_live_until_the_message_is_sent_and_read() {
    let text = "chan c = [0] of { byte };
        active proctype S() { byte v; do :: v = 1; c!v :: v = 2; c!v od }
        active proctype R() { byte w; do :: c?w; assert(w > 0) od }";
    assert_eq!(state_counts("promela", text), (15, 9));
}

/// A global with one reader is treated like its local variable. A variable without readers keeps its initial value, and
/// so does a variable that is only stored there.
#[test]
fn globals_with_at_most_one_reader_are_reset() {
    // `x` is as in the first test. `seen` has the last value of `x` or 0, so that there are four times as many states
    // at `b`.
    let text = "byte x; byte seen; process P { state a, b, c; init a;
        trans a -> b { effect x = 1; }, a -> b { effect x = 2; }, a -> b { effect x = 3; },
              b -> c { guard x < 9; effect seen = x; }, c -> a { }; } system async;";
    assert_eq!(state_counts("dve", text), (1 + 3 * 4 + 3 + 3, 5));
}

/// Two processes both set a global and read it. It is dead only while both are at `a`. There it has three values as
/// written. It has two values in each other combination of locations.
#[test]
fn globals_with_several_readers_are_reset_where_all_of_them_overwrite() {
    let process = |name| {
        format!(
            "process {name} {{ state a, b; init a; trans a -> b {{ effect g = 1; }},
             a -> b {{ effect g = 2; }}, b -> a {{ guard g < 9; }}; }}"
        )
    };
    let text = format!("byte g; {} {} system async;", process("P"), process("Q"));
    assert_eq!(state_counts("dve", &text), (3 + 2 + 2 + 2, 1 + 2 + 2 + 2));
}

/// Another process writes `g`, which is dead while its only reader is at `a`. There it has one value instead of four.
#[test]
fn globals_with_other_writers_are_reset_where_the_reader_overwrites() {
    let text = "byte g; process W { state a; init a; trans a -> a { effect g = 1; }, a -> a { effect g = 2; }; }
        process R { state a, b; init a; trans a -> b { effect g = 3; }, b -> a { guard g < 9; }; } system async;";
    assert_eq!(state_counts("dve", text), (4 + 3, 1 + 3));
}

/// In lockstep no process knows the next locations of the others.
#[test]
fn joint_resets_are_disabled_in_lockstep() {
    let process = |name| {
        format!(
            "process {name} {{ state a, b; init a; trans a -> b {{ effect g = 1; }},
             b -> a {{ guard g < 9; }}; }}"
        )
    };
    let text = |system| format!("byte g; {} {} system {system};", process("P"), process("Q"));
    let rewritten = |system| {
        load("dve", &text(system)).rewritten(&dead(), &AnalysisBudget::largest()).is_some()
    };
    assert!(rewritten("async") && !rewritten("sync"));
}

/// A process that ends cannot reset a variable that it reads at that moment. The variable is treated as live; otherwise
/// there would be one more state.
#[test]
fn joint_resets_are_disabled_if_a_process_ends() {
    let text = "byte g; active proctype P() { do :: g = 1; g == 1 od }
        active proctype Q() { do :: g = 2; g == 2 od }";
    let mut program = load("promela", text).interp.program().clone();
    let is_joint = |program: &Program| {
        let interp = Interp::new(program.clone()).unwrap();
        compare_in_lockstep(&interp, &dead(), 300).unwrap();
        let rewritten = RewrittenProgram::of(&interp, &dead());
        rewritten.is_some_and(|it| it.pass().is_some_and(DeadVariableElimination::is_joint))
    };
    assert!(is_joint(&program));
    let waiting = program.actions.iter().find(|(_, it)| it.guard.is_some());
    let (id, span) = waiting.map(|(id, it)| (id, it.span)).expect("P waits for something");
    program.actions[id].body.push(Stmt { kind: StmtKind::Exit, span });
    assert!(!is_joint(&program));
}

/// A joint reset reads the locations of all processes, which would make all actions dependent for other reductions.
#[test]
fn joint_resets_are_disabled_with_other_reductions() {
    let text = "byte g; process W { state a; init a; trans a -> a { effect g = 1; }; }
        process R { state a, b; init a; trans a -> b { effect g = 3; }, b -> a { guard g < 9; }; } system async;";
    let is_joint = |by: &ReductionPlan| {
        let model = load("dve", text);
        model
            .rewritten(by, &AnalysisBudget::largest())
            .and_then(|it| it.pass::<DeadVariableElimination>())
            .is_some_and(|it| it.is_joint())
    };
    assert!(is_joint(&dead()) && !is_joint(&bisimilar()));
}

/// In Murphi, a step to the same state is none. A variable that is the only change of a step is therefore kept: without
/// `seen` there would be a deadlock. `last` changes together with another variable, is never read, and is reset.
#[test]
fn murphi_variables_that_are_the_only_change_of_a_step_are_kept() {
    let text = "var at: 0..2; last: 0..9; seen: boolean;
        startstate at := 0; last := 0; seen := false; end;
        rule \"go\" at = 0 ==> last := 5; at := 1; end;
        rule \"on\" at = 0 ==> last := 6; at := 1; end;
        rule \"back\" at = 1 ==> last := 7; at := 2; end;
        rule \"look\" at = 2 ==> seen := true; end;
        rule \"blink\" at = 2 ==> seen := false; end;";
    // (`at`, `last`) is (0, 0), (1, 5), (1, 6) or (2, 7), and the last one has `seen` or not. Without `last` there are
    // four states.
    assert_eq!(state_counts("murphi", text), (5, 4));
}

/// Models in which a variable would be dead if one way of reading it were ignored.
const READ_VARIABLES: &[(&str, &str, &str)] = &[
    ("an assertion at a location", "dve", "process P { byte x; state a, b; init a; assert b: x < 3;
        trans a -> a { guard x < 5; effect x = 1; }, a -> a { effect x = 3; }, a -> b { }, b -> a { effect x = 0; }; }
        system async;"),
    ("a read by another process", "dve", "process P { byte x; state a, b; init a;
        trans a -> b { effect x = 1; }, b -> a { effect x = 2; }, a -> a { effect x = 4; }; }
        process Q { byte y; state a, b; init a; trans a -> b { guard P->x == 4; effect y = 1; },
        b -> a { guard y == 1; }; } system async;"),
    ("an assigned value that is out of range", "dve", "process P { byte x, y; state a, b; init a;
        trans a -> b { effect y = 200; }, a -> b { effect y = 2; }, b -> a { effect x = y + 100, y = 0; }; }
        system async;"),
    ("an index", "dve", "byte t[3]; process P { byte x, y; state a, b; init a;
        trans a -> b { effect x = 5; }, a -> b { effect x = 1; }, b -> a { effect t[x] = 7, y = 0; }; }
        process Q { state a; init a; trans a -> a { guard t[1] == 7; effect t[1] = 0; }; }
        system async;"),
    ("a possibly overwritten array element", "dve", "process P { byte t[3]; byte i; state a, b, c; init a;
        trans a -> b { effect t[0] = 1, t[1] = 2, i = 1 - i; }, b -> c { effect t[i] = 3; },
        c -> a { guard t[0] == 1; effect t[0] = 0; }, c -> a { guard t[1] == 2; effect t[1] = 0; }; }
        system async;"),
    ("a sent value", "dve", "channel {byte} c[1]; process P { byte x; state a, b; init a;
        trans a -> b { effect x = 1; }, a -> b { effect x = 2; }, b -> a { sync c!{x}; }; }
        process Q { byte y; state a, b; init a; trans a -> b { sync c?{y}; }, b -> a { guard y == 1; }; }
        system async;"),
    ("an atomic chain", "promela", "active proctype P() { byte x, y;
        do :: atomic { x = 1; y = 2 } :: atomic { if :: x = 3 :: x = 4 fi; y = x; x = 0; assert(y != 4) } od }"),
    ("a d_step", "promela", "byte g; active proctype P() { byte x;
        do :: x = 1 :: x = 2 :: d_step { if :: x == 2 -> x = 5 :: else fi; g = x; x = 0 } od }
        active proctype Q() { do :: g == 5 -> g = 0 od }"),
    ("an escape", "promela", "byte g; active proctype P() { byte x;
        do :: { x = 1; g = 1; x = 2; g = 2 } unless { x == 2 && g == 1 -> g = 3 } od }"),
    ("a variable in a `provided` clause with writes", "promela", "byte g; active proctype P() provided (g < 3) { byte x;
        do :: x = 1; g = x; x = 7; g = 0 od } active proctype Q() { do :: g == 1 -> g = 4 :: g == 4 -> g = 0 od }"),
    ("a variable in a `provided` clause", "promela", "byte g; active proctype P() provided (g < 3) {
        do :: g = 1 :: g = 2; g = 4 od }"),
    ("an argument of a started process", "promela", "proctype C(byte v) { byte w; w = v; v = 3; assert(w != 2); v = w; assert(v == 1) }
        init { byte x; do :: _nr_pr == 1 -> if :: x = 1 :: x = 2 fi; run C(x); x = 9 od }"),
    ("a variable that selects a channel", "promela", "chan a = [1] of { byte }; chan b = [1] of { byte };
        active proctype P() { chan c; byte x; do :: c = a; c!1; a?x; x = 0 :: c = b; c!2; b?x; assert(x == 1) od }"),
    ("a value in a receive pattern", "promela", "chan c = [2] of { byte, byte }; active proctype P() { byte x, y;
        do :: x = 1; c!1(5); c?eval(x),y; assert(y == 5) :: x = 2; c!2(6); c?eval(x),x; assert(x == 5) od }"),
    ("a message that is polled and peeked", "promela", "chan c = [2] of { byte }; active proctype P() { byte x;
        do :: c!1; x = 1; c?[eval(x)] -> c?x; x = 0 :: c!2; x = 3; if :: c?<x> :: x = 4 fi; assert(x == 2); c?_ od }"),
    ("a variable that a never claim reads", "promela", "active proctype P() { byte x; do :: x = 1; x = 0 :: x = 2; x = 0 od }
        never { do :: P[0]:x == 2 -> break :: else od }"),
    ("a variable that stores a priority", "promela", "active proctype P() { byte x; do :: x = _priority; x = 0 od }"),
    ("a received message", "promela", "chan c = [1] of { byte };
        active proctype P() { byte x; do :: x = 1; c!x; x = 0 :: x = 2; c!x; x = 0 od }
        active proctype Q() { byte y; do :: c?y; if :: y == 1 :: y == 2 -> y = 3; assert(y == 3) fi od }"),
    ("a global in a rendezvous", "promela", "byte g; chan c = [0] of { byte };
        active proctype P() { do :: g = 1; c!1; g = 0 :: g = 2; c!2; g = 3 od }
        active proctype Q() { byte y; do :: c?y -> assert(g == y || g == 0 || g == 3); g = 5 od }"),
    ("a global that a rendezvous overwrites", "dve", "byte g; channel {byte} c[0]; process P { state a, b; init a;
        trans a -> b { guard g < 9; sync c!{5}; }, b -> a { effect g = 1; }; }
        process Q { state a, b; init a; trans a -> b { sync c?{g}; }, b -> a { guard g == 5; }; } system async;"),
    ("a global that a started process reads", "promela", "byte g; proctype C() { if :: g == 1 :: g == 2 -> assert(false) fi; g = 0 }
        active proctype P() { do :: _nr_pr == 1 -> if :: g = 1 :: g = 2 fi; run C() od }"),
    ("a global at the end of a process", "promela", "byte g; active proctype P() { g = 1; if :: g == 1 -> g = 2 :: g == 3 fi }
        active proctype Q() { do :: g = 3 :: g == 2 -> g = 4 od }"),
    ("a global of several instances", "promela", "byte g; active [2] proctype P() { do :: g = 1; assert(g > 0) :: g = 2; g == 2 od }"),
    ("a global with three readers", "dve", "byte g; process P { state a, b, c; init a;
        trans a -> b { effect g = 1; }, b -> c { guard g > 0; effect g = g + 1; }, c -> a { guard g > 3; }; }
        process Q { state a, b; init a; trans a -> b { effect g = 4; }, b -> a { guard g == 4; }; }
        process R { state a; init a; trans a -> a { effect g = 0; }; } system async;"),
    ("a global that another process reads later", "promela", "byte g; active proctype P() { do :: g = 1 :: g = 2 od }
        active proctype Q() { byte n; do :: n < 2 -> n++ :: n == 2 -> g == 2; n = 0; g = 0 od }"),
];

#[test]
fn every_read_keeps_its_variable_live() {
    let results = READ_VARIABLES
        .iter()
        .map(|(case, language, text)| (case, check_rewriting(language, text, &dead())));
    let failures: Vec<_> = results.filter_map(|(case, it)| Some((case, it.err()?))).collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Counts of random programs.
#[derive(Default)]
struct Census {
    reset: u32,
    fewer: u32,
}

fn simulate_all(cases: u32, strategy: impl Strategy<Value = Generated>) -> Census {
    let census = std::cell::RefCell::new(Census::default());
    crate::generated::try_all(cases, strategy, |Generated(mut program)| {
        if program.actions.len().is_multiple_of(2) {
            program.end = EndRule::NeverStuttering;
        }
        let interp = Interp::new(program).expect("what is generated can be executed");
        if RewrittenProgram::of(&interp, &dead()).is_some() {
            census.borrow_mut().reset += 1;
        }
        if let Some((full, reduced)) = compare_in_lockstep(&interp, &dead(), 300)? {
            prop_assert!(reduced <= full);
            census.borrow_mut().fewer += u32::from(reduced < full);
        }
        Ok(())
    });
    census.into_inner()
}

#[test]
fn resets_simulate_random_programs() {
    let Census { reset, fewer } = simulate_all(800, programs());
    println!("{reset} programs reset something, {fewer} have fewer states");
    assert!(reset > 10, "{reset} reset something");
}

#[test]
fn resets_simulate_dense_random_programs() {
    simulate_all(200, dense_programs());
}

/// The reduction preserves all properties, including claims and depths. It is the lowest one in the stack.
#[test]
fn dead_variable_elimination_preserves_everything_and_reports_its_effect() {
    let text = "process P { byte x; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 2; }, b -> a { guard x > 0; }; } system async;";
    let model = load("dve", text).with_plan(dead());
    let searched = model.searched();
    assert_eq!(searched.stack().preserves(), PreservedProperties::ALL);
    assert!(PropertyClass::ALL.into_iter().all(|it| searched.stack().preserves().has(it)));
    let summaries = searched.stack().summaries(&Default::default());
    assert_eq!(summaries[0].name, "dead variables");
    assert_eq!(summaries[0].effect.as_deref(), Some("1 variable reset in 1 place"));
    let nothing = load(
        "dve",
        "byte x; process P { state a; init a; trans a -> a { guard x == 0; }; } system async;",
    );
    assert!(nothing.rewritten(&dead(), &AnalysisBudget::largest()).is_none());
    let stack = ReductionStack::of(
        ProgramForm::written(&nothing.interp),
        &dead(),
        &|| unreachable!(),
        &AnalysisBudget::largest(),
    );
    assert!(stack.summaries(&Default::default()).is_empty());
}

/// A search directory keeps the resets, and rejects a search without them.
#[test]
fn a_resumed_search_keeps_its_resets() {
    let text = "int n; process P { byte x; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 2; }, b -> a { guard x > 0; }; }
        process Q { state a, b; init a; assert b: n < 99; trans a -> a { guard n < 100; effect n = n + 1; },
        a -> b { guard n == 100; }; } system async;";
    let reduce = ReductionConfig::from(dead());
    check_resumed_reduction(&load("dve", text), reduce, ReductionConfig::none(), 1);
}

/// A process that writes another process's local does not know that process's location, and cannot reset it. A reset
/// would add a state with the initial value.
#[test]
fn locals_with_foreign_writers_are_not_reset() {
    let text = "process P { byte v; state a, b; init a; trans a -> b { guard v == 5; }, b -> b { effect v = 5; }; }
system async;";
    let mut program = load("dve", text).interp.program().clone();
    let set = program.actions.keys().last().unwrap();
    program.actions[set].edge = None;
    let interp = Interp::new(program).unwrap();
    assert!(RewrittenProgram::of(&interp, &dead()).is_none());
    assert!(
        compare_in_lockstep(&interp, &dead(), 300)
            .unwrap()
            .is_none_or(|(original_states, rewritten_states)| rewritten_states <= original_states)
    );
}

/// A variable that is never read, but not reset, keeps its stored value. The variables in that value are not reset
/// either.
#[test]
fn sources_of_kept_variables_are_not_reset() {
    let texts = [
        // `x` is the only change of a step of `Q`. After a reset that step would lead to the same state.
        "byte x; byte y = 1; process P { state a, b; init a; trans a -> b { effect y = 0; }; }
        process Q { state a, b; init a; trans a -> b { effect x = y; }, b -> a { effect x = 0; },
        b -> b { effect x = 0; }; } system async;",
        // `x` is dead for `Q` at `b`, but `P` does not know the location of `Q`.
        "byte x; byte y = 1; process P { state a, b; init a; trans a -> b { effect y = 0; },
        b -> a { effect x = 1; }; } process Q { state a, b, c; init a; trans a -> b { effect x = y; },
        b -> c { effect x = 0; }, c -> a { guard x < 3; }; } system async;",
    ];
    for text in texts {
        for end in [EndRule::Never, EndRule::NeverStuttering] {
            let mut program = load("dve", text).interp.program().clone();
            program.end = end;
            let interp = Interp::new(program).unwrap();
            if let Some((original_states, rewritten_states)) =
                compare_in_lockstep(&interp, &dead(), 300).unwrap()
            {
                assert!(rewritten_states <= original_states, "{text}");
            }
        }
    }
}
