//! Rumur's own tests, if `SPILLWAY_RUMUR` names their folder. Each has the outcome that its comments expect, or is in
//! the list of those that are read differently, with the reason.

use spillway::exec::{Interp, Jit};
use spillway::front::{Options, murphi};
use spillway::ir::EndRule;
use spillway::ir::validate::validate;
use spillway::model::{StateSpace, memory};
use spillway::search::{CheckSelection, SearchLimits};
use spillway::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The outcome of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Refused,
    Verified,
    Violated,
}

use Outcome::{Refused, Verified, Violated};

/// Tests with another outcome here, with the reason.
const DIFFERENT_OUTCOMES: &[(&str, Outcome, &str)] = &[
    ("boolean-shadow.m", Verified, "a model may declare the names that every model knows again"),
    ("bound-illegal.m", Verified, "the flag `--bound` is Rumur's"),
    ("bound-limit.m", Violated, "the flag `--bound` is Rumur's"),
    ("const-folding2.m", Refused, "calls are never constant"),
    ("const-folding3.m", Refused, "calls are never constant"),
    ("const-folding4.m", Refused, "calls are never constant"),
    ("const-folding5.m", Refused, "calls are never constant"),
    ("const-folding6.m", Refused, "calls are never constant"),
    ("for-step-1.m", Verified, "a loop whose step leads away from its end has no rounds"),
    ("for-step-neg-1.m", Verified, "a loop whose step leads away from its end has no rounds"),
    ("isundefined-rvalue.m", Violated, "what always has a value may be asked for it"),
    ("isundefined-rvalue2.m", Violated, "what always has a value may be asked for it"),
    ("liveness-in-ruleset2.m", Verified, "liveness is read, and not verified yet"),
    ("liveness-miss1.m", Verified, "liveness is read, and not verified yet"),
    ("liveness-miss2.m", Verified, "liveness is read, and not verified yet"),
    ("liveness-miss3.m", Verified, "liveness is read, and not verified yet"),
    ("octal-literal.m", Verified, "09 is CMurphi's 9"),
    ("octal-literal2.m", Refused, "010 is CMurphi's 10 and Rumur's 8"),
    ("read-slice.m", Refused, "it has no start state"),
    ("section-order6.m", Verified, "rules may stand before functions that they call"),
    ("section-order7.m", Verified, "rules may stand before variables that they use"),
    ("string-escape1.m", Verified, "CMurphi reads a string that ends in a backslash"),
    ("uint64-model.m", Refused, "numbers have 64 bits with a sign, ranges 2^48 - 1 values"),
];

/// Returns the keys and values of the comments at the beginning of a test.
fn comments(text: &str) -> BTreeMap<&str, &str> {
    let key_position = |line: &'_ str| -> Option<(usize, usize)> {
        let inner = line.trim_start().strip_prefix("--")?;
        let colon = inner.find(':')?;
        let is_key = |it: &str| {
            !it.is_empty() && it.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        };
        is_key(inner[..colon].trim()).then(|| (line.len() - inner.len(), colon))
    };
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let Some((start, colon)) = key_position(line) else { break };
        let inner = &line[start..];
        found.insert(inner[..colon].trim(), inner[colon + 1..].trim());
    }
    found
}

/// Loads a model and searches it, interpreted and compiled.
fn outcome(name: &str, text: &str, options: &Options, checks: CheckSelection) -> Outcome {
    let mut sources = SourceMap::default();
    sources.add(name, text);
    let Ok(loaded) = murphi::LANGUAGE.load(&mut sources, options) else { return Refused };
    assert_eq!(validate(&loaded.program).map_err(|problems| format!("{problems:?}")), Ok(()));
    let interp = Interp::new(loaded.program).unwrap();
    let limits = SearchLimits { stop_on_violation: false, checks, ..SearchLimits::default() };
    let search = |model: &dyn StateSpace| {
        let outcome = memory::search(model, &limits).unwrap();
        let is_violated = limits.checks.has_violation(model, &outcome);
        (is_violated, outcome.states(), outcome.counters.transitions)
    };
    let expected = search(&interp);
    if let Ok(jit) = Jit::new(&interp) {
        assert_eq!(search(&jit), expected, "{name}: compiled");
    }
    if expected.0 { Violated } else { Verified }
}

#[test]
fn tests_of_rumur_have_their_outcome() {
    let Some(folder) = std::env::var_os("SPILLWAY_RUMUR") else {
        return println!("skipped: SPILLWAY_RUMUR is not set");
    };
    let entries = std::fs::read_dir(Path::new(&folder)).expect("SPILLWAY_RUMUR is no folder");
    let mut files: Vec<_> = entries.map(|it| it.unwrap().path()).collect();
    files.retain(|it| it.extension().is_some_and(|ending| ending == "m"));
    files.sort();
    assert!(files.len() > 300, "SPILLWAY_RUMUR names Rumur's folder `tests`");
    let (mut failures, mut seen, mut skipped) = (Vec::new(), BTreeSet::new(), 0);
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).unwrap();
        let test_comments = comments(&text);
        let flags = test_comments.get("rumur_flags").copied().unwrap_or_default();
        // Rumur's SMT solver decides facts about expressions.
        if flags.contains("smt") {
            skipped += 1;
            continue;
        }
        let is_stuck_only = flags.contains("'--deadlock-detection', 'stuck'");
        let deadlock = is_stuck_only.then_some(EndRule::Never);
        let is_free = flags.contains("'--deadlock-detection', 'off'");
        let number = |key| test_comments.get(key).map_or(0, |it| it.parse::<i32>().unwrap_or(0));
        let rumur_outcome = match (number("rumur_exit_code"), number("checker_exit_code")) {
            (0, 0) => Verified,
            (0, _) => Violated,
            _ => Refused,
        };
        let checks = CheckSelection { deadlock: !is_free, ..CheckSelection::ALL };
        let found = outcome(&name, &text, &Options { deadlock, ..Options::default() }, checks);
        let different = DIFFERENT_OUTCOMES.iter().find(|it| it.0 == name);
        seen.extend(different.map(|it| it.0));
        let expected = different.map_or(rumur_outcome, |it| it.1);
        if found != expected || different.is_some_and(|it| it.1 == rumur_outcome) {
            failures.push(format!("{name}: {found:?}, its comments say {rumur_outcome:?}"));
        }
    }
    println!("{} tests of Rumur's, {skipped} of them skipped", files.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let unused: Vec<_> = DIFFERENT_OUTCOMES.iter().filter(|it| !seen.contains(it.0)).collect();
    assert!(unused.is_empty(), "no longer there: {unused:?}");
}
