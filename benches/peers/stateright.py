#!/usr/bin/env python3
"""Spillway and Stateright side by side, on Stateright's own examples.

    benches/peers/stateright.py EXAMPLES

EXAMPLES is the folder `examples` of Stateright 0.31's source. Each example is searched by Stateright's
breadth-first checker, and by Spillway through `spillway-stateright`, both with two threads, Spillway with
a budget of 128 MiB. For that serde gets to write and read the example's types: `#[derive]` of them gets two
more words, and raft's `HashSet` is written in order. Nothing else of an example is changed, but that `main`
is another. Prints a table in Markdown: states of both, wall seconds, CPU seconds, peak resident MiB.
Runs one after the other on one machine, so the columns of a row can be compared.

A depth is Stateright's `target_max_depth`; Spillway ends at the level at which as many states are reached.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from spin import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Of each example: what is to be written and read, how a model is made of a size, and how it is adapted.
EXAMPLES = {
    "2pc": (
        "TwoPhaseState Message RmState TmState",
        "TwoPhaseSys { rms: 0..size }",
        "spillway_stateright::Stateright::new(&model)",
    ),
    "increment_lock": (
        "ProcState State",
        "State::new(size)",
        "spillway_stateright::Stateright::new(&model)",
    ),
    "timers": (
        "PingerState",
        "PingerModelCfg { server_count: size, network: Network::new_unordered_nonduplicating([]) }"
        ".into_model()",
        "spillway_stateright::Actors::of(&model)",
    ),
    "raft": (
        "Role LogEntry NodeState LogRequestArgs LogResponseArgs VoteRequestArgs VoteResponseArgs"
        " RaftMessage RaftTimer",
        "RaftModelCfg { server_count: size, network: Network::new_unordered_nonduplicating([]) }"
        ".into_model()",
        "spillway_stateright::Actors::of(&model)",
    ),
}

# Example, size, depth.
RUNS = [
    ("2pc", 7, None),
    ("2pc", 9, None),
    ("increment_lock", 8, None),
    ("timers", 3, 16),
    ("raft", 3, 9),
    ("raft", 3, 11),
]

MAIN = """
fn main() {
    spillway::search::return_large_blocks();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).map(|it| it.parse::<usize>().unwrap());
    let (size, most) = (number(1).unwrap(), number(2));
    let model = MODEL;
    let states = if words[0] == "theirs" {
        use stateright::Checker as _;
        let mut checker = model.checker().threads(2);
        if let Some(depth) = most {
            checker = checker.target_max_depth(depth);
        }
        checker.spawn_bfs().join().unique_state_count() as u64
    } else {
        let model = ADAPTED;
        let mut check = spillway::Check::new(&model).memory(128 << 20).threads(2).keep_going();
        if let Some(states) = most {
            check = check.max_states(states as u64);
        }
        let found = check.run().unwrap();
        found.states()
    };
    println!("{states}");
}
"""

CARGO = """
[package]
name = "beside"
version = "0.1.0"
edition = "2021"

[dependencies]
serde = { version = "1", features = ["derive"] }
spillway = { path = "ROOT", default-features = false }
spillway-stateright = { path = "ROOT/stateright" }
stateright = "0.31"
env_logger = "*"
num_cpus = "*"
pico-args = { version = "*", features = ["eq-separator", "short-space-opt"] }

[profile.release]
lto = false

[workspace]
"""

IN_ORDER = """
fn in_order<S: serde::Serializer>(set: &HashSet<usize>, to: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&set.iter().collect::<std::collections::BTreeSet<_>>(), to)
}
"""


def adapted(source, types):
    """An example whose types serde writes and reads."""
    for name in types.split():
        before = r"#\[derive\(([^)]*)\)\]\n((?:pub )?(?:struct|enum) " + name + r"\b)"
        more = r"#[derive(\1, serde::Serialize, serde::Deserialize)]\n\2"
        source, times = re.subn(before, more, source)
        assert times == 1, f"{name} is derived {times} times"
    ordered = '#[serde(serialize_with = "in_order")]\n    pub votes_received: HashSet'
    source = source.replace("pub votes_received: HashSet", ordered)
    return source + (IN_ORDER if "in_order" in source else "")


def program(example, source, folder):
    """Builds a program that searches an example by either."""
    types, model, ours = EXAMPLES[example]
    source = re.sub(r"\n(pub )?fn main\(\)", "\n#[allow(dead_code)]\nfn its_main()", adapted(source, types))
    main = MAIN.replace("MODEL", model).replace("ADAPTED", ours)
    (folder / "src" / "bin").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "bin" / f"{example}.rs").write_text("#![allow(warnings)]\n" + source + main)


def row(example, size, depth, binary, folder):
    """Searches by one and by the other; a row of the table."""
    bound = [] if depth is None else [str(depth)]
    theirs = measured([binary, "theirs", str(size), *bound], folder)
    count = theirs[3].strip()
    bound = [] if depth is None else [count]
    ours = measured([binary, "ours", str(size), *bound], folder)
    name = f"{example} {size}" + ("" if depth is None else f", depth {depth}")
    cells = [name, f"{int(count):,}", f"{int(ours[3]):,}"]
    for cpu, wall, peak, _ in (theirs, ours):
        cells += [f"{wall:.1f}", f"{cpu:.1f}", f"{peak:.0f}"]
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    examples = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "Cargo.toml").write_text(CARGO.replace("ROOT", str(ROOT)))
        for example in sorted({example for example, _, _ in RUNS}):
            program(example, (examples / f"{example}.rs").read_text(), folder)
        subprocess.run(["cargo", "build", "-q", "--release"], cwd=folder, check=True)
        print("| example | states | ours | s | CPU s | MiB | our s | our CPU s | our MiB |")
        print("|---|---|---|---|---|---|---|---|---|")
        for example, size, depth in RUNS:
            row(example, size, depth, str(folder / "target" / "release" / example), folder)


if __name__ == "__main__":
    main()
