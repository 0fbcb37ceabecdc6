//! Temporal operators within `forall` and `exists`: a formula about all values of a type is equivalent to the
//! combination of its instances for each value.

use super::bench::Bench;
use super::formulas::FormulaRng;
use serde_json::Value;

/// Nodes that compete for one lock; the type of nodes is a scalarset or a range.
fn model(nodes: &str) -> String {
    format!(
        "type Node: {nodes}; S: enum {{ idle, wants, has }};
         var st: array [Node] of S; owner: Node; free: boolean;
         startstate for n: Node do st[n] := idle; end; undefine owner; free := true; end;
         ruleset n: Node do
           rule \"ask\" st[n] = idle ==> st[n] := wants; end;
           rule \"take\" st[n] = wants & free ==> st[n] := has; owner := n; free := false; end;
           rule \"leave\" st[n] = has ==> st[n] := idle; undefine owner; free := true; end;
         end;"
    )
}

/// A random formula about some nodes, and the same formula with its quantifiers expanded for the nodes 1 to 3.
fn random_formula(
    rng: &mut FormulaRng,
    depth: usize,
    nodes: &[(String, String)],
) -> (String, String) {
    if depth == 0 {
        let state = ["idle", "wants", "has"][rng.below(3)];
        return match (rng.below(5), nodes) {
            (0, _) | (_, []) => ("free".to_owned(), "free".to_owned()),
            _ => {
                let (name, number) = &nodes[rng.below(nodes.len())];
                (format!("st[{name}] = {state}"), format!("st[{number}] = {state}"))
            }
        };
    }
    let one = |rng: &mut FormulaRng, sign: &str| {
        let (quantified, by_hand) = random_formula(rng, depth - 1, nodes);
        (format!("{sign} ({quantified})"), format!("{sign} ({by_hand})"))
    };
    match rng.below(8) {
        0 => one(rng, "[]"),
        1 => one(rng, "<>"),
        2 => one(rng, "!"),
        3 | 4 => {
            let sign = ["U", "&&", "||", "->", "V"][rng.below(5)];
            let (left, right) =
                (random_formula(rng, depth - 1, nodes), random_formula(rng, depth - 1, nodes));
            (
                format!("({}) {sign} ({})", left.0, right.0),
                format!("({}) {sign} ({})", left.1, right.1),
            )
        }
        _ => {
            let (word, sign) = [("forall", " && "), ("exists", " || ")][rng.below(2)];
            let name = format!("n{}", nodes.len());
            let before = rng.0;
            let mut text = String::new();
            let by_hand: Vec<String> = (1..=3)
                .map(|number| {
                    rng.0 = before;
                    let mut inner = nodes.to_vec();
                    inner.push((name.clone(), number.to_string()));
                    let (quantified, by_hand) = random_formula(rng, depth - 1, &inner);
                    text = format!("{word} {name}: Node do <> ({quantified}) end");
                    format!("<> ({by_hand})")
                })
                .collect();
            (text, format!("({})", by_hand.join(sign)))
        }
    }
}

#[test]
fn quantified_formulas_equal_their_expansions() {
    let model = model("1..3");
    let bench = Bench::of([("numbers.m", model.as_str())]);
    let mut rng = FormulaRng(8);
    let mut verdicts = [0, 0];
    for round in 0..120 {
        let (quantified, by_hand) = random_formula(&mut rng, 2 + round % 2, &[]);
        if !quantified.contains("do") || by_hand.len() > 300 {
            continue;
        }
        let [one, other] = [&quantified, &by_hand].map(|formula| {
            let output = bench.run(&["check", "numbers.m", "--ltl", formula, "--no-trace"]);
            assert!(output.code < 2, "{formula}: {}", output.err);
            output.code
        });
        assert_eq!(one, other, "{quantified}\n{by_hand}");
        verdicts[one as usize] += 1;
    }
    assert!(verdicts.iter().all(|it| *it > 10), "{verdicts:?}");
}

/// Formulas, and whether they hold.
const FORMULAS: [(&str, bool); 9] = [
    ("forall n: Node do [] (st[n] = wants -> <> st[n] = has) end", false),
    ("exists n: Node do [] (st[n] = wants -> <> st[n] = has) end", true),
    ("forall n: Node do [] (st[n] = has -> <> st[n] = idle) end", true),
    ("[] forall n: Node do (st[n] = has -> (st[n] = has U st[n] = idle)) end", true),
    ("!exists a: Node do exists b: Node do <> (a != b & st[a] = has & st[b] = has) end end", true),
    ("forall a: Node; b: Node do [] (a = b | st[a] != has | st[b] != has) end", true),
    ("<> exists n: Node do st[n] = has end", true),
    ("forall n: Node do forall s: S do [] <> st[n] = s end end", false),
    ("exists b: boolean do [] <> free = b end", true),
];

#[test]
fn scalarsets_and_ranges_have_the_same_verdicts_and_counts() {
    let (names, numbers) = (model("scalarset(3)"), model("1..3"));
    let bench = Bench::of([("names.m", names.as_str()), ("numbers.m", numbers.as_str())]);
    for (formula, holds) in FORMULAS {
        let results = ["names.m", "numbers.m"].map(|model| {
            let args = ["check", model, "--ltl", formula, "--json", "--reduce", "none"];
            let output = bench.run(&args);
            assert_eq!((output.code, output.err.as_str()), (i32::from(!holds), ""), "{formula}");
            serde_json::from_str::<Value>(&output.out).unwrap()
        });
        let counts = results.map(|it| (it["verdict"].clone(), it["states"].clone()));
        assert_eq!(counts[0].0, counts[1].0, "{formula}");
        if holds {
            assert_eq!(counts[0].1, counts[1].1, "{formula}");
        }
    }
}

#[test]
fn a_quantified_temporal_formula_excludes_symmetry() {
    let names = model("scalarset(3)");
    let bench = Bench::of([("names.m", names.as_str())]);
    let formula = "forall n: Node do [] (st[n] = has -> <> st[n] = idle) end";
    let output = bench.run(&["check", "names.m", "--ltl", formula, "--reduce", "symmetry"]);
    let why = "symmetry is not applied: the formula distinguishes the elements of a scalarset";
    assert_eq!(
        (output.code, output.err.as_str()),
        (0, &*format!("warning: {why}\n")),
        "{}",
        output.out
    );
    // A quantifier within a proposition is symmetric.
    let formula = "[] <> forall n: Node do st[n] != has end";
    let output = bench.run(&["check", "names.m", "--ltl", formula, "--reduce", "symmetry"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
}

#[test]
fn errors_in_quantified_formulas_are_reported() {
    let names = model("scalarset(3)");
    let bench = Bench::of([("names.m", names.as_str())]);
    for (formula, message) in [
        ("forall n: Nod do [] st[n] = has end", "`Nod`"),
        ("forall n := 1 to 2 do [] free end", "temporal operators are about all values of a type"),
        ("forall n: Node [] st[n] = has end", "expected `do`"),
        ("forall n: Node do [] st[n] = has", "this bracket is not closed"),
        ("forall n: Node do [] st[n] = has end end", "expected an operator or the end"),
        ("forall n: Node do [] st[m] = has end", "`m`"),
        (
            "forall a: Node; b: Node; c: Node; d: Node; e: Node do [] (st[a] = has | st[b] = has & st[c] = has
                | st[d] = wants & st[e] = idle) end",
            "propositions are more than",
        ),
    ] {
        let output = bench.run(&["check", "names.m", "--ltl", formula]);
        assert_eq!(output.code, 2, "{formula}: {}", output.out);
        assert!(output.err.contains(message), "{formula}: {}", output.err);
    }
}

#[test]
fn a_search_on_disk_keeps_a_quantified_formula() {
    let names = model("scalarset(3)");
    let bench = Bench::of([("names.m", names.as_str())]);
    let formula = "forall n: Node do [] (st[n] = wants -> <> st[n] = has) end";
    let check = ["check", "names.m", "--ltl", formula, "--dir", "d", "--max-states", "1"];
    assert_eq!(bench.run(&check).code, 3);
    let output = bench.run(&["resume", "d"]);
    assert!(output.code == 1 && output.shows_run(), "{}{}", output.out, output.err);
}
