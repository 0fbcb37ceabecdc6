//! Partial order reduction of processes whose guards depend on other processes: `timeout`, `else`, predicates of
//! channels, `enabled` and priorities. Channels are also arguments, elements of arrays, or parts of messages.
//!
//! The programs are random. The reduced searches must find the violations of the full search, and the chosen sets must
//! be persistent. `SPILLWAY_LARGE` tries 3000 programs.

use super::partial_order::{self, Census, RANDOM_PROGRAMS, check_reductions, interp};
use super::sleep;
use crate::support::{Random, is_large};
use spillway::front::{Language, Options};
use spillway::session::TextModel;
use spillway::source::SourceMap;
use std::collections::BTreeMap;

/// The constructs that the programs must have, with the text that shows them.
const CONSTRUCTS: [(&str, &str); 14] = [
    ("timeout", ":: timeout ->"),
    ("timeout with a condition", "timeout &&"),
    ("no timeout", "!timeout"),
    ("timeout or a condition", "timeout ||"),
    ("else", ":: else ->"),
    ("full", " full("),
    ("empty", " empty("),
    ("nfull", "nfull("),
    ("nempty", "nempty("),
    ("enabled", "enabled("),
    ("priority", "priority "),
    ("channel arguments", "run W("),
    ("channels in arrays", "d[1]"),
    ("channels in messages", "m?q"),
];

/// Builds a program.
struct Writer {
    random: Random,
    /// The capacities of `c` and of the elements of `d`.
    capacities: [usize; 2],
    /// The names of channels that the current process may use, with their capacities.
    channels: Vec<(&'static str, usize)>,
    /// The number of processes before the current one.
    earlier: usize,
    depth: usize,
    /// Whether the statement is in an atomic sequence. Such a sequence has no loops, because it may not end.
    in_atomic: bool,
}

impl Writer {
    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.below(all.len())]
    }

    fn program(seed: u64) -> String {
        let mut random = Random::new(seed);
        let capacities = [random.below(3), random.below(3)];
        let channels = Vec::new();
        let (earlier, depth, in_atomic) = (0, 0, false);
        let mut writer = Writer { random, capacities, channels, earlier, depth, in_atomic };
        let [one, two] = capacities;
        let mut text = format!(
            "byte g0, g1;\nchan c = [{one}] of {{ byte }};\nchan d[2] = [{two}] of {{ byte }};\n\
             chan m = [1] of {{ chan }};\n"
        );
        let count = 1 + writer.random.below(2);
        for at in 0..count {
            writer.channels = vec![("c", one), ("d[0]", two), ("d[1]", two)];
            writer.earlier = at;
            let body = writer.body();
            let priority = match one > 0 && two > 0 && writer.random.below(4) == 0 {
                true => format!(" priority {}", 1 + writer.random.below(3)),
                false => String::new(),
            };
            text += &format!("active proctype P{at}(){priority} {{ byte l; chan q; {body} }}\n");
        }
        if writer.random.below(3) > 0 {
            writer.channels = vec![("in", one.min(two)), ("out", one.min(two))];
            writer.earlier = count;
            let body = writer.body();
            text += &format!("proctype W(chan in, out; byte k) {{ byte l; chan q; {body} }}\n");
            let runs = ["run W(c, d[0], 1)", "run W(d[0], d[1], 0)", "run W(d[1], c, 2)"];
            let runs = &runs[..1 + writer.random.below(2)];
            text += &match writer.random.below(3) {
                0 => format!("init {{ {} }}\n", runs.join("; ")),
                _ => format!("init {{ atomic {{ {} }} }}\n", runs.join("; ")),
            };
        }
        text
    }

    fn body(&mut self) -> String {
        let count = 1 + self.random.below(3);
        (0..count).map(|_| self.statement()).collect::<Vec<_>>().join("; ")
    }

    fn sequence(&mut self) -> String {
        let count = 1 + self.random.below(2);
        (0..count).map(|_| self.statement()).collect::<Vec<_>>().join("; ")
    }

    fn statement(&mut self) -> String {
        self.depth += 1;
        let kinds = if self.depth > 2 { 7 } else { 12 };
        let text = match self.random.below(kinds) {
            0 => format!("{} = {}", self.pick(&["g0", "g1", "l"]), self.random.below(3)),
            1 => self.pick(&["l = 1 - l", "g0 = (g0 + 1) % 3", "g1 = l", "l = g0"]).into(),
            2 => format!("({})", self.guard()),
            3 => self.send(),
            4 => self.receive(),
            5 => format!("assert({} != 2)", self.pick(&["g0", "g1", "l"])),
            6 => self.pick(&["m!c", "m?q", "m?q; q!1", "m!d[1]", "skip"]).into(),
            7 | 8 => format!("if {} fi", self.options()),
            9 if self.in_atomic => format!("if {} fi", self.options()),
            9 => format!("do {} :: {} -> break od", self.options(), self.guard()),
            10 => {
                let around = std::mem::replace(&mut self.in_atomic, true);
                let text = format!("atomic {{ {} -> {} }}", self.guard(), self.sequence());
                self.in_atomic = around;
                text
            }
            _ => format!("{{ {} }} unless {{ {} }}", self.sequence(), self.guard()),
        };
        self.depth -= 1;
        text
    }

    fn options(&mut self) -> String {
        let mut all: Vec<String> = (0..1 + self.random.below(2))
            .map(|_| {
                let guard = match self.random.below(6) {
                    0 => self.send(),
                    1 => self.receive(),
                    2 => "timeout".into(),
                    _ => self.guard(),
                };
                format!(":: {guard} -> {}", self.sequence())
            })
            .collect();
        match self.random.below(4) {
            0 => all.push(format!(":: else -> {}", self.sequence())),
            1 => all.push(format!(":: timeout -> {}", self.sequence())),
            _ => {}
        }
        all.join(" ")
    }

    fn guard(&mut self) -> String {
        let value = self.random.below(3);
        let buffered: Vec<&str> =
            self.channels.iter().filter(|it| it.1 > 0).map(|it| it.0).collect();
        match self.random.below(11) {
            0 => format!("timeout && g0 == {value}"),
            1 => "!timeout".into(),
            2 => format!("timeout || l == {value}"),
            3..=5 if !buffered.is_empty() => {
                let predicate = self.pick(&[" full", " empty", "nfull", "nempty"]);
                format!("{predicate}({})", self.pick(&buffered))
            }
            6 if !buffered.is_empty() => format!("{}?[{value}]", self.pick(&buffered)),
            7 if self.earlier > 0 && self.capacities.iter().all(|it| *it > 0) => {
                format!("enabled({})", self.random.below(self.earlier))
            }
            8 => format!("g0 == {value}"),
            9 => format!("g1 != {value}"),
            _ => format!("l == {value}"),
        }
    }

    fn send(&mut self) -> String {
        let channels = self.channels.clone();
        format!("{}!{}", self.pick(&channels).0, self.pick(&["0", "1", "l"]))
    }

    fn receive(&mut self) -> String {
        let channels = self.channels.clone();
        format!("{}?{}", self.pick(&channels).0, self.pick(&["0", "1", "l", "g1"]))
    }
}

fn load(text: &str) -> Option<TextModel> {
    let mut sources = SourceMap::default();
    sources.add("model.pml", text);
    let language = Language::from_name("promela").unwrap();
    TextModel::load(language, sources, Options::default()).ok().map(|it| it.0)
}

#[test]
fn programs_that_read_enabledness_keep_their_verdicts() {
    let (count, mut loaded) = (if is_large() { 3000 } else { 60 }, 0);
    let (census, asleep) = (Census::default(), sleep::Census::default());
    let mut constructs: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 1..=count {
        let text = Writer::program(seed);
        let Some(model) = load(&text) else { continue };
        loaded += 1;
        let result = check_reductions(&model.interp, RANDOM_PROGRAMS, &census)
            .and_then(|()| sleep::check_states_and_verdicts(&model.interp, 800, &asleep));
        result.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let present = CONSTRUCTS.iter().filter(|(_, shown)| text.contains(shown));
        present.for_each(|(name, _)| *constructs.entry(*name).or_default() += 1);
    }
    census.show();
    println!("{loaded} of {count} programs: {constructs:?}");
    assert!(loaded * 4 > count * 3, "{loaded} of {count} programs are accepted");
    for (name, _) in CONSTRUCTS {
        assert!(constructs.contains_key(name), "no program has {name}");
    }
    let Census { searched, fewer, violated, checked_choices } = census;
    let minima = [(&searched, 500), (&fewer, 50), (&violated, 50), (&checked_choices, 100)];
    for (found, minimum) in minima {
        assert!(found.get() > minimum, "{} of {minimum}", found.get());
    }
}

/// Independent processes, while one waits for `timeout`. One order of their steps suffices, and the `timeout` follows
/// all of them.
#[test]
fn a_timeout_alone_creates_no_dependence() {
    let text = "byte n; active [4] proctype P() { byte x; x = 1; x = 2; x = 3; x = 4 }
        active proctype Q() { timeout -> n = 1; assert(n == 0) }";
    let model = interp("promela", text);
    let (full, found) = partial_order::explore(&model, usize::MAX).unwrap();
    let (reduced, reduced_violations) = partial_order::explore_by_default(&model);
    assert!(full.len() > 600, "{}", full.len());
    assert!(reduced.len() < 40, "{}", reduced.len());
    let names = |found: &partial_order::ViolationLevels| found.keys().copied().collect::<Vec<_>>();
    assert_eq!(names(&found).len(), 1);
    assert_eq!(names(&found), names(&reduced_violations));
}

/// A local step of one process and the start of another process are independent if both processes exist.
#[test]
fn starts_of_processes_are_independent_of_local_steps() {
    let text = "byte n; proctype W(byte k) { byte x; x = k; x = 2; x = 3; n = n + x }
        init { run W(1); run W(2); run W(3) }";
    let model = interp("promela", text);
    let (full, _) = partial_order::explore(&model, usize::MAX).unwrap();
    let (reduced, _) = partial_order::explore_by_default(&model);
    assert!(reduced.len() * 3 < full.len(), "{} of {}", reduced.len(), full.len());
}
