#!/usr/bin/env python3
"""Compares Spillway with Stateright, on Stateright's examples.

    benches/peers/stateright.py EXAMPLES

EXAMPLES is the folder `examples` of Stateright 0.31's source. Each example is searched by Stateright's
breadth-first checker, and by Spillway through `spillway-stateright`. Both have two threads, and Spillway has a
budget of 128 MiB. Stateright searches the unchanged example with another `main`. Spillway searches an adapted
example, whose types serde can write and read: `#[derive]` contains two more traits, hashed sets and maps are
replaced by ordered ones, and the adapter provides registers and consistency testers. Prints a table in Markdown:
states of both, wall seconds, CPU seconds, peak resident MiB. The tools run one after the other on one machine, so
the columns of a row can be compared.

A depth is `target_max_depth` of both. Spillway also expands the states at this depth, to check them. If
CARGO_TARGET_DIR is set, the programs are built there.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from spin import measure

ROOT = pathlib.Path(__file__).resolve().parents[2]

# For each example: the types that serde writes and reads, the model of a size, and its adapter.
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

# Replacements, so that serde can write and read the types.
REPLACEMENTS = [
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

STATERIGHT_SEARCH = """
    use stateright::Checker as _;
    let checker = model.checker().threads(2).target_max_depth(depth).spawn_bfs().join();
    println!("{}", checker.unique_state_count());
"""

SPILLWAY_SEARCH = """
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

def adapt(source, types):
    """Returns an example whose types serde writes and reads."""
    for name in types.split():
        before = r"#\[derive\(([^)]*)\)\]\n((?:pub )?(?:struct|enum) " + name + r"\b)"
        more = r"#[derive(\1, serde::Serialize, serde::Deserialize)]\n\2"
        source, times = re.subn(before, more, source)
        assert times == 1, f"{name} is derived {times} times"
    for before, after in REPLACEMENTS:
        source = re.sub(before, after, source)
    return source


def programs(example, source, folder):
    """Writes two programs: one searches an example with Stateright, the other with Spillway."""
    types, model, ours = EXAMPLES[example]
    (folder / "src" / "bin").mkdir(parents=True, exist_ok=True)
    for tool, text, search in (
        ("theirs", source, STATERIGHT_SEARCH),
        ("ours", adapt(source, types), SPILLWAY_SEARCH.replace("ADAPTED", ours)),
    ):
        text = re.sub(r"\n(pub )?fn main\(\)", "\n#[allow(dead_code)]\nfn its_main()", text)
        main = MAIN.replace("MODEL", model).replace("SEARCH", search.strip())
        # Attributes and comments of a crate come first.
        (folder / "src" / "bin" / f"{example}-{tool}.rs").write_text("#![allow(warnings)]\n" + text + main)


def row(example, size, depth, binaries, folder):
    """Searches with both tools, and prints a row of the table."""
    # A depth of 0 is no bound.
    words = [str(size), str(depth or 0)]
    theirs = measure([str(binaries / f"{example}-theirs"), *words], folder)
    ours = measure([str(binaries / f"{example}-ours"), *words], folder)
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
