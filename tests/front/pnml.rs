//! Petri nets: their meaning is the token game, as `token_game` plays it; the diagnostics of incorrect nets.

#[path = "pnml/token_game.rs"]
mod token_game;
#[path = "pnml/unfold.rs"]
mod unfold;

use crate::support::error_message::ErrorMessage;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use spillway::analysis::bindings::{BindingPlan, BindingStep};
use spillway::exec::{ExecutionMode, Executor, Interp};
use spillway::front::{Options, pnml};
use spillway::ir::validate::validate;
use spillway::ir::{ConditionModality, Domain, Program, StateCondition, Type, TypeId};
use spillway::model::{StateSpace, SuccessorSink, Violation, memory};
use spillway::reduce::symmetry::{SymmetryEffort, SymmetryModel};
use spillway::search::{CheckSelection, SearchLimits, SearchVerdict};
use spillway::source::SourceMap;
use std::cell::Cell;
use std::path::PathBuf;
use token_game::{Net, coloured_nets, nets_of_many_colours, plain_nets, pnml_text};

fn load(text: &str) -> Result<Program, ErrorMessage> {
    let mut sources = SourceMap::default();
    sources.add("net.pnml", text);
    let loaded = pnml::LANGUAGE.load(&mut sources, &Options::default());
    let loaded = loaded.map_err(|errors| errors[0].render(&sources).to_string())?;
    validate(&loaded.program).unwrap();
    Ok(loaded.program)
}

/// Returns the maximum number of tokens of one colour that a place can hold.
fn token_capacity(program: &Program, ty: TypeId) -> i64 {
    match &program.types[ty] {
        Type::Array { element, .. } => token_capacity(program, *element),
        Type::Scalar(scalar) => match scalar.domain {
            Domain::Range { high, .. } => high,
            ref other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Returns whether both executors list the same successors of the first states, in the same order.
fn agree_on_order(interp: &Interp, jit: &dyn StateSpace) -> bool {
    let width = interp.width();
    let successors = |model: &dyn StateSpace, state: &[u8]| {
        let mut found = Vec::new();
        let _ = SuccessorSink::collect(width, &mut found, |out| model.expand(state, out)).unwrap();
        found
    };
    let mut states = Vec::new();
    let _ = SuccessorSink::collect(width, &mut states, |out| interp.initial(out)).unwrap();
    for number in 0..20 {
        let Some(state) = states.get(number * width..(number + 1) * width).map(<[u8]>::to_vec)
        else {
            break;
        };
        let found = successors(interp, &state);
        if found != successors(jit, &state) {
            return false;
        }
        states.extend(found);
    }
    true
}

/// Returns whether the binding of some transition enumerates tokens instead of values.
fn scans_tokens(program: &Program) -> bool {
    program.actions.values().any(|it| {
        let plan = BindingPlan::of(program, it);
        plan.is_some_and(|it| it.steps.iter().any(|it| matches!(it, BindingStep::Scan(_))))
    })
}

/// Compares a net in the token game and in both executors. Returns whether the net was small enough, and whether tokens
/// are scanned.
fn compare_with_token_game(net: &Net) -> Result<(bool, bool), TestCaseError> {
    let text = pnml_text(net);
    let program = load(&text);
    // For some binding, more may be subtracted than there is.
    let expected_refusals = [
        "what is subtracted has to be among what it is subtracted from",
        "two colours that are subtracted may be the same",
        "a place has from 0 to 1073741824 tokens of a colour",
    ];
    let is_refused =
        |it: &ErrorMessage| expected_refusals.iter().any(|refusal| it.contains(refusal));
    if program.as_ref().is_err_and(|it| !net.classes.is_empty() && is_refused(it)) {
        return Ok((false, false));
    }
    prop_assert!(program.is_ok(), "{program:?}\n{text}");
    prop_assert!(!net.has_negative_tokens(), "{text}");
    // The token game tries every colour.
    let states_max = if net.classes.iter().any(|it| *it > 50) { 60 } else { 400 };
    let Some(counts) = net.explore(states_max, 60_000) else { return Ok((false, false)) };
    let program = program.unwrap();
    let scans_tokens = scans_tokens(&program);
    for (place, max_tokens) in program.variables.values().zip(&counts.max_tokens) {
        prop_assert!(
            token_capacity(&program, place.ty) >= *max_tokens,
            "{}: {max_tokens}\n{text}",
            place.name
        );
    }
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let interp = Interp::new(program).unwrap();
    for exec in [ExecutionMode::Interp, ExecutionMode::Jit] {
        let executor = Executor::new(&interp, exec);
        let found = memory::search(executor.model(), &limits).unwrap();
        let found = (found.states(), found.counters.transitions, found.deadlocks());
        prop_assert_eq!(
            found,
            (counts.states, counts.transitions, counts.deadlocks),
            "{:?}\n{}",
            exec,
            text
        );
        prop_assert!(agree_on_order(&interp, executor.model()), "{exec:?}\n{text}");
    }
    if let Some(unfolded) = unfold::unfold_colours(net).filter(|_| !net.classes.is_empty()) {
        let unfolded = pnml_text(&unfolded);
        let interp = Interp::new(load(&unfolded).unwrap()).unwrap();
        let executor = Executor::new(&interp, ExecutionMode::Interp);
        let found = memory::search(executor.model(), &limits).unwrap();
        let found = (found.states(), found.counters.transitions, found.deadlocks());
        let counts = (counts.states, counts.transitions, counts.deadlocks);
        prop_assert_eq!(found, counts, "{}\n{}", text, unfolded);
    }
    Ok((true, scans_tokens))
}

/// Returns the number of nets: `usual`, or more if the variable `SPILLWAY_NETS` says so.
fn cases(usual: u32) -> u32 {
    let requested = std::env::var("SPILLWAY_NETS").ok();
    let requested: Option<u32> = requested.map(|it| it.parse().expect("SPILLWAY_NETS is a number"));
    requested.map_or(usual, |it| it.max(usual))
}

/// Plays random nets. Requires a number of nets that are small enough, and a number of nets in which tokens are
/// scanned.
fn play_random(
    nets: impl Strategy<Value = Net>,
    cases: u32,
    [least_played, least_scanned]: [u32; 2],
) {
    let mut runner = TestRunner::new(ProptestConfig { cases, ..ProptestConfig::default() });
    let (played, scanned) = (Cell::new(0), Cell::new(0));
    let run = runner.run(&nets, |net| {
        let (is_played, scans_tokens) = compare_with_token_game(&net)?;
        played.set(played.get() + u32::from(is_played));
        scanned.set(scanned.get() + u32::from(scans_tokens));
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    assert!(played.get() >= least_played, "only {} were small enough", played.get());
    assert!(scanned.get() >= least_scanned, "tokens name values in {} only", scanned.get());
}

#[test]
fn random_nets_agree_with_the_token_game() {
    play_random(plain_nets(), cases(600), [200, 0]);
}

#[test]
fn random_coloured_nets_agree_with_the_token_game() {
    // Tokens are scanned in about one net of 18.
    play_random(coloured_nets(), cases(1_000), [400, 40]);
}

#[test]
fn nets_with_many_colours_agree_with_the_token_game() {
    play_random(nets_of_many_colours(), 60, [20, 20]);
}

/// Returns a net with one page.
fn net_with(inside: &str) -> String {
    format!(
        "<pnml>\n<net id=\"n\" type=\"http://example.org/ptnet\"><page id=\"g\">\n{inside}\n</page></net></pnml>"
    )
}

/// Returns a net with a class `C` of two colours, a range `D`, and two variables.
fn with_colours(inside: &str) -> String {
    let declarations = "<declaration><structure><declarations><namedsort id=\"c\" name=\"C\"><cyclicenumeration>\
        <feconstant id=\"c0\" name=\"a\"/><feconstant id=\"c1\" name=\"b\"/></cyclicenumeration></namedsort>\
        <namedsort id=\"d\" name=\"D\"><finiteintrange start=\"1\" end=\"3\"/></namedsort>\
        <variabledecl id=\"x\" name=\"x\"><usersort declaration=\"c\"/></variabledecl>\
        <variabledecl id=\"y\" name=\"y\"><usersort declaration=\"d\"/></variabledecl>\
        </declarations></structure></declaration>";
    format!(
        "<pnml>\n<net id=\"n\" type=\"http://example.org/symmetricnet\">{declarations}<page id=\"g\">\n{inside}\n</page></net></pnml>"
    )
}

/// Returns a net with an arc from a place of the class `C`, with these tokens.
fn net_with_arc(tokens: &str) -> String {
    let sort = "<type><structure><usersort declaration=\"c\"/></structure></type>";
    with_colours(&format!(
        "<place id=\"p\">{sort}</place><transition id=\"t\"/>\n<arc source=\"p\" target=\"t\"><hlinscription><structure>{tokens}</structure></hlinscription></arc>"
    ))
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let place = "<place id=\"p\"/><transition id=\"t\"/>\n";
    let cases = [
        (net_with("<place id=\"p\">"), "4:1", "</page> ends <place>"),
        (net_with("<place/>"), "3:1", "<place> has no attribute `id`"),
        (net_with("<place id=\"p\" id=\"q\"/>"), "3:1", "in <place>"),
        (
            net_with("<place id=\"p\"/>")[..64].to_owned(),
            "2:45",
            "the file ends within this element",
        ),
        (net_with(&place.repeat(2)), "4:1", "something else has the id `p`, too"),
        (
            net_with(&format!("{place}<arc source=\"p\" target=\"q\"/>")),
            "4:1",
            "there is no place or transition `q`",
        ),
        (
            net_with(&format!("{place}<arc source=\"p\" target=\"p\"/>")),
            "4:1",
            "an arc leads from a place to a transition, or",
        ),
        (
            net_with(&format!("{place}<arc type=\"reset\" source=\"t\" target=\"p\"/>")),
            "4:1",
            "such an arc leads from a place",
        ),
        (
            net_with(&format!("{place}<arc type=\"odd\" source=\"t\" target=\"p\"/>")),
            "4:1",
            "arcs of the type `odd` are not read",
        ),
        (
            net_with("<place id=\"p\"><initialMarking><text>two</text></initialMarking></place>"),
            "3:15",
            "`two` is no whole number",
        ),
        (
            net_with("<place id=\"p\"><initialMarking><text>-2</text></initialMarking></place>"),
            "3:1",
            "a number of tokens is from 0 to",
        ),
        (
            net_with(
                "<place id=\"p\"><initialMarking><text>5000000000</text></initialMarking></place>",
            ),
            "3:1",
            "a number of tokens is from 0 to",
        ),
        (
            net_with("<place id=\"p\"><name><text>&lol;</text></name></place>"),
            "3:27",
            "the entity `&lol;` is not known",
        ),
        ("<pnml></pnml>".to_owned(), "1:1", "there is no <net> in it"),
        ("<html/>".to_owned(), "1:1", "a net stands in <pnml>, and this is <html>"),
        (String::new(), "1:1", "there is no <net> in it"),
        (
            "<pnml><net id=\"n\" type=\"timednet\"/></pnml>".to_owned(),
            "1:7",
            "nets of the type `timednet` are not read",
        ),
        (net_with_arc("<variable refvariable=\"z\"/>"), "4:54", "the variable `z` is not declared"),
        (
            net_with_arc("<variable refvariable=\"y\"/>"),
            "4:54",
            "here stands a value of `C`, and this is of another class",
        ),
        (
            net_with_arc("<useroperator declaration=\"c9\"/>"),
            "4:54",
            "the value `c9` is not declared",
        ),
        (
            net_with_arc("<tuple><subterm><all/></subterm><subterm><all/></subterm></tuple>"),
            "4:54",
            "a colour of the place has 1 part",
        ),
        (
            net_with_arc(
                "<subtract><subterm><variable refvariable=\"x\"/></subterm><subterm><useroperator declaration=\"c0\"/></subterm></subtract>",
            ),
            "4:1",
            "what is subtracted has to be among",
        ),
        (net_with_arc("<dotconstant/>"), "4:54", "a colour of the place has 1 part"),
        (net_with_arc("<union/>"), "4:54", "values by <union> are not read"),
        (
            net_with_arc(
                "<numberof><subterm><numberconstant value=\"5000000000\"/></subterm><subterm><all/></subterm></numberof>",
            ),
            "4:73",
            "tokens at a time",
        ),
        (
            with_colours(
                "<place id=\"p\"><type><structure><usersort declaration=\"e\"/></structure></type></place>",
            ),
            "3:32",
            "the sort `e` is not declared",
        ),
        (
            with_colours(
                "<transition id=\"t\"><condition><structure><equality><subterm><variable refvariable=\"x\"/></subterm></equality></structure></condition></transition>",
            ),
            "3:42",
            "<equality> has 2 parts, and not 1",
        ),
        (
            with_colours(
                "<transition id=\"t\"><condition><structure><perhaps/></structure></condition></transition>",
            ),
            "3:42",
            "conditions by <perhaps> are not read",
        ),
    ];
    let failures = cases.into_iter().filter_map(|(text, position, message)| {
        let error = load(&text).expect_err(&text);
        let beginning = format!("net.pnml:{position}: error: ");
        let is_expected = error.starts_with(&beginning) && error.contains(message);
        (!is_expected).then(|| format!("{beginning}{message}\n{error}"))
    });
    let failures: Vec<String> = failures.collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn hostile_files_are_refused_or_need_little_memory() {
    let deep = format!("<pnml>{}", "<a>".repeat(100_000));
    assert!(load(&deep).unwrap_err().contains("more than 256 elements stand in each other"));
    let bomb = format!(
        "<!DOCTYPE pnml [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>{}",
        net_with("<place id=\"p\"><name><text>&b;</text></name></place>")
    );
    assert!(load(&bomb).unwrap_err().contains("the entity `&b;` is not known"));
    let many = "<feconstant id=\"v#\"/>";
    let values: String = (0..4000).map(|it| many.replace('#', &it.to_string())).collect();
    let wide = format!(
        "<pnml><net id=\"n\" type=\"symmetricnet\"><declaration><structure><declarations><namedsort id=\"c\">\
         <finiteenumeration>{values}</finiteenumeration></namedsort></declarations></structure></declaration>\
         <place id=\"p\"><type><structure><productsort>{}</productsort></structure></type></place></net></pnml>",
        "<usersort declaration=\"c\"/>".repeat(3)
    );
    assert!(load(&wide).unwrap_err().contains("colours"), "{}", load(&wide).unwrap_err());
    // A billion tokens in a place need no more memory than one.
    let place = "<place id=\"p\"><initialMarking><text>1000000000</text></initialMarking></place>";
    let program = load(&net_with(place)).unwrap();
    assert_eq!(
        token_capacity(&program, program.variables.values().next().unwrap().ty),
        1_000_000_000
    );
    for cut in (0..600).step_by(7) {
        let text = net_with_arc("<variable refvariable=\"x\"/>");
        assert!(load(&text[..cut.min(text.len() - 1)]).is_err(), "{cut}");
    }
}

#[test]
fn pages_and_references_form_one_net() {
    let program = load(
        "<pnml><net id=\"n\" type=\"ptnet\"><page id=\"a\"><place id=\"p\"><name><text>first  place</text></name>\
         <initialMarking><text> 2 </text></initialMarking></place><page id=\"inner\"><transition id=\"t\"/></page></page>\
         <page id=\"b\"><referencePlace id=\"r\" ref=\"p\"/><referencePlace id=\"q\" ref=\"r\"/>\
         <referenceTransition id=\"u\" ref=\"t\"/><arc source=\"q\" target=\"u\"/></page></net></pnml>",
    );
    let program = program.unwrap();
    assert_eq!(program.variables.values().next().unwrap().name, "first place");
    let found = memory::search(&Interp::new(program).unwrap(), &SearchLimits::default()).unwrap();
    assert_eq!(found.states(), 3);
    // Cyclic references refer to nothing.
    let round = "<referencePlace id=\"r\" ref=\"q\"/><referencePlace id=\"q\" ref=\"r\"/><transition id=\"t\"/><arc source=\"q\" target=\"t\"/>";
    assert!(load(&net_with(round)).unwrap_err().contains("there is no place or transition"));
}

/// A token runs through many places. States are wide, and in each of them one of many transitions is enabled.
#[test]
fn one_enabled_transition_of_many_is_found() {
    let count = 1200;
    let places = (0..count).map(|it| {
        let [token, free] = [u32::from(it == 0), u32::from(it != 0)];
        format!("<place id='a{it}'><initialMarking><text>{token}</text></initialMarking></place><place id='f{it}'><initialMarking><text>{free}</text></initialMarking></place>")
    });
    let transitions = (0..count).map(|it| {
        let next = (it + 1) % count;
        let plain_arc = |from: String, to: String| format!("<arc source='{from}' target='{to}'/>");
        let t = format!("t{it}");
        format!("<transition id='{t}'/>")
            + &plain_arc(format!("a{it}"), t.clone())
            + &plain_arc(format!("f{next}"), t.clone())
            + &plain_arc(t.clone(), format!("f{it}"))
            + &plain_arc(t, format!("a{next}"))
    });
    let net = places.chain(transitions).collect::<String>();
    let interp = Interp::new(load(&net_with(&net)).unwrap()).unwrap();
    for exec in [ExecutionMode::Interp, ExecutionMode::Jit] {
        let executor = Executor::new(&interp, exec);
        let found = memory::search(executor.model(), &SearchLimits::default()).unwrap();
        assert_eq!(
            (found.states(), found.counters.transitions, found.deadlocks()),
            (count, count, 0)
        );
    }
}

fn own_net(name: &str) -> Program {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("models/pnml/{name}.pnml"));
    load(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn place_capacities_follow_from_linear_programs() {
    let capacities = |name: &str| -> Vec<i64> {
        let program = own_net(name);
        program.variables.values().map(|it| token_capacity(&program, it.ty)).collect()
    };
    assert_eq!(capacities("kanban"), [2; 16]);
    assert_eq!(capacities("philosophers"), [1; 20]);
    assert_eq!(capacities("readers_writers"), [6, 6, 6, 1]);
    assert_eq!(capacities("buffer"), [1, 1, 1, 1, 5, 5]);
    assert_eq!(capacities("molecules"), [6, 4, 6]);
    let source = "<place id=\"p\"/><transition id=\"t\"/><arc source=\"t\" target=\"p\"/>";
    let program = load(&net_with(source)).unwrap();
    assert_eq!(token_capacity(&program, program.variables.values().next().unwrap().ty), 65_535);
    let interp = Interp::new(program).unwrap();
    let found = memory::search(&interp, &SearchLimits::default()).unwrap();
    assert_eq!((found.states(), found.findings.iter().count()), (65_536, 1));
}

#[test]
fn symmetric_colour_classes_become_scalarsets() {
    let count = |name: &str| {
        let program = own_net(name);
        let sets = program.scalarsets.len();
        let interp = Interp::new(program).unwrap();
        let all = memory::search(
            &interp,
            &SearchLimits { stop_on_violation: false, ..SearchLimits::default() },
        )
        .unwrap();
        let symmetric =
            SymmetryModel::new(&interp, interp.program(), interp.layout(), SymmetryEffort::Exact);
        let orbits =
            symmetric.map(|it| memory::search(&it, &SearchLimits::default()).unwrap().states());
        (sets, all.states(), orbits)
    };
    // One process or none is active. Each of the others was notified, has started, or has answered.
    assert_eq!(count("database"), (1, 109, Some(11)));
    // Neighbours and first values break the symmetry.
    assert_eq!(count("philosophers_coloured"), (0, 82, None));
    assert_eq!(count("lights"), (0, 15, None));
}

/// Returns a net with two classes of the same numbers, a place of the second class, and a condition on its colour.
fn net_with_two_ranges(condition: &str) -> Program {
    let range = "<finiteintrange start='1' end='3'/>";
    let one = format!("<finiteintrangeconstant value='1'>{range}</finiteintrangeconstant>");
    let condition = condition.replace("ONE", &one).replace("X", "<variable refvariable='x'/>");
    load(&format!(
        "<pnml><net id='n' type='symmetricnet'><declaration><structure><declarations>
         <namedsort id='a' name='A'>{range}</namedsort><namedsort id='b' name='B'>{range}</namedsort>
         <variabledecl id='x' name='x'><usersort declaration='b'/></variabledecl></declarations></structure></declaration>
         <page id='g'><place id='q'><type><structure><usersort declaration='a'/></structure></type></place>
         <place id='p'><type><structure><usersort declaration='b'/></structure></type>
         <hlinitialMarking><structure><all><usersort declaration='b'/></all></structure></hlinitialMarking></place>
         <transition id='t'><condition><structure>{condition}</structure></condition></transition>
         <arc source='p' target='t'><hlinscription><structure><variable refvariable='x'/></structure></hlinscription></arc></page></net></pnml>"
    ))
    .unwrap()
}

#[test]
fn number_constants_have_the_class_of_the_other_operand() {
    let subterms = |parts: [&str; 2]| parts.map(|it| format!("<subterm>{it}</subterm>")).concat();
    let successor = "<successor><subterm>ONE</subterm></successor>";
    for (other, states) in [("ONE", 2), (successor, 2), ("X", 8)] {
        for sides in [["X", other], [other, "X"]] {
            let program = net_with_two_ranges(&format!("<equality>{}</equality>", subterms(sides)));
            let symmetric_classes: Vec<&str> =
                program.scalarsets.values().map(|it| it.name.as_str()).collect();
            let expected = if other == "X" { &["A", "B"][..] } else { &["A"] };
            assert_eq!(symmetric_classes, expected, "{sides:?}");
            let found = memory::search(&Interp::new(program).unwrap(), &SearchLimits::default());
            assert_eq!(found.unwrap().states(), states, "{sides:?}");
        }
    }
}

#[test]
fn inline_enumerations_are_separate_classes() {
    let place = |id: &str| {
        let values =
            ["a", "b"].map(|it| format!("<feconstant id='{id}{it}' name='{it}'/>")).concat();
        format!("<place id='{id}'><type><structure><cyclicenumeration>{values}</cyclicenumeration></structure></type>
                 <hlinitialMarking><structure><useroperator declaration='{id}b'/></structure></hlinitialMarking></place>")
    };
    let program = load(&with_colours(&(place("p") + &place("q")))).unwrap();
    let initial: Vec<_> = program.variables.values().map(|it| it.initial.clone()).collect();
    assert_eq!(initial, [[Some(0), Some(1)], [Some(0), Some(1)]]);
}

/// Loads one of our nets with an invariant.
fn net_with_invariant(name: &str, invariant: &str) -> Result<Interp, ErrorMessage> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("models/pnml/{name}.pnml"));
    let mut sources = SourceMap::default();
    sources.add("net.pnml", std::fs::read_to_string(file).unwrap());
    let conditions = vec![StateCondition::new(ConditionModality::Always, invariant)];
    let options = Options { conditions, ..Options::default() };
    let loaded = pnml::LANGUAGE.load(&mut sources, &options);
    let loaded = loaded.map_err(|errors| errors[0].render(&sources).to_string())?;
    assert_eq!(validate(&loaded.program).map_err(|it| format!("{it:?}")), Ok(()));
    Ok(Interp::new(loaded.program).unwrap())
}

#[test]
fn conditions_on_markings_are_evaluated() {
    let holds = |name: &str, invariant: &str| {
        let checks = CheckSelection { invariants: true, ..CheckSelection::NONE };
        let limits = SearchLimits { checks, ..SearchLimits::default() };
        let interp = net_with_invariant(name, invariant).unwrap_or_else(|error| panic!("{error}"));
        let executor = Executor::new(&interp, ExecutionMode::Jit);
        let found = memory::search(executor.model(), &limits).unwrap();
        let by_interp = memory::search(&interp, &limits).unwrap();
        assert_eq!(found, by_interp, "{invariant}");
        found.verdict == SearchVerdict::Verified
    };
    for (name, invariant, expected) in [
        ("philosophers_coloured", "eating[p0] + eating[p1] <= 1", true),
        ("philosophers_coloured", "eating <= 1", false),
        ("philosophers_coloured", "eating <= 2", true),
        ("philosophers_coloured", "fork + 2 * eating + hungry == 5", true),
        ("philosophers_coloured", "fireable(left) or fireable(right) || fireable(down)", false),
        (
            "philosophers_coloured",
            "hungry[p1] < 1 imply not (fireable(right) and hungry == 0)",
            true,
        ),
        ("readers_writers", "fireable(\"stop writing\") -> reading == 0", true),
        ("readers_writers", "!fireable(write) or idle - permits == 0", true),
        ("database", "waiting <= 1 && (active == 1 -> waiting == 1)", true),
        ("database", "sent <= 2", false),
        ("crossing", "inside > 0 -> down == 1", true),
        ("crossing", "true", true),
        ("crossing", "!!fireable(lower) or up == 0 or near == 0", true),
        ("crossing", "false || up + down != 1", false),
    ] {
        assert_eq!(holds(name, invariant), expected, "{name}: {invariant}");
    }
    // A condition that names a value breaks the symmetry.
    let program = |invariant: &str| {
        net_with_invariant("database", invariant).unwrap().program().scalarsets.len()
    };
    assert_eq!((program("waiting <= 1"), program("waiting[s1] <= 1")), (1, 0));
    for (invariant, position, message) in [
        ("eating[p9] <= 1", "1:8", "there is no value `p9`"),
        ("eaten <= 1", "1:1", "there is no place `eaten`"),
        ("fireable(rigt)", "1:10", "did you mean `right`?"),
        ("eating", "1:1", "this is a number, and is neither so nor not"),
        ("(eating < 1) + 2 > 1", "1:2", "this is so or not, and is no number"),
        ("eating < 1 2", "1:12", "expected an operator or the end, found `2`"),
        ("eating <", "1:9", "expected a place or a number, found the end"),
        ("(eating < 1", "1:12", "expected `)`, found the end"),
        ("fireable(left", "1:14", "expected `)`, found the end"),
        ("eating[p0][p1] < 1", "1:12", "colours of `eating` have 1 part"),
        ("99999999999999999999 < 1", "1:1", "`99999999999999999999` is no number of tokens"),
    ] {
        let error = net_with_invariant("philosophers_coloured", invariant)
            .map(|_| ())
            .expect_err(invariant);
        let beginning = format!("invariant:{position}: error: ");
        assert!(
            error.starts_with(&beginning) && error.contains(message),
            "{beginning}{message}\n{error}"
        );
    }
    let deep = "(".repeat(100_000);
    assert!(
        net_with_invariant("crossing", &deep)
            .map(|_| ())
            .unwrap_err()
            .contains("too much stands in each other here")
    );
}

#[test]
fn corpus_nets_have_the_counts_of_the_contest() {
    let Some(folder) = std::env::var_os("SPILLWAY_CORPUS") else { return };
    let folder = PathBuf::from(folder).join("pnml");
    let Ok(reference) = std::fs::read_to_string(folder.join("reference.tsv")) else { return };
    let mut counted = 0;
    for line in reference.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [states, transitions] = [1, 2].map(|it| fields[it].parse::<u64>().unwrap());
        if states > 250_000 {
            continue;
        }
        let program = load(&std::fs::read_to_string(folder.join(fields[0])).unwrap()).unwrap();
        let interp = Interp::new(program).unwrap();
        let executor = Executor::new(&interp, ExecutionMode::Jit);
        let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
        let found = memory::search(executor.model(), &limits).unwrap();
        assert_eq!(
            (found.states(), found.counters.transitions),
            (states, transitions),
            "{}",
            fields[0]
        );
        counted += 1;
    }
    println!("{counted} nets");
}

/// Returns a net of one page with places in a ring, a token that runs through it, and more items.
fn ring(places: usize, more: &str) -> String {
    let place = |it: usize| {
        let next = (it + 1) % places;
        format!(
            "<place id='p{it}'/><transition id='t{it}'/><arc source='p{it}' target='t{it}'/><arc source='t{it}' target='p{next}'/>\n"
        )
    };
    let first = "<place id='q'><initialMarking><text>1</text></initialMarking></place><transition id='u'/>\
        <arc source='q' target='u'/><arc source='u' target='p0'/>\n";
    net_with(&format!("{first}{}{more}", (0..places).map(place).collect::<String>()))
}

#[test]
fn large_nets_have_capacities_of_their_tokens() {
    let program = load(&ring(30_000, "")).unwrap();
    assert!(program.variables.values().all(|it| token_capacity(&program, it.ty) == 1));
    // A transition that produces tokens from nothing. 16 bits per place are too many.
    let grows = "<transition id='v'/><arc source='v' target='p0'/>";
    let error = load(&ring(33_000, grows)).unwrap_err();
    let message = "markings of the places up to here take 524288 bits, more than 524280 that a state has room for";
    assert!(error.starts_with("net.pnml:32770:1: error: ") && error.contains(message), "{error}");
}

#[test]
fn declared_safety_of_units_is_checked() {
    let units = |safe: &str| {
        format!(
            "<toolspecific tool='nupn' version='1.1'><size places='1'/><structure units='1' root='u' safe='{safe}'>\
             <unit id='u'><places>p</places><subunits/></unit></structure></toolspecific>"
        )
    };
    let grows = "<place id='p'/><transition id='t'/><arc source='t' target='p'/>";
    let program = |safe: &str| load(&net_with(&format!("{}{grows}", units(safe)))).unwrap();
    let capacities = ["true", "false"].map(|safe| {
        let program = program(safe);
        token_capacity(&program, program.variables.values().next().unwrap().ty)
    });
    assert_eq!(capacities, [1, 65_535]);
    // The second token is a fault, which ends the search.
    let interp = Interp::new(program("true")).unwrap();
    let found = memory::search(&interp, &SearchLimits::default()).unwrap();
    assert_eq!((found.verdict, found.states()), (SearchVerdict::Violated, 2));
    assert!(found.findings.iter().any(|(it, _)| matches!(it, Violation::Fault(..))));
}
