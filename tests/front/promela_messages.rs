//! Promela: messages with more or fewer fields than a statement, through channels that are referred to by name, by
//! parameters and by variables. The counts are those of SPIN 6.5.2 (see `promela.rs`).

use super::promela::{assert_counts, counts, load};
use spillway::Check;
use spillway::front::{Options, promela};
use spillway::model::{StepOutcome, SystemDescription};
use spillway::reduce::partial_order::{CycleProviso, PartialOrderMethod, PartialOrderStrategy};
use spillway::reduce::{ReductionConfig, ReductionSelection};
use spillway::search::SearchVerdict;
use spillway::session::TextModel;
use spillway::source::SourceMap;

const PAIRS: &str = "chan two = [1] of { byte, byte }; chan pairs = [0] of { byte, byte }; ";

/// Models with an error in a message, and SPIN's counts. In models where SPIN stops its search, no other state is left
/// to visit.
fn models_with_message_errors() -> Vec<(String, (u64, u64, u64))> {
    let models = [
        // A receive of too few fields continues.
        (
            "proctype P(chan from) { byte a; from?a; assert(a == 1) }
            init { two!1, 2; run P(two) }",
            (7, 7, 1),
        ),
        (
            "proctype P(chan from) { byte a; from?a; assert(a == 1) }
            init { run P(pairs); pairs!1, 2 }",
            (6, 6, 1),
        ),
        // A receive that keeps the message is no error, and neither is a poll. A receive that compares some of its
        // fields continues.
        (
            "proctype P(chan x) { byte a; x!3, 4; if :: x?[3] -> skip :: else -> assert(false) fi;
                x?<a>; assert(a == 3); x??a; assert(a == 3) }
            init { run P(two) }",
            (11, 11, 1),
        ),
        (
            "proctype P(chan x) { byte a; x!3, 4, 5; x?a, 4; assert(a == 3) }
            chan three = [1] of { byte, byte, byte }; init { run P(three) }",
            (7, 7, 1),
        ),
        // A receive that compares all its fields fails.
        (
            "proctype P(chan x) { x!3, 4; x?eval(3); assert(false) } init { run P(two) }",
            (3, 3, 1),
        ),
        ("init { two!3, 4; two?3; assert(false) }", (2, 2, 1)),
        // A receive of too many fields fails as soon as a message matches.
        (
            "proctype P(chan from) { byte a, b, c; from?a, b, c; assert(false) }
            init { two!1, 2; run P(two) }",
            (3, 3, 1),
        ),
        (
            "proctype P(chan from) { byte a, b; from?a, b, 9; assert(false) }
            init { run P(pairs); pairs!1, 2 }",
            (2, 2, 1),
        ),
        (
            "proctype P(chan x) { x!3, 4; if :: x?[_, _, _] -> skip fi;
                if :: x?[4, 4, 5] -> skip :: else -> skip fi; x?[3, 4, 5] -> assert(false) }
            init { run P(two) }",
            (7, 7, 1),
        ),
        // The missing field of a message of one field is 0, and the run continues.
        (
            "chan one = [2] of { byte };
            proctype P(chan x) { byte a = 7, b = 8; x!5; x!6; x?a, b; assert(a == 5 && b == 0); x?a, 0;
                assert(a == 6) }
            init { run P(one) }",
            (10, 10, 2),
        ),
        (
            "chan one = [0] of { byte };
            proctype P(chan x) { byte a, b = 8; x?a, b; assert(a == 5 && b == 0) }
            init { run P(one); one!5 }",
            (6, 6, 1),
        ),
        // A send of too few values stores zeros. A send of too many values drops the rest.
        (
            "proctype P(chan to) { to!7 }
            init { byte a, b; run P(two); two?a, b; assert(b == 0 && a == 7) }",
            (9, 11, 1),
        ),
        (
            "chan three = [2] of { byte, byte, byte };
            proctype P(chan to) { to!7, 8, 9 }
            init { byte a, b; run P(two); two?a, b; assert(b == 8 && a == 7) }",
            (9, 11, 1),
        ),
        (
            "chan three = [2] of { byte, byte, byte };
            proctype P(chan to) { to!7, 8, 9 }
            init { byte a, b; run P(pairs); pairs?a, b; assert(b == 8 && a == 7) }",
            (7, 8, 1),
        ),
        (
            "active proctype P() { byte a, b; two!3; two?a, b; assert(a == 3 && b == 0) }",
            (5, 5, 1),
        ),
        // In a rendezvous the error occurs even without a receiver.
        ("proctype P(chan to) { to!1 } init { run P(pairs) }", (2, 2, 2)),
        (
            "chan one = [1] of { byte }; byte x;
            proctype P(chan to) { atomic { x = 1; if :: to!1 -> x = 2 :: x == 5 -> skip fi } }
            init { byte a, b; run P(pairs); run P(one); pairs?a, b }",
            (19, 27, 8),
        ),
    ];
    models.map(|(text, expected)| (format!("{PAIRS}{text}"), expected)).into()
}

#[test]
fn messages_of_another_length_are_errors_as_in_spin() {
    for (model, expected) in &models_with_message_errors() {
        assert_eq!(counts(model), *expected, "{model}");
    }
}

/// The parameter's type fits one of the channels. In compiled code, the error of the other channel belongs to the send,
/// not to the statement after the send. Otherwise there would be no counterexample.
#[test]
fn errors_of_one_of_several_channels_belong_to_the_statement() {
    let declared = "chan one = [1] of { byte }; chan two = [1] of { byte, byte }; byte x;";
    for (body, run, expected) in [
        ("atomic { x = 1; if :: to!1 -> x = 2 :: x == 5 -> skip fi }", "run P(two)", (5, 5, 1)),
        ("d_step { x = 1; do :: to!1 -> break od }", "run P(two); run P(one)", (14, 18, 4)),
        (
            "atomic { x = 1; { to!1; x = 3 } unless { x == 7 } }",
            "run P(two); run P(one)",
            (14, 18, 4),
        ),
        (
            "byte a, b; atomic { x = 1; if :: to?a, b -> x = 2 :: x == 5 -> skip fi }",
            "one!1; run P(one); run P(two)",
            (12, 13, 6),
        ),
        ("if :: to!1 -> goto done :: x == 5 fi; done: skip", "run P(two); run P(one)", (22, 31, 5)),
    ] {
        let model = format!("{declared} proctype P(chan to) {{ {body} }} init {{ {run} }}");
        assert_eq!(counts(&model), expected, "{model}");
        let model = text_model(&model);
        let found = Check::of_text(&model).run().unwrap();
        let shown = found.counterexample().unwrap().expect("there is one").trace();
        let last = shown.steps.last().unwrap();
        let StepOutcome::Fault(fault) = &last.outcome else { panic!("{last:?}") };
        assert!(fault.message.contains("this has "), "{fault:?}");
    }
}

#[test]
fn unexecuted_message_errors_are_warnings() {
    let unreached = [
        (
            "if :: len(two) > 0 -> two!3 :: else -> skip fi",
            "too few parameters in send: this has 1",
        ),
        (
            "byte a, b, c; if :: len(two) > 0 -> two?a, b, c :: else -> skip fi",
            "too many fields in receive",
        ),
        (
            "byte a; if :: len(two) > 0 -> two?a :: else -> skip fi",
            "missing pars in receive: this has 1",
        ),
    ];
    for (body, expected) in unreached {
        let text = format!("{PAIRS}init {{ {body} }}");
        assert_eq!(counts(&text), (4, 4, 0), "{text}");
        let mut sources = SourceMap::default();
        sources.add("model.pml", &*text);
        let loaded = promela::LANGUAGE.load(&mut sources, &Options::default()).unwrap();
        let [warning] = loaded.warnings.as_slice() else { panic!("{:?}", loaded.warnings) };
        assert!(warning.message.contains(expected), "{}", warning.message);
    }
    // SPIN rejects sends with more values than the messages of any channel.
    let refused = load(&format!("{PAIRS}init {{ two!1, 2, 3 }}")).err().unwrap();
    assert!(refused.contains("too many parameters in send: this sends 3 values"), "{refused}");
}

/// Each error contains SPIN's words.
#[test]
fn message_errors_have_the_words_of_spin() {
    let declared = format!("{PAIRS}chan three = [1] of {{ byte, byte, byte }};");
    for (init, words) in [
        ("two!1", "too few parameters in send: this has 1, a message of two has 2"),
        ("two!1, 2, 3", "too many parameters in send: this has 3, a message of two has 2"),
        ("two!1, 2; two?_", "missing pars in receive: this has 1, a message of two has 2"),
        ("two!1, 2; two?_, _, _", "too many fields in receive: this has 3, a message of two has 2"),
    ] {
        let (model, _) = load(&format!("{declared} init {{ {init} }}")).unwrap();
        let mut messages = Vec::new();
        let mut open: Vec<Vec<u8>> = Vec::new();
        let mut collect = |steps: Vec<spillway::model::StepDescription>,
                           open: &mut Vec<Vec<u8>>| {
            for step in steps {
                match step.outcome {
                    StepOutcome::Successor(state) => open.push(state),
                    StepOutcome::Fault(fault) => messages.push(fault.message),
                }
            }
        };
        collect(model.starts(), &mut open);
        while let Some(state) = open.pop() {
            collect(model.steps(&state), &mut open);
        }
        assert_eq!(messages, [words], "{init}");
    }
}

/// The facts that analyses derive about messages hold for messages that are too short or too long.
#[test]
fn reductions_keep_message_errors() {
    let partial_orders = CycleProviso::ALL
        .iter()
        .map(|&proviso| PartialOrderStrategy { method: PartialOrderMethod::Conditional, proviso })
        .map(|strategy| ReductionConfig::from(ReductionSelection::from(strategy)));
    let rewriting = ["dead", "values", "states", "merge"];
    let rewritings = rewriting.map(|it| ReductionSelection::of([it]));
    let rewritings = rewritings.into_iter().chain([ReductionSelection::of(rewriting)]);
    let rewritings = rewritings.map(ReductionConfig::from);
    let all: Vec<ReductionConfig> =
        partial_orders.chain(rewritings).chain([ReductionConfig::auto()]).collect();
    for (text, _) in &models_with_message_errors() {
        let model = text_model(text);
        for reduce in &all {
            let check = Check::of_text(&model).reduce(reduce.clone());
            let found = check.run().unwrap();
            assert_eq!(found.verdict(), SearchVerdict::Violated, "{reduce:?}: {text}");
            assert!(found.counterexample().unwrap().is_some(), "{reduce:?}: {text}");
        }
    }
    // A missing field is 0, which no other value may represent.
    assert_counts(&[(
        "chan c = [1] of { byte, byte }; chan d = [1] of { byte }; byte got;
        proctype P(chan to) { to!1 }
        init { byte a, b = 3; run P(c); c?a, b; got = b; assert(got == 0) }",
        (11, 14, 1),
    )]);
}

fn text_model(text: &str) -> TextModel {
    let mut sources = SourceMap::default();
    sources.add("model.pml", text);
    TextModel::load(&promela::LANGUAGE, sources, Options::default()).unwrap().0
}
