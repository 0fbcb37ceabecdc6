//! Dead variables: resetting them has no effect on behaviour. The resetting program and the original run in lockstep,
//! and the size of the reduced space is compared with counts by hand.
//!
//! `SPILLWAY_LARGE` runs more random programs, which take minutes.

use crate::generated::{Generated, dense_programs, programs};
use crate::support::follow::{self, follow, goes_on_as_it_began, is_kept, load};
use crate::support::reductions::{bisimilar, dead};
use proptest::prelude::*;
use spillway::budget::AnalysisBudget;
use spillway::exec::Interp;
use spillway::ir::{EndRule, Program, Stmt, StmtKind};
use spillway::reduce::ReductionConfig;
use spillway::reduce::dead::DeadVariableElimination;
use spillway::reduce::rewriting::{ProgramForm, RewrittenProgram};
use spillway::reduce::{PreservedProperties, PropertyClass, ReductionPlan, ReductionStack};

/// The states of a model as written, and as it resets, which follow each other.
fn both(language: &str, text: &str) -> (usize, usize) {
    follow::both(language, text, dead())
}

/// `x` is read at `b`: it has three values there, and one at `a` and `c`. As written it has also its first one at `a`,
/// and keeps what it had at `c`: 1 + 3 + 3 + 3 states, and 1 + 3 + 1.
#[test]
fn a_local_of_a_dve_process_is_dead_where_it_is_set_before_it_is_read() {
    let text = "process P { byte x; state a, b, c; init a;
        trans a -> b { effect x = 1; }, a -> b { effect x = 2; }, a -> b { effect x = 3; },
              b -> c { guard x < 9; }, c -> a { }; } system async;";
    assert_eq!(both("dve", text), (10, 5));
}

/// As written: three states before the first message, then for each of two that came last the sender chose nothing
/// new or one of two, and the receiver has looked at it or not: 3 + 2 * (1 + 2) * 2. The sender's variable
/// matters where it sends and the receiver's until it has looked: (1 + 2) * (1 + 2).
#[test]
fn what_a_rendezvous_sends_and_stores_is_live_until_then() {
    let text = "chan c = [0] of { byte };
        active proctype S() { byte v; do :: v = 1; c!v :: v = 2; c!v od }
        active proctype R() { byte w; do :: c?w; assert(w > 0) od }";
    assert_eq!(both("promela", text), (15, 9));
}

/// A global that one process reads is as good as its local; what nobody reads is always as at first, and so is what only
/// goes into that.
#[test]
fn globals_of_one_reader_and_of_none_are_reset() {
    // As the first of all, with `seen` three times as often where it is not 0: 1 + 3 + 3 + 3 states, `seen` being
    // what `x` was when it was last looked at, so at `b` there are four times as many.
    let text = "byte x; byte seen; process P { state a, b, c; init a;
        trans a -> b { effect x = 1; }, a -> b { effect x = 2; }, a -> b { effect x = 3; },
              b -> c { guard x < 9; effect seen = x; }, c -> a { }; } system async;";
    assert_eq!(both("dve", text), (1 + 3 * 4 + 3 + 3, 5));
}

/// Of two processes that both set a global and read it, neither knows by itself when it is dead: while both are at `a`. There it has
/// three values as written, and two each where one is at `b` or both are.
#[test]
fn a_global_of_several_readers_is_reset_where_it_is_dead_for_all() {
    let process = |name| {
        format!(
            "process {name} {{ state a, b; init a; trans a -> b {{ effect g = 1; }},
             a -> b {{ effect g = 2; }}, b -> a {{ guard g < 9; }}; }}"
        )
    };
    let text = format!("byte g; {} {} system async;", process("P"), process("Q"));
    assert_eq!(both("dve", &text), (3 + 2 + 2 + 2, 1 + 2 + 2 + 2));
}

/// What somebody else writes is dead while its one reader is at `a`, where it has one value of the four.
#[test]
fn a_global_that_others_write_is_reset_where_its_reader_will_overwrite_it() {
    let text = "byte g; process W { state a; init a; trans a -> a { effect g = 1; }, a -> a { effect g = 2; }; }
        process R { state a, b; init a; trans a -> b { effect g = 3; }, b -> a { guard g < 9; }; } system async;";
    assert_eq!(both("dve", text), (4 + 3, 1 + 3));
}

/// Where all move at once nobody sees where the others will be.
#[test]
fn what_is_a_matter_of_several_is_left_alone_in_lockstep() {
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

/// What a process reads as it ends cannot be reset there: it is taken to be live, or there would be one state more.
#[test]
fn what_is_a_matter_of_several_is_left_alone_where_one_ends() {
    let text = "byte g; active proctype P() { do :: g = 1; g == 1 od }
        active proctype Q() { do :: g = 2; g == 2 od }";
    let mut program = load("promela", text).interp.program().clone();
    let is_joint = |program: &Program| {
        let interp = Interp::new(program.clone()).unwrap();
        follow(&interp, &dead(), 300).unwrap();
        let rewritten = RewrittenProgram::of(&interp, &dead());
        rewritten.is_some_and(|it| it.pass().is_some_and(DeadVariableElimination::is_joint))
    };
    assert!(is_joint(&program));
    let waiting = program.actions.iter().find(|(_, it)| it.guard.is_some());
    let (id, span) = waiting.map(|(id, it)| (id, it.span)).expect("P waits for something");
    program.actions[id].body.push(Stmt { kind: StmtKind::Exit, span });
    assert!(!is_joint(&program));
}

/// Only where nobody asks who looks at what: other reductions would see that everybody looks where everybody is.
#[test]
fn beside_other_reductions_no_action_looks_where_others_are() {
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

/// Where a step back to where it began is none, what is all that a step may change is kept: `seen`, without which
/// there would be a deadlock. What changes with something else is not: `last` is never read.
#[test]
fn in_murphi_what_is_all_that_changes_is_kept() {
    let text = "var at: 0..2; last: 0..9; seen: boolean;
        startstate at := 0; last := 0; seen := false; end;
        rule \"go\" at = 0 ==> last := 5; at := 1; end;
        rule \"on\" at = 0 ==> last := 6; at := 1; end;
        rule \"back\" at = 1 ==> last := 7; at := 2; end;
        rule \"look\" at = 2 ==> seen := true; end;
        rule \"blink\" at = 2 ==> seen := false; end;";
    // `at` and `last`: (0, 0), (1, 5), (1, 6), (2, 7), and the last of these with `seen` or not; then without `last`.
    assert_eq!(both("murphi", text), (5, 4));
}

/// Models in each of which a variable looks dead to whoever forgets one way in which it is read.
const READ: &[(&str, &str, &str)] = &[
    ("an assertion at a location", "dve", "process P { byte x; state a, b; init a; assert b: x < 3;
        trans a -> a { guard x < 5; effect x = 1; }, a -> a { effect x = 3; }, a -> b { }, b -> a { effect x = 0; }; }
        system async;"),
    ("another process", "dve", "process P { byte x; state a, b; init a;
        trans a -> b { effect x = 1; }, b -> a { effect x = 2; }, a -> a { effect x = 4; }; }
        process Q { byte y; state a, b; init a; trans a -> b { guard P->x == 4; effect y = 1; },
        b -> a { guard y == 1; }; } system async;"),
    ("what does not fit", "dve", "process P { byte x, y; state a, b; init a;
        trans a -> b { effect y = 200; }, a -> b { effect y = 2; }, b -> a { effect x = y + 100, y = 0; }; }
        system async;"),
    ("an index", "dve", "byte t[3]; process P { byte x, y; state a, b; init a;
        trans a -> b { effect x = 5; }, a -> b { effect x = 1; }, b -> a { effect t[x] = 7, y = 0; }; }
        process Q { state a; init a; trans a -> a { guard t[1] == 7; effect t[1] = 0; }; }
        system async;"),
    ("an element that may be the one", "dve", "process P { byte t[3]; byte i; state a, b, c; init a;
        trans a -> b { effect t[0] = 1, t[1] = 2, i = 1 - i; }, b -> c { effect t[i] = 3; },
        c -> a { guard t[0] == 1; effect t[0] = 0; }, c -> a { guard t[1] == 2; effect t[1] = 0; }; }
        system async;"),
    ("what is sent", "dve", "channel {byte} c[1]; process P { byte x; state a, b; init a;
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
    ("who is asked whether he may move", "promela", "byte g; active proctype P() provided (g < 3) { byte x;
        do :: x = 1; g = x; x = 7; g = 0 od } active proctype Q() { do :: g == 1 -> g = 4 :: g == 4 -> g = 0 od }"),
    ("only the question who may move", "promela", "byte g; active proctype P() provided (g < 3) {
        do :: g = 1 :: g = 2; g = 4 od }"),
    ("who is started", "promela", "proctype C(byte v) { byte w; w = v; v = 3; assert(w != 2); v = w; assert(v == 1) }
        init { byte x; do :: _nr_pr == 1 -> if :: x = 1 :: x = 2 fi; run C(x); x = 9 od }"),
    ("which channel", "promela", "chan a = [1] of { byte }; chan b = [1] of { byte };
        active proctype P() { chan c; byte x; do :: c = a; c!1; a?x; x = 0 :: c = b; c!2; b?x; assert(x == 1) od }"),
    ("a match", "promela", "chan c = [2] of { byte, byte }; active proctype P() { byte x, y;
        do :: x = 1; c!1(5); c?eval(x),y; assert(y == 5) :: x = 2; c!2(6); c?eval(x),x; assert(x == 5) od }"),
    ("a message that is looked at", "promela", "chan c = [2] of { byte }; active proctype P() { byte x;
        do :: c!1; x = 1; c?[eval(x)] -> c?x; x = 0 :: c!2; x = 3; if :: c?<x> :: x = 4 fi; assert(x == 2); c?_ od }"),
    ("who waits for a claim", "promela", "active proctype P() { byte x; do :: x = 1; x = 0 :: x = 2; x = 0 od }
        never { do :: P[0]:x == 2 -> break :: else od }"),
    ("a priority", "promela", "active proctype P() { byte x; do :: x = _priority; x = 0 od }"),
    ("a channel's message", "promela", "chan c = [1] of { byte };
        active proctype P() { byte x; do :: x = 1; c!x; x = 0 :: x = 2; c!x; x = 0 od }
        active proctype Q() { byte y; do :: c?y; if :: y == 1 :: y == 2 -> y = 3; assert(y == 3) fi od }"),
    ("two who meet", "promela", "byte g; chan c = [0] of { byte };
        active proctype P() { do :: g = 1; c!1; g = 0 :: g = 2; c!2; g = 3 od }
        active proctype Q() { byte y; do :: c?y -> assert(g == y || g == 0 || g == 3); g = 5 od }"),
    ("what is received in its place", "dve", "byte g; channel {byte} c[0]; process P { state a, b; init a;
        trans a -> b { guard g < 9; sync c!{5}; }, b -> a { effect g = 1; }; }
        process Q { state a, b; init a; trans a -> b { sync c?{g}; }, b -> a { guard g == 5; }; } system async;"),
    ("one who is started and reads it", "promela", "byte g; proctype C() { if :: g == 1 :: g == 2 -> assert(false) fi; g = 0 }
        active proctype P() { do :: _nr_pr == 1 -> if :: g = 1 :: g = 2 fi; run C() od }"),
    ("one who ends", "promela", "byte g; active proctype P() { g = 1; if :: g == 1 -> g = 2 :: g == 3 fi }
        active proctype Q() { do :: g = 3 :: g == 2 -> g = 4 od }"),
    ("one of several", "promela", "byte g; active [2] proctype P() { do :: g = 1; assert(g > 0) :: g = 2; g == 2 od }"),
    ("three of which each looks at times", "dve", "byte g; process P { state a, b, c; init a;
        trans a -> b { effect g = 1; }, b -> c { guard g > 0; effect g = g + 1; }, c -> a { guard g > 3; }; }
        process Q { state a, b; init a; trans a -> b { effect g = 4; }, b -> a { guard g == 4; }; }
        process R { state a; init a; trans a -> a { effect g = 0; }; } system async;"),
    ("one who reads it later", "promela", "byte g; active proctype P() { do :: g = 1 :: g = 2 od }
        active proctype Q() { byte n; do :: n < 2 -> n++ :: n == 2 -> g == 2; n = 0; g = 0 od }"),
];

#[test]
fn whatever_reads_a_variable_keeps_it() {
    let tried = READ.iter().map(|(what, language, text)| (what, is_kept(language, text, &dead())));
    let wrong: Vec<_> = tried.filter_map(|(what, it)| Some((what, it.err()?))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What was tried of random programs.
#[derive(Default)]
struct Census {
    reset: u32,
    fewer: u32,
}

fn follow_all(cases: u32, strategy: impl Strategy<Value = Generated>) -> Census {
    let census = std::cell::RefCell::new(Census::default());
    crate::generated::try_all(cases, strategy, |Generated(mut program)| {
        if program.actions.len().is_multiple_of(2) {
            program.end = EndRule::NeverStuttering;
        }
        let interp = Interp::new(program).expect("what is generated can be executed");
        if RewrittenProgram::of(&interp, &dead()).is_some() {
            census.borrow_mut().reset += 1;
        }
        if let Some((whole, fewer)) = follow(&interp, &dead(), 300)? {
            prop_assert!(fewer <= whole);
            census.borrow_mut().fewer += u32::from(fewer < whole);
        }
        Ok(())
    });
    census.into_inner()
}

#[test]
fn random_programs_follow_what_is_written() {
    let Census { reset, fewer } = follow_all(800, programs());
    println!("{reset} programs reset something, {fewer} have fewer states");
    assert!(reset > 10, "{reset} reset something");
}

#[test]
fn dense_random_programs_follow_what_is_written() {
    follow_all(200, dense_programs());
}

/// It preserves everything, so claims and depths too, and stacks below all others.
#[test]
fn it_preserves_everything_and_says_what_it_did() {
    let text = "process P { byte x; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 2; }, b -> a { guard x > 0; }; } system async;";
    let model = load("dve", text).with_plan(dead());
    let searched = model.searched();
    assert_eq!(searched.stack().preserves(), PreservedProperties::ALL);
    assert!(PropertyClass::ALL.into_iter().all(|it| searched.stack().preserves().has(it)));
    let told = searched.stack().summaries(&Default::default());
    assert_eq!(told[0].name, "dead variables");
    assert_eq!(told[0].effect.as_deref(), Some("1 variable reset in 1 place"));
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

/// A search keeps whether it resets, and one that does not agree is refused.
#[test]
fn a_search_that_goes_on_resets_as_it_did() {
    let text = "int n; process P { byte x; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 2; }, b -> a { guard x > 0; }; }
        process Q { state a, b; init a; assert b: n < 99; trans a -> a { guard n < 100; effect n = n + 1; },
        a -> b { guard n == 100; }; } system async;";
    let reduce = ReductionConfig::from(dead());
    goes_on_as_it_began(&load("dve", text), reduce, ReductionConfig::none(), 1);
}

/// Whoever writes a local of another does not know where that one is, so it cannot be reset there: a state with the
/// first value would be one more.
#[test]
fn a_local_that_somebody_else_writes_is_left_alone() {
    let text = "process P { byte v; state a, b; init a; trans a -> b { guard v == 5; }, b -> b { effect v = 5; }; }
system async;";
    let mut program = load("dve", text).interp.program().clone();
    let set = program.actions.keys().last().unwrap();
    program.actions[set].edge = None;
    let interp = Interp::new(program).unwrap();
    assert!(RewrittenProgram::of(&interp, &dead()).is_none());
    assert!(follow(&interp, &dead(), 300).unwrap().is_none_or(|(whole, fewer)| fewer <= whole));
}

/// What is not reset, though nobody reads it any more, keeps what is stored in it: what that is computed from is not
/// reset either.
#[test]
fn what_goes_into_something_that_is_not_reset_is_left_alone() {
    let texts = [
        // `x` is all that changes in a step of `Q`, which would lead nowhere if it was reset.
        "byte x; byte y = 1; process P { state a, b; init a; trans a -> b { effect y = 0; }; }
        process Q { state a, b; init a; trans a -> b { effect x = y; }, b -> a { effect x = 0; },
        b -> b { effect x = 0; }; } system async;",
        // `P` does not know where `Q` is, for whom `x` is dead at `b`.
        "byte x; byte y = 1; process P { state a, b; init a; trans a -> b { effect y = 0; },
        b -> a { effect x = 1; }; } process Q { state a, b, c; init a; trans a -> b { effect x = y; },
        b -> c { effect x = 0; }, c -> a { guard x < 3; }; } system async;",
    ];
    for text in texts {
        for end in [EndRule::Never, EndRule::NeverStuttering] {
            let mut program = load("dve", text).interp.program().clone();
            program.end = end;
            let interp = Interp::new(program).unwrap();
            if let Some((whole, fewer)) = follow(&interp, &dead(), 300).unwrap() {
                assert!(fewer <= whole, "{text}");
            }
        }
    }
}
