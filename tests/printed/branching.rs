//! CTL formulas in property files: random nets and formulas, compared with sets of markings that the test computes.

use super::Folder;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Pseudo-random numbers (Knuth's linear congruential generator).
struct NetRng(u64);

impl NetRng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}

/// A place/transition net: its initial marking, and for each transition the tokens that it consumes and produces.
struct PlaceTransitionNet {
    tokens: Vec<usize>,
    transitions: Vec<[Vec<usize>; 2]>,
}

impl PlaceTransitionNet {
    /// A net with random transitions, or one in which tokens also circulate for ever.
    fn random(rng: &mut NetRng) -> PlaceTransitionNet {
        let places = 2 + rng.below(3);
        let tokens = (0..places).map(|_| rng.below(3)).collect();
        let is_random = rng.below(4) > 0;
        let one_in = |place: usize| (0..places).map(|it| usize::from(it == place)).collect();
        let mut any = || (0..places).map(|_| [0, 0, 1, 1, 2][rng.below(5)]).collect();
        let (one, other) = ([any(), any()], [any(), any()]);
        let transitions = match is_random {
            true => vec![one, other, [any(), any()], [any(), any()]],
            false => {
                let round = (0..places).map(|it| [one_in(it), one_in((it + 1) % places)]);
                round.chain([one]).collect()
            }
        };
        PlaceTransitionNet { tokens, transitions }
    }

    fn text(&self) -> String {
        let places = self.tokens.iter().enumerate().map(|(at, tokens)| {
            format!(
                "<place id='p{at}'><initialMarking><text>{tokens}</text></initialMarking></place>\n"
            )
        });
        let transitions = self.transitions.iter().enumerate().map(|(at, [takes, gives])| {
            let arc = |from: String, to: String, weight: usize| match weight {
                0 => String::new(),
                _ => format!(
                    "<arc source='{from}' target='{to}'><inscription><text>{weight}</text></inscription></arc>\n"
                ),
            };
            let takes = takes.iter().enumerate().map(|(p, it)| arc(format!("p{p}"), format!("t{at}"), *it));
            let gives = gives.iter().enumerate().map(|(p, it)| arc(format!("t{at}"), format!("p{p}"), *it));
            format!("<transition id='t{at}'/>\n{}", takes.chain(gives).collect::<String>())
        });
        let inside: String = places.chain(transitions).collect();
        format!("<pnml><net id='n' type='ptnet'><page id='g'>\n{inside}</page></net></pnml>\n")
    }
}

/// The reachable markings of a net, the initial one first, with their successors and fireable transitions.
struct MarkingGraph {
    all: Vec<Vec<usize>>,
    next: Vec<Vec<usize>>,
    fireable: Vec<Vec<bool>>,
}

impl MarkingGraph {
    /// The markings of a net. `None` if there are too many.
    fn of(net: &PlaceTransitionNet) -> Option<MarkingGraph> {
        let mut numbers = HashMap::from([(net.tokens.clone(), 0)]);
        let mut found =
            MarkingGraph { all: vec![net.tokens.clone()], next: vec![], fireable: vec![] };
        while let Some(marking) = found.all.get(found.next.len()).cloned() {
            if found.all.len() > 400 || marking.iter().any(|it| *it > 20) {
                return None;
            }
            let can = |takes: &[usize]| takes.iter().zip(&marking).all(|(takes, has)| takes <= has);
            let fireable = net.transitions.iter().map(|[takes, _]| can(takes)).collect::<Vec<_>>();
            let mut next = Vec::new();
            for ([takes, gives], _) in net.transitions.iter().zip(&fireable).filter(|it| *it.1) {
                let moved = marking.iter().zip(takes).zip(gives);
                let after: Vec<usize> =
                    moved.map(|((has, takes), gives)| has - takes + gives).collect();
                let count = numbers.len();
                let number = *numbers.entry(after.clone()).or_insert(count);
                if number == count {
                    found.all.push(after);
                }
                next.push(number);
            }
            found.next.push(next);
            found.fireable.push(fireable);
        }
        Some(found)
    }

    fn is_dead(&self, at: usize) -> bool {
        self.next[at].is_empty()
    }

    /// The least or greatest fixed point of a condition on markings.
    fn fixed_point(&self, is_greatest: bool, is_in: impl Fn(&[bool], usize) -> bool) -> Vec<bool> {
        let mut set = vec![is_greatest; self.all.len()];
        loop {
            let after: Vec<bool> = (0..set.len()).map(|it| is_in(&set, it)).collect();
            if after == set {
                return set;
            }
            set = after;
        }
    }

    /// The markings that satisfy a formula.
    fn satisfying(&self, formula: &CtlFormulaText) -> Vec<bool> {
        let each = |of: &dyn Fn(usize) -> bool| (0..self.all.len()).map(of).collect::<Vec<bool>>();
        let some = |set: &[bool], at: usize| self.next[at].iter().any(|it| set[*it]);
        let every = |set: &[bool], at: usize| self.next[at].iter().all(|it| set[*it]);
        match formula {
            CtlFormulaText::True => each(&|_| true),
            CtlFormulaText::Deadlock => each(&|at| self.is_dead(at)),
            CtlFormulaText::AtMost(places, most) => each(&|at| {
                let sum: usize = places.iter().map(|it| self.all[at][*it]).sum();
                sum <= *most
            }),
            CtlFormulaText::Fireable(transition) => each(&|at| self.fireable[at][*transition]),
            CtlFormulaText::Not(one) => self.satisfying(one).into_iter().map(|it| !it).collect(),
            CtlFormulaText::Joined(how, both) => {
                let [one, other] = [&both.0, &both.1].map(|it| self.satisfying(it));
                each(&|at| match *how {
                    "conjunction" => one[at] && other[at],
                    "disjunction" => one[at] || other[at],
                    "implication" => !one[at] || other[at],
                    "equivalence" => one[at] == other[at],
                    _ => one[at] != other[at],
                })
            }
            CtlFormulaText::Path(is_every, how, one) => {
                let one = self.satisfying(one);
                match (*is_every, *how) {
                    (false, "next") => each(&|at| some(&one, at)),
                    (true, "next") => each(&|at| every(&one, at)),
                    (false, "finally") => {
                        self.fixed_point(false, |set, at| one[at] || some(set, at))
                    }
                    (true, "finally") => self.fixed_point(false, |set, at| {
                        one[at] || !self.is_dead(at) && every(set, at)
                    }),
                    (false, _) => self.fixed_point(true, |set, at| {
                        one[at] && (self.is_dead(at) || some(set, at))
                    }),
                    (true, _) => self.fixed_point(true, |set, at| one[at] && every(set, at)),
                }
            }
            CtlFormulaText::Until(is_every, both) => {
                let [one, other] = [&both.0, &both.1].map(|it| self.satisfying(it));
                self.fixed_point(false, |set, at| {
                    let goes_on = match is_every {
                        true => !self.is_dead(at) && every(set, at),
                        false => some(set, at),
                    };
                    other[at] || one[at] && goes_on
                })
            }
        }
    }
}

/// A formula of a property file.
enum CtlFormulaText {
    True,
    Deadlock,
    AtMost(Vec<usize>, usize),
    Fireable(usize),
    Not(Box<CtlFormulaText>),
    /// Two formulas joined by the operator of this name.
    Joined(&'static str, Box<(CtlFormulaText, CtlFormulaText)>),
    /// Whether all paths are meant, the path operator, and its operand.
    Path(bool, &'static str, Box<CtlFormulaText>),
    Until(bool, Box<(CtlFormulaText, CtlFormulaText)>),
}

const CONNECTIVES: [&str; 5] =
    ["conjunction", "disjunction", "implication", "equivalence", "exclusive-disjunction"];
const PATHS: [&str; 3] = ["next", "finally", "globally"];

impl CtlFormulaText {
    fn random(rng: &mut NetRng, net: &PlaceTransitionNet, depth: usize) -> CtlFormulaText {
        if depth == 0 {
            return match rng.below(8) {
                0 => CtlFormulaText::True,
                1 => CtlFormulaText::Deadlock,
                2 | 3 => CtlFormulaText::Fireable(rng.below(net.transitions.len())),
                _ => {
                    let places = (0..1 + rng.below(2)).map(|_| rng.below(net.tokens.len()));
                    CtlFormulaText::AtMost(places.collect(), rng.below(4))
                }
            };
        }
        let mut one = || CtlFormulaText::random(rng, net, depth - 1);
        let (first, second) = (one(), one());
        match rng.below(9) {
            0 => CtlFormulaText::Not(first.into()),
            1 | 2 => CtlFormulaText::Joined(CONNECTIVES[rng.below(5)], (first, second).into()),
            3 | 4 => CtlFormulaText::Until(rng.below(2) == 0, (first, second).into()),
            _ => CtlFormulaText::Path(rng.below(2) == 0, PATHS[rng.below(3)], first.into()),
        }
    }

    fn text(&self) -> String {
        let paths = |is_every: bool| if is_every { "all-paths" } else { "exists-path" };
        match self {
            CtlFormulaText::True => "<true/>".to_owned(),
            CtlFormulaText::Deadlock => "<deadlock/>".to_owned(),
            CtlFormulaText::AtMost(places, most) => {
                let places: String =
                    places.iter().map(|it| format!("<place>p{it}</place>")).collect();
                format!(
                    "<integer-le><tokens-count>{places}</tokens-count><integer-constant>{most}</integer-constant></integer-le>"
                )
            }
            CtlFormulaText::Fireable(it) => {
                format!("<is-fireable><transition>t{it}</transition></is-fireable>")
            }
            CtlFormulaText::Not(one) => format!("<negation>{}</negation>", one.text()),
            CtlFormulaText::Joined(how, both) => {
                format!("<{how}>{}{}</{how}>", both.0.text(), both.1.text())
            }
            CtlFormulaText::Path(is_every, how, one) => {
                let paths = paths(*is_every);
                format!("<{paths}><{how}>{}</{how}></{paths}>", one.text())
            }
            CtlFormulaText::Until(is_every, both) => {
                let (paths, [before, reach]) =
                    (paths(*is_every), [&both.0, &both.1].map(|it| it.text()));
                format!(
                    "<{paths}><until><before>{before}</before><reach>{reach}</reach></until></{paths}>"
                )
            }
        }
    }

    /// Whether the formula has a path quantifier.
    fn has_path_quantifier(&self) -> bool {
        match self {
            CtlFormulaText::True
            | CtlFormulaText::Deadlock
            | CtlFormulaText::AtMost(..)
            | CtlFormulaText::Fireable(_) => false,
            CtlFormulaText::Not(one) => one.has_path_quantifier(),
            CtlFormulaText::Joined(_, both) => {
                both.0.has_path_quantifier() || both.1.has_path_quantifier()
            }
            CtlFormulaText::Path(..) | CtlFormulaText::Until(..) => true,
        }
    }

    /// Whether the formula has nested path quantifiers, so that a file cannot mean it as a linear-time formula.
    fn is_branching(&self) -> bool {
        match self {
            CtlFormulaText::Path(is_every, _, one) => !is_every || one.has_path_quantifier(),
            CtlFormulaText::Until(is_every, both) => {
                !is_every || both.0.has_path_quantifier() || both.1.has_path_quantifier()
            }
            _ => self.has_path_quantifier(),
        }
    }
}

fn property(number: usize, formula: &str) -> String {
    format!("<property><id>q{number}</id><formula>{formula}</formula></property>\n")
}

fn questions(properties: impl Iterator<Item = String>) -> String {
    format!("<property-set>\n{}</property-set>\n", properties.collect::<String>())
}

/// Each property has one line, with the answer of the marking sets.
#[test]
fn random_ctl_formulas_on_random_nets_have_the_answers_of_marking_sets() {
    let mut rng = NetRng(63);
    let (mut nets, mut counts) = (0, [0, 0]);
    let mut dead = [0, 0];
    while nets < 40 {
        let net = PlaceTransitionNet::random(&mut rng);
        let Some(markings) = MarkingGraph::of(&net).filter(|it| it.all.len() > 3) else { continue };
        nets += 1;
        dead[usize::from((0..markings.all.len()).any(|it| markings.is_dead(it)))] += 1;
        let formulas: Vec<CtlFormulaText> = std::iter::repeat_with(|| {
            let depth = 2 + rng.below(3);
            CtlFormulaText::random(&mut rng, &net, depth)
        })
        .filter(CtlFormulaText::is_branching)
        .take(20)
        .collect();
        let folder = Folder::with("net.pnml", &net.text());
        let properties = formulas.iter().enumerate().map(|(at, it)| property(at, &it.text()));
        let properties = questions(properties);
        folder.write("file.xml", &properties);
        let memory = ["64MiB", "512MiB"][nets % 2];
        let output = folder.run(&[
            "check",
            "net.pnml",
            "--property",
            "file.xml",
            "--mcc",
            "--memory",
            memory,
        ]);
        let expected = formulas.iter().enumerate().map(|(at, it)| {
            let holds = markings.satisfying(it)[0];
            counts[usize::from(holds)] += 1;
            let holds = if holds { "TRUE" } else { "FALSE" };
            format!("FORMULA q{at} {holds} TECHNIQUES EXPLICIT STATE_COMPRESSION")
        });
        // Conditions on all markings are printed first.
        let expected: BTreeSet<String> = expected.collect();
        let answers: BTreeSet<String> = output.out.lines().map(str::to_owned).collect();
        let other: Vec<&String> = answers.symmetric_difference(&expected).collect();
        assert!(other.is_empty(), "{other:#?}\n{}\n{}\n{properties}", output.err, net.text());
        assert_eq!(output.out.lines().count(), formulas.len());
    }
    assert!(counts.iter().all(|it| *it > 150), "{counts:?}");
    assert!(dead.iter().all(|it| *it > 5), "{dead:?}");
}

/// A folder with a net, which empties a place step by step, and a file of these properties.
fn folder(formulas: &[&str]) -> Folder {
    let folder = Folder::with(
        "net.pnml",
        "<pnml><net id='n' type='ptnet'><page id='g'><place id='x'/>
        <place id='r'><initialMarking><text>3</text></initialMarking></place>
        <transition id='up'/><arc source='r' target='up'/><arc source='up' target='x'/>
        </page></net></pnml>",
    );
    let properties = formulas.iter().enumerate().map(|(at, it)| property(at, it));
    folder.write("file.xml", &questions(properties));
    folder
}

/// On some path a deadlock always stays reachable.
const EXISTS_ALWAYS_REACHABLE_DEADLOCK: &str = "<exists-path><globally><exists-path><finally><deadlock/></finally></exists-path></globally></exists-path>";
/// Every state has a successor.
const DEADLOCK_FREE: &str =
    "<all-paths><globally><exists-path><next><true/></next></exists-path></globally></all-paths>";
/// An unsupported formula: an operator without a path quantifier.
const MIXED: &str = "<exists-path><finally><globally><true/></globally></finally></exists-path>";

#[test]
fn each_property_has_a_row() {
    let folder = folder(&[EXISTS_ALWAYS_REACHABLE_DEADLOCK, DEADLOCK_FREE, MIXED]);
    let check = ["check", "net.pnml", "--property", "file.xml"];
    let output = folder.run(&check);
    let rows = "\
net.pnml: 3 questions: 1 true, 1 false, 1 unknown so far
  true     q0
  false    q1
  open     q2: not supported: <exists-path> is no question that is read
           (file.xml:4:31)
";
    assert!(output.code == 2 && output.out.starts_with(rows), "{} {}", output.out, output.err);
    let output = folder.run(&[&check[..], &["--mcc"]].concat());
    let lines = "\
FORMULA q0 TRUE TECHNIQUES EXPLICIT STATE_COMPRESSION
FORMULA q1 FALSE TECHNIQUES EXPLICIT STATE_COMPRESSION
FORMULA q2 CANNOT_COMPUTE
";
    assert_eq!((output.code, output.out.as_str()), (2, lines), "{}", output.err);
    let output =
        folder.run(&[&check[..], &["--json", "--question", "q0", "--question", "q1"]].concat());
    let result: Value = serde_json::from_str(&output.out).unwrap();
    let answers = result["answers"].as_array().unwrap();
    let holds: Vec<Option<bool>> = answers.iter().map(|it| it["holds"].as_bool()).collect();
    assert_eq!((output.code, holds), (1, vec![Some(true), Some(false)]), "{}", output.err);
}

#[test]
fn an_open_property_has_a_reason() {
    let folder = folder(&[EXISTS_ALWAYS_REACHABLE_DEADLOCK]);
    let check = ["check", "net.pnml", "--property", "file.xml"];
    for (flags, why) in [
        (["--max-states", "1"], "unknown so far"),
        (["--store", "comback"], "not supported: states stored as hashes and back-edges"),
    ] {
        let output = folder.run(&[&check[..], &flags].concat());
        let row = format!("  open     q0: {why}\n");
        assert!(output.code == 3 && output.out.contains(&row), "{} {}", output.out, output.err);
    }
    // A second token in a unit that is declared safe is a run-time error, which cuts off the search.
    let units = "<toolspecific tool='nupn' version='1.1'><structure units='1' root='u' safe='true'>\
        <unit id='u'><places>x r</places><subunits/></unit></structure></toolspecific>";
    let net = std::fs::read_to_string(folder.path("net.pnml")).unwrap();
    let more = "<transition id='more'/><arc source='more' target='x'/></page>";
    let net = net.replace("<text>3<", "<text>1<").replace("</page>", more);
    folder.write("net.pnml", &net.replace("</net>", &format!("{units}</net>")));
    let output = folder.run(&check);
    let row = "  open     q0: states after a run-time error were not visited\n";
    assert!(output.out.contains(row), "{} {}", output.out, output.err);
}

/// The files of sweeps are removed once the properties are answered.
#[test]
fn the_files_of_sweeps_are_removed() {
    let folder = folder(&[EXISTS_ALWAYS_REACHABLE_DEADLOCK, DEADLOCK_FREE]);
    let output = folder.run(&["check", "net.pnml", "--property", "file.xml", "--dir", "d"]);
    assert_eq!(output.code, 1, "{}", output.err);
    let files = std::fs::read_dir(folder.path("d")).unwrap();
    let names: Vec<String> =
        files.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    let is_of_sweeps = |it: &&String| it.starts_with("predecessors") || it.starts_with("region");
    assert_eq!(names.iter().find(is_of_sweeps), None, "{names:?}");
    assert_eq!(folder.run(&["status", "d"]).code, 0);
}

#[test]
fn mcc_prints_the_size_of_the_state_space() {
    let folder = folder(&[EXISTS_ALWAYS_REACHABLE_DEADLOCK]);
    let output = folder.run(&["check", "net.pnml", "--mcc"]);
    let lines = "\
STATE_SPACE STATES 4 TECHNIQUES EXPLICIT STATE_COMPRESSION
STATE_SPACE TRANSITIONS 3 TECHNIQUES EXPLICIT STATE_COMPRESSION
STATE_SPACE MAX_TOKEN_PER_MARKING 3 TECHNIQUES EXPLICIT STATE_COMPRESSION
STATE_SPACE MAX_TOKEN_IN_PLACE 3 TECHNIQUES EXPLICIT STATE_COMPRESSION
";
    assert_eq!((output.code, output.out.as_str()), (0, lines), "{}", output.err);
    let output = folder.run(&["check", "net.pnml", "--mcc", "--max-states", "1"]);
    assert_eq!(
        (output.code, output.out.as_str()),
        (3, "STATE_SPACE CANNOT_COMPUTE\n"),
        "{}",
        output.err
    );
    folder.write("m.m", "var x: 0..1; startstate begin x := 0; end; rule true ==> begin end;");
    let output = folder.run(&["check", "m.m", "--mcc"]);
    let message = "--mcc is for models in PNML, but m.m is in murphi";
    assert!(output.code == 2 && output.err.contains(message), "{}", output.err);
}
