#!/usr/bin/env python3
"""Spillway and Stateright side by side, on Stateright's own examples.

    benches/peers/stateright.py EXAMPLES

EXAMPLES is the folder `examples` of Stateright 0.31's source. Each example is searched by Stateright's
breadth-first checker, and by Spillway through `spillway-stateright`, both with two threads, Spillway with
a budget of 128 MiB. Stateright searches an example as it is, with another `main`. Spillway searches one whose
types serde can write and read: `#[derive]` gets two more words, hashed sets and maps become ordered ones, and
registers and testers of consistency come from the adapter. Prints a table in Markdown: states of both, wall
seconds, CPU seconds, peak resident MiB. Runs one after the other on one machine, so the columns of a row can
be compared.

A depth is `target_max_depth` of both. Spillway also expands the states at this depth, to check them.
CARGO_TARGET_DIR says where the programs are built, if it is set.
"""

import os
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
    "paxos": (
        "PaxosState",
        "PaxosModelCfg { client_count: size, server_count: 3, network: Network::new_unordered_nonduplicating([]) }"
        ".into_model()",
        "spillway_stateright::Actors::of(&model)",
    ),
    "linearizable-register": (
        "AbdState AbdPhase",
        "AbdModelCfg { client_count: size, server_count: 3, network: Network::new_unordered_nonduplicating([]) }"
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

# What is written in another way where serde is to read it.
REPLACED = [
    (r"stateright::actor::register::", "spillway_stateright::register::"),
    (r"stateright::semantics::register::", "spillway_stateright::register::"),
    (r"stateright::semantics::LinearizabilityTester", "spillway_stateright::semantics::LinearizabilityTester"),
    (
        r"use stateright::util::\{HashableHashMap, HashableHashSet\};",
        "use std::collections::{BTreeMap as HashableHashMap, BTreeSet as HashableHashSet};",
    ),
    (r"(votes_received: )HashSet", r"\1std::collections::BTreeSet"),
]

# Example, size, depth.
RUNS = [
    ("2pc", 7, None),
    ("2pc", 9, None),
    ("increment_lock", 8, None),
    ("paxos", 3, None),
    ("linearizable-register", 2, None),
    ("timers", 3, 16),
    ("raft", 3, 9),
    ("raft", 3, 11),
]

MAIN = """
fn main() {
    spillway::search::return_large_blocks(MEMORY);
    let words: Vec<usize> = std::env::args().skip(1).map(|it| it.parse().unwrap()).collect();
    let (size, depth) = (words[0], words[1]);
    let model = MODEL;
    SEARCH
}

const MEMORY: u64 = 128 << 20;
"""

THEIRS = """
    use stateright::Checker as _;
    let checker = model.checker().threads(2).target_max_depth(depth).spawn_bfs().join();
    println!("{}", checker.unique_state_count());
"""

OURS = """
    let model = ADAPTED.target_max_depth(depth);
    let found = model.check().memory(MEMORY).threads(2).keep_going().run().unwrap();
    println!("{}", found.states());
"""

CARGO = """
[package]
name = "beside"
version = "0.1.0"
edition = "2021"

[dependencies]
serde = { version = "1", features = ["derive"] }
serde_json = "1"
spillway = { path = "ROOT", default-features = false }
spillway-stateright = { path = "ROOT/stateright" }
stateright = "0.31"
env_logger = "*"
num_cpus = "*"
pico-args = { version = "*", features = ["eq-separator", "short-space-opt"] }

[workspace]
"""

def adapted(source, types):
    """An example whose types serde writes and reads."""
    for name in types.split():
        before = r"#\[derive\(([^)]*)\)\]\n((?:pub )?(?:struct|enum) " + name + r"\b)"
        more = r"#[derive(\1, serde::Serialize, serde::Deserialize)]\n\2"
        source, times = re.subn(before, more, source)
        assert times == 1, f"{name} is derived {times} times"
    for before, after in REPLACED:
        source = re.sub(before, after, source)
    return source


def programs(example, source, folder):
    """Writes a program that has Stateright search an example, and one that has Spillway search it."""
    types, model, ours = EXAMPLES[example]
    (folder / "src" / "bin").mkdir(parents=True, exist_ok=True)
    for who, text, search in (
        ("theirs", source, THEIRS),
        ("ours", adapted(source, types), OURS.replace("ADAPTED", ours)),
    ):
        text = re.sub(r"\n(pub )?fn main\(\)", "\n#[allow(dead_code)]\nfn its_main()", text)
        main = MAIN.replace("MODEL", model).replace("SEARCH", search.strip())
        # Attributes and comments of a crate come first.
        (folder / "src" / "bin" / f"{example}-{who}.rs").write_text("#![allow(warnings)]\n" + text + main)


def row(example, size, depth, binaries, folder):
    """Searches by one and by the other; a row of the table."""
    # A depth of 0 bounds nothing.
    words = [str(size), str(depth or 0)]
    theirs = measured([str(binaries / f"{example}-theirs"), *words], folder)
    ours = measured([str(binaries / f"{example}-ours"), *words], folder)
    name = f"{example} {size}" + ("" if depth is None else f", depth {depth}")
    cells = [name, f"{int(theirs[3]):,}", f"{int(ours[3]):,}"]
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
            programs(example, (examples / f"{example}.rs").read_text(), folder)
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", folder / "target"))
        subprocess.run(["cargo", "build", "-q", "--release"], cwd=folder, check=True)
        print("| example | states | ours | s | CPU s | MiB | our s | our CPU s | our MiB |")
        print("|---|---|---|---|---|---|---|---|---|")
        for example, size, depth in RUNS:
            row(example, size, depth, target / "release", folder)


if __name__ == "__main__":
    main()
