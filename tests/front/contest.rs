//! Property files for nets: each kind of formula, compared with the same property as a flag; rejected formulas.

use crate::support::error_message::ErrorMessage;
use spillway::front::{ExternalProperty, ExternalPropertyKind, pnml};
use spillway::ir::ConditionModality;
use spillway::source::SourceMap;

/// A place whose name is another's id, and a transition with a name of several words.
const NET: &str = "<pnml><net id='n' type='ptnet'><page id='g'>
    <place id='p'><name><text>q</text></name></place><place id='q'><name><text>the other</text></name></place>
    <transition id='t'><name><text>go on</text></name></transition><transition id='u'/>
    <arc source='p' target='t'/></page></net></pnml>";

fn questions(properties: &str) -> Result<Vec<ExternalProperty>, ErrorMessage> {
    let mut sources = SourceMap::default();
    sources.add("net.pnml", NET);
    let file = sources.add("file.xml", properties);
    let read = pnml::LANGUAGE.read_properties.unwrap();
    read(&sources, file).map_err(|error| error.render(&sources).to_string().into())
}

/// What is wrong with a file, or with its only question.
fn wrong(properties: &str) -> String {
    match questions(properties) {
        Err(error) => error.to_string(),
        Ok(mut all) => {
            let error = all.remove(0).kind.unwrap_err();
            let mut sources = SourceMap::default();
            sources.add("net.pnml", NET);
            sources.add("file.xml", properties);
            error.render(&sources).to_string()
        }
    }
}

/// A file that asks one formula.
fn asking(formula: &str) -> String {
    format!(
        "<property-set xmlns='http://mcc.lip6.fr/'>\n<property><id>one</id><description>of it</description>\n\
         <formula>{formula}</formula></property></property-set>"
    )
}

fn asks(formula: &str) -> ExternalPropertyKind {
    let mut all = questions(&asking(formula)).unwrap_or_else(|error| panic!("{formula}: {error}"));
    assert_eq!((all.len(), all[0].name.as_str()), (1, "one"));
    all.remove(0).kind.unwrap_or_else(|error| panic!("{formula}: {error:?}"))
}

fn number(it: u32) -> String {
    format!("<integer-constant>{it}</integer-constant>")
}

fn tokens(places: &str) -> String {
    let places = places.chars().map(|it| format!("<place>{it}</place>"));
    format!("<tokens-count>{}</tokens-count>", places.collect::<String>())
}

fn node(name: &str, inside: &[&str]) -> String {
    format!("<{name}>{}</{name}>", inside.concat())
}

#[test]
fn conditions_on_states_are_written_as_ours() {
    let [p, both] = [tokens("p"), tokens("pq")];
    let le = node("integer-le", &[&p, &number(3)]);
    let go = node("is-fireable", &["<transition> t </transition>"]);
    let cases = [
        (le.clone(), "\"q\" <= 3"),
        (node("integer-lt", &[&number(2), &both]), "2 < (\"q\" + \"the other\")"),
        (
            node("integer-eq", &[&node("integer-sum", &[&p, &number(1)]), &both]),
            "(\"q\" + 1) == (\"q\" + \"the other\")",
        ),
        (
            node("integer-ne", &[&node("integer-difference", &[&both, &number(1)]), &number(0)]),
            "((\"q\" + \"the other\") - 1) != 0",
        ),
        (
            node("integer-ge", &[&node("integer-product", &[&number(2), &p]), &number(4)]),
            "(2 * \"q\") >= 4",
        ),
        (node("integer-gt", &[&p, &number(0)]), "\"q\" > 0"),
        (go.clone(), "fireable(\"go on\")"),
        (
            node("is-fireable", &["<transition>t</transition>", "<transition>u</transition>"]),
            "(fireable(\"go on\") || fireable(\"u\"))",
        ),
        (node("negation", &[&le]), "!(\"q\" <= 3)"),
        (
            node("conjunction", &[&le, &go, "<true/>"]),
            "((\"q\" <= 3) && (fireable(\"go on\")) && (true))",
        ),
        (node("disjunction", &["<false/>", "<deadlock/>"]), "((false) || (deadlock))"),
        (node("implication", &[&go, &le]), "(fireable(\"go on\")) -> (\"q\" <= 3)"),
        (node("equivalence", &[&go, &le]), "(fireable(\"go on\")) <-> (\"q\" <= 3)"),
        (node("exclusive-disjunction", &[&go, &le]), "!((fireable(\"go on\")) <-> (\"q\" <= 3))"),
    ];
    for (formula, ours) in cases {
        let some = node("exists-path", &[&node("finally", &[&formula])]);
        let every = node("all-paths", &[&node("globally", &[&formula])]);
        assert_eq!(
            asks(&some),
            ExternalPropertyKind::Condition(ConditionModality::Sometimes, ours.to_owned())
        );
        assert_eq!(
            asks(&every),
            ExternalPropertyKind::Condition(ConditionModality::Always, ours.to_owned())
        );
        let [not_some, not_every] = [some, every].map(|it| node("negation", &[&it]));
        assert_eq!(
            asks(&not_some),
            ExternalPropertyKind::Condition(ConditionModality::Always, format!("!({ours})"))
        );
        assert_eq!(
            asks(&not_every),
            ExternalPropertyKind::Condition(ConditionModality::Sometimes, format!("!({ours})"))
        );
    }
}

#[test]
fn formulas_of_runs_and_bounds_are_told_apart() {
    let le = node("integer-le", &[&tokens("p"), &number(3)]);
    let again = node("globally", &[&node("finally", &[&le])]);
    assert_eq!(
        asks(&node("all-paths", &[&again])),
        ExternalPropertyKind::Runs("[] (<> (\"q\" <= 3))".to_owned())
    );
    let until = node("until", &[&node("before", &[&le]), &node("reach", &[&node("next", &[&le])])]);
    let joined = node("disjunction", &[&until, &node("negation", &[&again])]);
    assert_eq!(
        asks(&node("all-paths", &[&joined])),
        ExternalPropertyKind::Runs(
            "(((\"q\" <= 3) U (X (\"q\" <= 3))) || (!([] (<> (\"q\" <= 3)))))".to_owned()
        )
    );
    // Of a state alone nothing is said but of the first.
    assert_eq!(
        asks(&node("all-paths", &[&le])),
        ExternalPropertyKind::Runs("\"q\" <= 3".to_owned())
    );
    let bound = node("place-bound", &["<place>q</place>", "<place>p</place>"]);
    assert_eq!(
        asks(&bound),
        ExternalPropertyKind::Most(vec!["the other".to_owned(), "q".to_owned()])
    );
}

#[test]
fn a_question_that_is_wrong_leaves_the_others_alone() {
    let some = |inside: &str| node("exists-path", &[&node("finally", &[inside])]);
    let le = some(&node("integer-le", &[&tokens("p"), "<integer-constant>-3</integer-constant>"]));
    let property = |name: &str, formula: &str| {
        format!("<property><id>{name}</id><formula>{formula}</formula></property>")
    };
    let file = [property("a", "<odd/>"), property("b", &le), property("c", "")].concat();
    let all = questions(&format!("<property-set>{file}</property-set>")).unwrap();
    let known: Vec<_> = all.iter().map(|it| (it.name.as_str(), it.kind.is_ok())).collect();
    assert_eq!(known, [("a", false), ("b", true), ("c", false)]);
    let asks =
        ExternalPropertyKind::Condition(ConditionModality::Sometimes, "\"q\" <= -3".to_owned());
    assert_eq!(all[1].kind, Ok(asks));
}

#[test]
fn what_is_not_read_is_told_with_its_place() {
    let le = node("integer-le", &[&tokens("p"), &number(3)]);
    let some = |inside: &str| node("exists-path", &[&node("finally", &[inside])]);
    let cases = [
        (
            asking(&some(&node("is-fireable", &["<transition>p</transition>"]))),
            "the net has no transition `p`",
        ),
        (
            asking(&some(&node("is-fireable", &["<place>p</place>"]))),
            "<place> stands where a <transition>",
        ),
        (asking(&some(&node("integer-le", &[&number(1)]))), "<integer-le> has 2 parts, and not 1"),
        (asking(&some(&node("integer-le", &[&le, &le]))), "<integer-le> is no number that is read"),
        (asking(&some("<tokens-count/>")), "<tokens-count> is nothing that is so or not"),
        (
            asking(&some(&node("integer-le", &["<tokens-count/>", &number(1)]))),
            "<tokens-count> is about nothing",
        ),
        (asking(&some("<is-fireable/>")), "<is-fireable> is about nothing"),
        (
            asking(&some(&node(
                "integer-le",
                &["<integer-constant>x</integer-constant>", &number(1)],
            ))),
            "`x` is no whole number",
        ),
        (
            asking(&node("exists-path", &[&node("globally", &[&node("finally", &[&le])])])),
            "<exists-path> is no question that is read",
        ),
        (
            asking(&node("all-paths", &[&node("globally", &[&node("next", &[&some(&le)])])])),
            "<all-paths> is no question that is read",
        ),
        (asking("<quasi-liveness/>"), "<quasi-liveness> is nothing that is so or not"),
        (
            asking(&node("negation", &["<place-bound><place>p</place></place-bound>"])),
            "<place-bound> is nothing that is so or not",
        ),
        (asking(""), "the property has no <formula>"),
        (
            "<property-set>\n<property><formula><true/></formula></property></property-set>"
                .to_owned(),
            "the property has no <id>",
        ),
        ("<property-set>\n</property-set>".to_owned(), "there is no <property> in it"),
        ("\n<pnml/>".to_owned(), "properties stand in <property-set>, and this is <pnml>"),
        (
            asking(&some(&le)).split("</formula>").next().unwrap().to_owned(),
            "the file ends within this element",
        ),
    ];
    for (text, told) in cases {
        let error = wrong(&text);
        assert!(error.starts_with("file.xml:") && error.contains(told), "{error} for {text}");
    }
    let many = asking("<x/>").replace("<x/>", &some("<true/>"));
    let one = &many[many.find("<property>").unwrap()..many.rfind("</property-set>").unwrap()];
    let error = questions(&format!("<property-set>{}</property-set>", one.repeat(10_001)));
    assert!(error.unwrap_err().contains("more than 10000 properties are asked"));
}
