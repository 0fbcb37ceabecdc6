//! Translation of formulas to automata: an automaton accepts a lasso word if and only if the formula holds for it, by
//! the definitions of both.

use super::families;
use super::formulas::{FormulaRng, random};
use super::lasso_words::Lasso;
use spillway::ltl::{
    Automaton, AutomatonComponents, ComponentClass, FormulaSyntax, LtlConnective, LtlFormula,
    degeneralize, glued_operators, hoa, parse, to_spin_signs, translate, words,
};
use std::io::{Read, Seek};
use std::process::Command;
use std::time::{Duration, Instant};

fn names(count: usize) -> Vec<String> {
    (0..count).map(|at| ((b'a' + at as u8) as char).to_string()).collect()
}

fn automaton(formula: &LtlFormula, propositions: usize) -> Automaton {
    translate(formula, names(propositions)).expect("a formula of few operators")
}

/// Asserts that the automata of a formula and of its negation accept the words that satisfy each.
fn check(formula: &LtlFormula, propositions: usize, words: &[Lasso]) {
    let holds = automaton(formula, propositions);
    let fails = automaton(&formula.clone().negated(), propositions);
    for word in words {
        let expected = word.satisfies(formula);
        let shown = formula.with_names(&names(propositions)).to_string();
        assert_eq!(word.is_accepted_by(&holds), expected, "{shown} on {word:?}");
        assert_eq!(word.is_accepted_by(&fails), !expected, "the negation of {shown} on {word:?}");
    }
}

fn random_words(rng: &mut FormulaRng, propositions: usize) -> Vec<Lasso> {
    let word = |rng: &mut FormulaRng| {
        let letters: Vec<u64> =
            (0..1 + rng.below(9)).map(|_| rng.below(1 << propositions) as u64).collect();
        let back = rng.below(letters.len());
        Lasso { letters, back }
    };
    (0..60).map(|_| word(rng)).collect()
}

#[test]
fn automata_agree_with_formulas_on_all_short_words() {
    let mut rng = FormulaRng(1);
    let one: Vec<Lasso> = (1..=6).flat_map(|length| Lasso::all(length, 1)).collect();
    let two: Vec<Lasso> = (1..=3).flat_map(|length| Lasso::all(length, 2)).collect();
    for round in 0..1500 {
        check(&random(&mut rng, 1 + round % 9, 1), 1, &one);
        check(&random(&mut rng, 1 + round % 9, 2), 2, &two);
    }
}

#[test]
fn automata_agree_with_formulas_on_random_words() {
    let mut rng = FormulaRng(2);
    for round in 0..3000 {
        let propositions = 2 + round % 2;
        let formula = random(&mut rng, 1 + round % 13, propositions);
        let words = random_words(&mut rng, propositions);
        check(&formula, propositions, &words);
    }
}

/// Names of the model; `R` is an operator in other tools.
const MODEL_NAMES: [&str; 5] = ["p", "q", "r", "Foo", "R"];

/// A formula in a user's spelling, and its propositions.
pub fn read(text: &str) -> (LtlFormula, Vec<String>) {
    let (words, end) = words(text, 0);
    let parsed = parse(&words, end, &FormulaSyntax::WORDS, &|name| MODEL_NAMES.contains(&name));
    let parsed = parsed.unwrap_or_else(|error| panic!("{text}: {}", error.message));
    let name = |range: &std::ops::Range<usize>| {
        words[range.clone()].iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join(" ")
    };
    (parsed.formula, parsed.propositions.iter().map(name).collect())
}

fn families() -> impl Iterator<Item = &'static str> {
    families::PATTERNS.into_iter().chain(families::ETESSAMI_HOLZMANN).chain(families::SOMENZI_BLOEM)
}

#[test]
fn automata_agree_with_formulas_of_known_families() {
    let mut rng = FormulaRng(3);
    for text in families() {
        let (formula, propositions) = read(text);
        let words = random_words(&mut rng, propositions.len());
        check(&formula, propositions.len(), &words);
    }
}

/// Formulas, one a line, in the files of the folder that `SPILLWAY_FORMULAS` names: lists of Spot's tests, or the
/// output of its `genltl` and `randltl`.
#[test]
fn automata_agree_with_formulas_of_a_folder() {
    let mut rng = FormulaRng(5);
    for (formula, count) in formulas_of_folder() {
        let samples = random_words(&mut rng, count);
        check(&formula, count, &samples);
    }
}

/// The formulas of at most twelve propositions in the folder that `SPILLWAY_FORMULAS` names, with their numbers of
/// propositions. Without the variable there are none.
pub fn formulas_of_folder() -> Vec<(LtlFormula, usize)> {
    let Ok(folder) = std::env::var("SPILLWAY_FORMULAS") else { return Vec::new() };
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'))
        {
            // Spot writes `&` and `|`; here these are operators on bits.
            let spelled = to_spin_signs(line).replace("&&", "&").replace("||", "|");
            let spelled = spelled.replace('&', "&&").replace('|', "||");
            let words: Vec<&str> = spelled.split(|it| !is_word(it)).collect();
            let is_name = |it: &str| {
                let is_lower = it.starts_with(|it: char| it.is_lowercase() || it == '_');
                is_lower
                    && !["xor", "true", "false"].contains(&it)
                    && words.iter().any(|word| word.ends_with(it))
            };
            let (tokens, end) = split_words(&spelled, &is_name);
            let Ok(parsed) = parse(&tokens, end, &FormulaSyntax::WORDS, &is_name) else { continue };
            let count = parsed.propositions.len();
            if count <= 12 {
                found.push((parsed.formula, count));
            }
        }
    }
    println!("{} formulas", found.len());
    assert!(!found.is_empty(), "{folder} has no formulas");
    found
}

/// The words of a text, with operators that are written together split.
fn split_words(
    text: &str,
    is_name: &dyn Fn(&str) -> bool,
) -> (Vec<spillway::ltl::FormulaWord>, spillway::source::Span) {
    let (all, end) = words(text, 0);
    (spillway::ltl::split_operators(all, is_name), end)
}

/// The formula with `V` instead of `W`, which `spin -f` does not know.
fn without_weak_until(formula: LtlFormula) -> LtlFormula {
    let inner = |it: Box<LtlFormula>| Box::new(without_weak_until(*it));
    match formula {
        LtlFormula::Constant(_) | LtlFormula::Proposition(_) => formula,
        LtlFormula::Not(it) => LtlFormula::Not(inner(it)),
        LtlFormula::Next(it) => LtlFormula::Next(inner(it)),
        LtlFormula::Eventually(it) => LtlFormula::Eventually(inner(it)),
        LtlFormula::Always(it) => LtlFormula::Always(inner(it)),
        LtlFormula::Binary(LtlConnective::WeakUntil, left, right) => {
            let (left, right) = (without_weak_until(*left), without_weak_until(*right));
            let either = LtlFormula::binary(LtlConnective::Or, left, right.clone());
            LtlFormula::binary(LtlConnective::Release, right, either)
        }
        LtlFormula::Binary(operator, left, right) => {
            LtlFormula::Binary(operator, inner(left), inner(right))
        }
    }
}

/// The number of states of SPIN's claim for a formula. `None` if SPIN is not installed or takes too long.
fn spin_states(text: &str) -> Option<usize> {
    let (out, mut end) = (tempfile::tempfile().unwrap(), Instant::now() + Duration::from_secs(2));
    let mut spin = Command::new("spin");
    let mut run = spin.args(["-f", text]).stdout(out.try_clone().unwrap()).spawn().ok()?;
    while run.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            run.kill().unwrap();
            end += Duration::from_secs(60);
            eprintln!("spin takes long for {text}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let (mut out, mut claim) = (out, String::new());
    out.rewind().unwrap();
    out.read_to_string(&mut claim).unwrap();
    let is_label = |it: &str| it.chars().all(|it| it.is_alphanumeric() || it == '_');
    let labels = claim.lines().filter(|line| line.strip_suffix(':').is_some_and(is_label));
    claim.trim_end().ends_with('}').then(|| labels.count())
}

#[test]
fn automata_of_known_families_are_no_larger_than_those_of_spin() {
    if spin_states("p").is_none() {
        eprintln!("spin is not installed: nothing is compared");
        return;
    }
    for text in families().filter(|text| !text.contains('X')) {
        let (formula, propositions) = read(text);
        let shown = without_weak_until(formula.clone()).with_names(&propositions).to_string();
        let own = automaton(&formula, propositions.len()).states.len();
        if let Some(theirs) = spin_states(&shown) {
            println!("{own:>3} {theirs:>3}  {text}");
            assert!(own <= theirs, "{text}: {own} states, and SPIN has {theirs}");
        }
    }
}

/// A printed automaton is read as an automaton of the same language; so is one with several sets on edges.
#[test]
fn automata_in_the_hanoi_format_keep_their_language() {
    let mut rng = FormulaRng(4);
    for round in 0..400 {
        let formula = random(&mut rng, 1 + round % 11, 2);
        let text = automaton(&formula, 2).hoa("a \"formula\"");
        let read = hoa::read(&text, 0).unwrap_or_else(|error| panic!("{}: {text}", error.message));
        assert_eq!(read.name.as_deref(), Some("a \"formula\""));
        assert_eq!(read.propositions.iter().map(|it| &*it.name).collect::<Vec<_>>(), ["a", "b"]);
        let reread = degeneralize(read.automaton.as_ref(), names(2));
        for word in random_words(&mut rng, 2) {
            let shown = formula.with_names(&names(2)).to_string();
            assert_eq!(
                word.is_accepted_by(&reread),
                word.satisfies(&formula),
                "{shown} on {word:?}"
            );
        }
    }
    let several = "HOA: v1 States: 1 Start: 0 AP: 2 \"a\" \"b\" Alias: @a 0 acc-name: generalized-Buchi 2
        Acceptance: 3 Inf(0)&Inf(2) --BODY--
        State: 0 /* implicit */ [!@a & !1] 0 {1} [@a & !1] 0 {0} [!(@a | !1)] 0 {2} [@a & 1] 0 {0 2} --END--";
    let implicit = "HOA: v1 States: 2 Start: 0 Start: 1 AP: 1 \"a\" Acceptance: 1 Inf(0) --BODY--
        State: 0 1 0 State: 1 {0} 1 1 --END--";
    let labelled =
        "HOA: v1 States: 1 Start: 0 AP: 1 \"a\" Acceptance: 0 t --BODY-- State: [0] 0 0 --END--";
    let all = [(several, "[]<>a && []<>b"), (implicit, "a || !a"), (labelled, "[]a")];
    for (text, says) in all {
        let found = hoa::read(text, 0).unwrap_or_else(|error| panic!("{}: {text}", error.message));
        let (formula, propositions) = read(says);
        let automaton = degeneralize(found.automaton.as_ref(), propositions);
        for word in (1..=4).flat_map(|length| Lasso::all(length, 2)) {
            assert_eq!(
                word.is_accepted_by(&automaton),
                word.satisfies(&formula),
                "{says}, {word:?}"
            );
        }
    }
}

#[test]
fn operators_bind_as_in_spin() {
    // The readings of SPIN 6.5.2, as it prints them.
    let bound = [
        ("[] p U q", "([] p) U (q)"),
        ("<> p && q", "(<> (p)) && (q)"),
        ("p U q U r", "((p) U (q)) U (r)"),
        ("p -> q -> r", "((p) -> (q)) -> (r)"),
        ("!p U q", "(! (p)) U (q)"),
        ("p || q && r -> s <-> p", "((p || ((q) && (r))) -> (s)) <-> (p)"),
        ("p U [] q U r", "((p) U ([] (q))) U (r)"),
        ("p U q && r U s || p -> q", "((((p) U (q)) && ((r) U (s))) || (p)) -> (q)"),
        ("[] <> p U q && r", "(([] (<> (p))) U (q)) && (r)"),
        ("p <-> q -> r", "((p) <-> (q)) -> (r)"),
        ("always p implies eventually q until r", "([]p) -> ((<>q) U r)"),
    ];
    for (text, expected) in bound {
        assert_eq!(read(text), read(expected), "{text}");
    }
}

#[test]
fn operators_of_other_tools_are_read() {
    let equal = [
        ("G (p -> F q)", "[] (p -> <> q)"),
        ("G F p && F G q", "[] <> p && <> [] q"),
        ("p M q U r", "(p M q) U r"),
        ("p xor q || r", "p xor (q || r)"),
        ("p -> q xor r", "p -> (q xor r)"),
        ("[] 1 && <> 0", "[] true && <> false"),
        ("F Foo", "<> Foo"),
        // A name of the model is not an operator.
        ("[] R", "[] (R)"),
    ];
    for (text, expected) in equal {
        assert_eq!(read(text), read(expected), "{text}");
    }
    let signs = [
        ("□(p → ◇q)", "[] (p -> <>q)"),
        ("¬p ∧ ○q ∨ ⊤", "!p && X q || true"),
        ("p <=> q => r", "p <-> q -> r"),
        ("p <--> q --> r", "p <-> q -> r"),
        ("p ⊕ q", "p xor q"),
    ];
    for (text, expected) in signs {
        assert_eq!(read(&to_spin_signs(text)), read(expected), "{text}");
    }
    assert_eq!(to_spin_signs("\"→\" && p"), "\"→\" && p", "what stands in quotes is a name");
    let glued = [("GFp", 2), ("XXXp", 3), ("GFoo", 1), ("Foo", 0), ("FX", 2), ("Fp0", 0), ("p", 0)];
    for (word, count) in glued {
        assert_eq!(glued_operators(word, &|it| MODEL_NAMES.contains(&it)), count, "{word}");
    }
}

/// Each formula takes exponential time or space without a bound. It becomes an automaton, or is reported as too large.
#[test]
fn translation_of_large_formulas_terminates() {
    let chain = |operator: &str, operand: &dyn Fn(usize) -> String| {
        (0..24).map(operand).collect::<Vec<_>>().join(operator)
    };
    let literal = |at: usize| format!("x == {at}");
    let recurrence = |at: usize| format!("[]<> x == {at}");
    let texts = [
        format!("[] ({})", chain(" <-> ", &literal)),
        format!("[] ({})", chain(" xor ", &literal)),
        chain(" <-> ", &recurrence),
        chain(" && ", &|at| format!("(<> x == {at} || <> y == {at})")),
        format!("[] ({})", chain(" || ", &|at| format!("(x == {at} && X y == {at})"))),
    ];
    for text in texts {
        let (formula, propositions) = read(&text);
        for formula in [formula.clone(), formula.negated()] {
            let _ = translate(&formula, propositions.clone());
        }
    }
    let many = vec!["p"; 50_000].join(" && ");
    assert_eq!(automaton(&read(&many).0, 1), automaton(&read("p").0, 1));
}

/// A large boolean part becomes one equivalent proposition.
#[test]
fn boolean_parts_become_propositions() {
    let literals: Vec<String> = (0..8).map(|at| format!("x == {at}")).collect();
    let (formula, _) = read(&format!("[] (({}) -> <> x == 0)", literals.join(" <-> ")));
    let grouped = formula.grouped();
    assert_eq!(grouped.groups.len(), 2);
    assert_eq!(grouped.formula, read("[] (p -> <> q)").0);
    for letter in 0..1u64 << 8 {
        let word = Lasso { letters: vec![letter], back: 0 };
        let says = (0..8).fold(true, |before, at| {
            if at == 0 { letter & 1 == 1 } else { before == (letter >> at & 1 == 1) }
        });
        assert_eq!(word.satisfies(&grouped.groups[0]), says, "{letter:b}");
    }
    let small = read("[] (p && q -> <> r)").0;
    assert_eq!(small.grouped().formula, small);
}

#[test]
fn the_class_of_an_automaton_is_that_of_its_strongest_component() {
    let classes = [
        ("p && !p", ComponentClass::Rejecting),
        ("<>p", ComponentClass::Terminal),
        ("p U (q && X r)", ComponentClass::Terminal),
        ("[]p", ComponentClass::Weak),
        ("<>[]p", ComponentClass::Weak),
        ("[](p -> <>q)", ComponentClass::Strong),
        ("[]<>p && <>q", ComponentClass::Strong),
    ];
    for (text, class) in classes {
        let (formula, propositions) = read(text);
        let automaton = automaton(&formula, propositions.len());
        assert_eq!(AutomatonComponents::of(&automaton).class(), class, "{text}");
    }
}
