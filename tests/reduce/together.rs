//! Every reduction by itself, each two of them, and all: random models are found alike by all, and what is found can be told in
//! steps of the model as written.
//!
//! `SPILLWAY_LARGE` tries ten thousand models.

use crate::support::follow::{load, one};
use crate::support::stored::replayed_in;
use crate::support::{Random, is_large};
use spillway::model::{CheckSelection, Violation, memory};
use spillway::reduce::partial_order::{CycleProviso, PartialOrderMethod, PartialOrderStrategy};
use spillway::reduce::reversible::RuleSelection;
use spillway::reduce::rewriting::RewriteSelection;
use spillway::reduce::symmetry::SymmetryEffort;
use spillway::reduce::{PropertyClass, ReductionSelection};
use spillway::search::{SearchLimits, SearchOutcome, StateStorage};
use spillway::session::TextModel;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A reduction: its name, and how it is wished for beside others.
type Named = (&'static str, fn(&mut ReductionSelection, CheckSelection));

const ALL: [Named; 14] = [
    ("slice", |it, checks| it.rewritings.slice = Some(checks)),
    ("values", |it, _| it.rewritings.values = true),
    ("states", |it, _| it.rewritings.states = true),
    ("dead", |it, _| it.rewritings.dead = true),
    ("merge", |it, _| it.rewritings.merge = true),
    ("linear", |it, _| it.linear = true),
    ("symmetry", |it, _| (it.symmetry, it.processes) = (Some(SymmetryEffort::Exact), true)),
    ("reversible", |it, checks| it.reversible = Some((RuleSelection::default(), checks))),
    ("por", |it, checks| choose(it, PartialOrderMethod::Conditional, checks)),
    ("confluence", |it, checks| choose(it, PartialOrderMethod::Confluence, checks)),
    ("simultaneous", |it, checks| choose(it, PartialOrderMethod::Simultaneous, checks)),
    ("dominate", |it, _| it.pruning.dominate = Some(Vec::new())),
    ("boring", |it, _| it.pruning.boring = Some(Vec::new())),
    ("doomed", |it, _| it.pruning.doomed = true),
];

/// Of several ways to choose steps that of both, or the last.
fn choose(wished: &mut ReductionSelection, method: PartialOrderMethod, checks: CheckSelection) {
    let method = match (wished.partial_order, method) {
        (
            Some((PartialOrderStrategy { method: PartialOrderMethod::Conditional, .. }, _)),
            PartialOrderMethod::Confluence,
        ) => PartialOrderMethod::ConfluentConditional,
        _ => method,
    };
    wished.partial_order =
        Some((PartialOrderStrategy { method, proviso: CycleProviso::Static }, checks));
}

/// What some reductions together ask for.
fn wished(some: &[Named], checks: CheckSelection) -> ReductionSelection {
    let mut wished =
        ReductionSelection { rewritings: RewriteSelection::NONE, ..ReductionSelection::default() };
    wished.pruning.checks = checks;
    some.iter().for_each(|(_, add)| add(&mut wished, checks));
    wished
}

/// What is found of what is looked for: by whom, or only of which kind; and how deep, if that is kept.
fn found(
    (model, checks): (&TextModel, &CheckSelection),
    outcome: &SearchOutcome,
    (by_kind, depth): (bool, bool),
) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for (check, finding) in outcome.findings.iter() {
        if !checks.selects(&model.interp, check) {
            continue;
        }
        let name = match check {
            Violation::Property(_) if by_kind => "property".to_owned(),
            Violation::Fault(kind, _) if by_kind => format!("{kind:?}"),
            _ => format!("{check:?}"),
        };
        let level = all.entry(name).or_insert(u64::MAX);
        *level = finding.level.min(*level).min(if depth { u64::MAX } else { 0 });
    }
    all
}

/// How many searches came to fewer states, and how many found something.
#[derive(Debug, Default)]
struct Census {
    searches: u64,
    fewer: u64,
    violated: u64,
}

/// Searches of a model by some reductions that are used, and what is found is that which is found in all its states.
/// Gives whether any are.
fn is_found_alike(
    model: &mut TextModel,
    whole: &SearchOutcome,
    some: &[Named],
    census: &mut Census,
) -> bool {
    let checks = model.wished.pruning.checks;
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    model.wished = wished(some, checks);
    let (model, searched) = (&*model, model.searched());
    if searched.stack().summaries(&Default::default()).is_empty() {
        return false;
    }
    let depth = searched.stack().preserves().has(PropertyClass::Depth);
    let how = (some.iter().any(|it| it.0 == "symmetry"), depth);
    let reduced = memory::search(searched.model(), &limits).unwrap();
    let names = || some.iter().map(|it| it.0).collect::<Vec<_>>().join(",");
    let [expected, told] = [whole, &reduced].map(|it| found((model, &checks), it, how));
    assert_eq!(told, expected, "{}, {checks:?}", names());
    census.searches += 1;
    census.fewer += u64::from(reduced.states() < whole.states());
    census.violated += u64::from(!told.is_empty());
    // What is told of a search that takes states up again depends on when it does so.
    if !told.is_empty() && searched.model().capabilities().postponing.is_none() {
        println!("{} is told", names());
        let storage = [StateStorage::default()];
        replayed_in(&storage, searched.model(), &reduced, &limits);
    }
    true
}

/// Each two of some reductions, and all.
fn several(of: &[Named]) -> Vec<Vec<Named>> {
    let mut lists = Vec::new();
    for (number, one) in of.iter().enumerate() {
        lists.extend(of[number + 1..].iter().map(|other| vec![*one, *other]));
    }
    lists.extend((of.len() > 2).then(|| of.to_vec()));
    lists
}

/// Three processes, of which two are alike in most, with counters, flags, channels and steps that nobody sees.
fn random_model(random: &mut Random) -> String {
    let mut text =
        "byte t; byte g; byte h; byte a[2]; channel {byte} c[0]; channel {byte} b[1];\n".to_owned();
    let alike = random.below(2) == 0;
    let process = body(random);
    for (number, name) in ["P", "Q", "R"].iter().enumerate() {
        let body = match number {
            1 if alike => process.clone(),
            0 => process.clone(),
            2 if random.below(2) == 0 => break,
            _ => body(random),
        };
        let _ = writeln!(text, "process {name} {{ {body} }}");
    }
    text + "system async;\n"
}

fn body(random: &mut Random) -> String {
    let mut text = "byte k; byte j; state s0, s1, s2, s3; init s0;".to_owned();
    if random.below(3) == 0 {
        let _ = write!(text, " assert s{}: {};", random.below(4), question(random));
    }
    text.push_str(" trans");
    let edges = 3 + random.below(4);
    for number in 0..edges {
        let from = number.min(random.below(4)).min(3);
        let to = if random.below(3) == 0 { random.below(4) } else { (from + 1) % 4 };
        let guard = match random.below(5) {
            0 | 1 => format!("guard {};", question(random)),
            _ => String::new(),
        };
        let sync = match random.below(12) {
            0 => "sync c!{g};",
            1 => "sync c?{h};",
            2 => "sync b!{k};",
            3 => "sync b?{k};",
            _ => "",
        };
        let effect = one(
            random,
            &[
                "",
                "",
                "effect t = t + (t < 3);",
                "effect g = 1 - g;",
                "effect h = g;",
                "effect k = 0;",
                "effect k = (k + 1) % 3;",
                "effect k = g, j = k;",
                "effect j = 1;",
                "effect a[g % 2] = k % 2;",
                "effect h = a[1], k = 2;",
                "effect j = j + (j < 2);",
            ],
        );
        let end = if number + 1 < edges { "," } else { ";" };
        let _ = write!(text, " s{from} -> s{to} {{ {guard} {sync} {effect} }}{end}");
    }
    text
}

fn question(random: &mut Random) -> String {
    let bound = random.below(3);
    match random.below(6) {
        0 => format!("g == {}", bound % 2),
        1 => format!("h <= {}", bound % 2),
        2 => format!("k <= {bound}"),
        3 => format!("t < {}", bound + 1),
        4 => format!("a[{}] == {}", bound % 2, random.below(2)),
        _ => format!("j != {bound}"),
    }
}

#[test]
fn random_models_are_found_alike_by_all_reductions() {
    let mut random = Random::new(97);
    let mut census = Census::default();
    for _ in 0..if is_large() { 10_000 } else { 30 } {
        let text = random_model(&mut random);
        let mut model = load("dve", &text);
        let looked_for =
            [CheckSelection::ALL, CheckSelection { deadlock: false, ..CheckSelection::ALL }];
        let checks = looked_for[random.below(2)];
        let limits = SearchLimits {
            checks,
            stop_on_violation: false,
            max_states: Some(1_000),
            ..SearchLimits::default()
        };
        let whole = memory::search(model.searched().model(), &limits).unwrap();
        if whole.states() >= 1_000 {
            continue;
        }
        println!("{text}");
        model.wished.pruning.checks = checks;
        let mut alone = |it: &Named| is_found_alike(&mut model, &whole, &[*it], &mut census);
        let used: Vec<Named> = ALL.into_iter().filter(|it| alone(it)).collect();
        for some in several(&used) {
            assert!(is_found_alike(&mut model, &whole, &some, &mut census));
        }
    }
    println!("{census:?}");
    assert!(census.fewer * 4 > census.searches && census.violated > 50, "{census:?}");
}
