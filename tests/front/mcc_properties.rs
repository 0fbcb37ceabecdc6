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

fn read_properties(properties: &str) -> Result<Vec<ExternalProperty>, ErrorMessage> {
    let mut sources = SourceMap::default();
    sources.add("net.pnml", NET);
    let file = sources.add("file.xml", properties);
    let read = pnml::LANGUAGE.read_properties.unwrap();
    read(&sources, file).map_err(|error| error.render(&sources).to_string().into())
}

/// Returns the error of a file, or of its only property.
fn error_of(properties: &str) -> String {
    match read_properties(properties) {
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

/// Returns a file with one property.
fn file_with_formula(formula: &str) -> String {
    format!(
        "<property-set xmlns='http://mcc.lip6.fr/'>\n<property><id>one</id><description>of it</description>\n\
         <formula>{formula}</formula></property></property-set>"
    )
}

fn kind_of_formula(formula: &str) -> ExternalPropertyKind {
    let mut all = read_properties(&file_with_formula(formula))
        .unwrap_or_else(|error| panic!("{formula}: {error}"));
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
fn state_formulas_become_conditions() {
    let [p, sum] = [tokens("p"), tokens("pq")];
    let le = node("integer-le", &[&p, &number(3)]);
    let fireable = node("is-fireable", &["<transition> t </transition>"]);
    let cases = [
        (le.clone(), "\"q\" <= 3"),
        (node("integer-lt", &[&number(2), &sum]), "2 < (\"q\" + \"the other\")"),
        (
            node("integer-eq", &[&node("integer-sum", &[&p, &number(1)]), &sum]),
            "(\"q\" + 1) == (\"q\" + \"the other\")",
        ),
        (
            node("integer-ne", &[&node("integer-difference", &[&sum, &number(1)]), &number(0)]),
            "((\"q\" + \"the other\") - 1) != 0",
        ),
        (
            node("integer-ge", &[&node("integer-product", &[&number(2), &p]), &number(4)]),
            "(2 * \"q\") >= 4",
        ),
        (node("integer-gt", &[&p, &number(0)]), "\"q\" > 0"),
        (fireable.clone(), "fireable(\"go on\")"),
        (
            node("is-fireable", &["<transition>t</transition>", "<transition>u</transition>"]),
            "(fireable(\"go on\") || fireable(\"u\"))",
        ),
        (node("negation", &[&le]), "!(\"q\" <= 3)"),
        (
            node("conjunction", &[&le, &fireable, "<true/>"]),
            "((\"q\" <= 3) && (fireable(\"go on\")) && (true))",
        ),
        (node("disjunction", &["<false/>", "<deadlock/>"]), "((false) || (deadlock))"),
        (node("implication", &[&fireable, &le]), "(fireable(\"go on\")) -> (\"q\" <= 3)"),
        (node("equivalence", &[&fireable, &le]), "(fireable(\"go on\")) <-> (\"q\" <= 3)"),
        (
            node("exclusive-disjunction", &[&fireable, &le]),
            "!((fireable(\"go on\")) <-> (\"q\" <= 3))",
        ),
    ];
    for (formula, expected) in cases {
        let possible = node("exists-path", &[&node("finally", &[&formula])]);
        let invariant = node("all-paths", &[&node("globally", &[&formula])]);
        assert_eq!(
            kind_of_formula(&possible),
            ExternalPropertyKind::Condition(ConditionModality::Sometimes, expected.to_owned())
        );
        assert_eq!(
            kind_of_formula(&invariant),
            ExternalPropertyKind::Condition(ConditionModality::Always, expected.to_owned())
        );
        let [never, not_invariant] = [possible, invariant].map(|it| node("negation", &[&it]));
        assert_eq!(
            kind_of_formula(&never),
            ExternalPropertyKind::Condition(ConditionModality::Always, format!("!({expected})"))
        );
        assert_eq!(
            kind_of_formula(&not_invariant),
            ExternalPropertyKind::Condition(ConditionModality::Sometimes, format!("!({expected})"))
        );
    }
}

#[test]
fn path_formulas_and_bounds_have_their_own_kinds() {
    let le = node("integer-le", &[&tokens("p"), &number(3)]);
    let infinitely_often = node("globally", &[&node("finally", &[&le])]);
    assert_eq!(
        kind_of_formula(&node("all-paths", &[&infinitely_often])),
        ExternalPropertyKind::Runs("[] (<> (\"q\" <= 3))".to_owned())
    );
    let until = node("until", &[&node("before", &[&le]), &node("reach", &[&node("next", &[&le])])]);
    let joined = node("disjunction", &[&until, &node("negation", &[&infinitely_often])]);
    assert_eq!(
        kind_of_formula(&node("all-paths", &[&joined])),
        ExternalPropertyKind::Runs(
            "(((\"q\" <= 3) U (X (\"q\" <= 3))) || (!([] (<> (\"q\" <= 3)))))".to_owned()
        )
    );
    // A formula about one state concerns the initial state.
    assert_eq!(
        kind_of_formula(&node("all-paths", &[&le])),
        ExternalPropertyKind::Runs("\"q\" <= 3".to_owned())
    );
    let bound = node("place-bound", &["<place>q</place>", "<place>p</place>"]);
    assert_eq!(
        kind_of_formula(&bound),
        ExternalPropertyKind::Most(vec!["the other".to_owned(), "q".to_owned()])
    );
}

#[test]
fn an_invalid_property_does_not_affect_the_others() {
    let possible = |inside: &str| node("exists-path", &[&node("finally", &[inside])]);
    let le =
        possible(&node("integer-le", &[&tokens("p"), "<integer-constant>-3</integer-constant>"]));
    let property = |name: &str, formula: &str| {
        format!("<property><id>{name}</id><formula>{formula}</formula></property>")
    };
    let file = [property("a", "<odd/>"), property("b", &le), property("c", "")].concat();
    let all = read_properties(&format!("<property-set>{file}</property-set>")).unwrap();
    let names_and_validity: Vec<_> =
        all.iter().map(|it| (it.name.as_str(), it.kind.is_ok())).collect();
    assert_eq!(names_and_validity, [("a", false), ("b", true), ("c", false)]);
    let expected =
        ExternalPropertyKind::Condition(ConditionModality::Sometimes, "\"q\" <= -3".to_owned());
    assert_eq!(all[1].kind, Ok(expected));
}

#[test]
fn rejected_formulas_are_reported_with_their_place() {
    let le = node("integer-le", &[&tokens("p"), &number(3)]);
    let possible = |inside: &str| node("exists-path", &[&node("finally", &[inside])]);
    let cases = [
        (
            file_with_formula(&possible(&node("is-fireable", &["<transition>p</transition>"]))),
            "the net has no transition `p`",
        ),
        (
            file_with_formula(&possible(&node("is-fireable", &["<place>p</place>"]))),
            "<place> stands where a <transition>",
        ),
        (
            file_with_formula(&possible(&node("integer-le", &[&number(1)]))),
            "<integer-le> has 2 parts, and not 1",
        ),
        (
            file_with_formula(&possible(&node("integer-le", &[&le, &le]))),
            "<integer-le> is no number that is read",
        ),
        (
            file_with_formula(&possible("<tokens-count/>")),
            "<tokens-count> is nothing that is so or not",
        ),
        (
            file_with_formula(&possible(&node("integer-le", &["<tokens-count/>", &number(1)]))),
            "<tokens-count> is about nothing",
        ),
        (file_with_formula(&possible("<is-fireable/>")), "<is-fireable> is about nothing"),
        (
            file_with_formula(&possible(&node(
                "integer-le",
                &["<integer-constant>x</integer-constant>", &number(1)],
            ))),
            "`x` is no whole number",
        ),
        (
            file_with_formula(&node(
                "exists-path",
                &[&node("globally", &[&node("finally", &[&le])])],
            )),
            "<exists-path> is no question that is read",
        ),
        (
            file_with_formula(&node(
                "all-paths",
                &[&node("globally", &[&node("next", &[&possible(&le)])])],
            )),
            "<all-paths> is no question that is read",
        ),
        (file_with_formula("<quasi-liveness/>"), "<quasi-liveness> is nothing that is so or not"),
        (
            file_with_formula(&node("negation", &["<place-bound><place>p</place></place-bound>"])),
            "<place-bound> is nothing that is so or not",
        ),
        (file_with_formula(""), "the property has no <formula>"),
        (
            "<property-set>\n<property><formula><true/></formula></property></property-set>"
                .to_owned(),
            "the property has no <id>",
        ),
        ("<property-set>\n</property-set>".to_owned(), "there is no <property> in it"),
        ("\n<pnml/>".to_owned(), "properties stand in <property-set>, and this is <pnml>"),
        (
            file_with_formula(&possible(&le)).split("</formula>").next().unwrap().to_owned(),
            "the file ends within this element",
        ),
    ];
    for (text, message) in cases {
        let error = error_of(&text);
        assert!(error.starts_with("file.xml:") && error.contains(message), "{error} for {text}");
    }
    let many = file_with_formula("<x/>").replace("<x/>", &possible("<true/>"));
    let one = &many[many.find("<property>").unwrap()..many.rfind("</property-set>").unwrap()];
    let error = read_properties(&format!("<property-set>{}</property-set>", one.repeat(10_001)));
    assert!(error.unwrap_err().contains("more than 10000 properties are asked"));
}
