#!/usr/bin/env python3
"""Compares how states and CPU time grow with the size of a model, for Spillway and for SPIN.

    benches/growth.py --spillway target/release/spillway [--only NAME] [--repeat N] [--seconds N]

FAMILIES lists models of `models/promela` with the sizes that are checked. Both tools run with their defaults and one
thread: `spillway check MODEL`, and `pan` of `spin -a` and `gcc -O2`. Compilation of `pan` is not counted. The CPU time
is the least of `--repeat` runs, in seconds, with the system's part. The runs of both tools alternate. A run that takes
more than `--seconds` of CPU time is stopped, and its row shows this.

Prints a table in Markdown. Needs SPIN 6.5 and a C compiler.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent / "models" / "promela"

# Name: file, definitions of each size.
FAMILIES = {
    "leader election": ("leader_ring", [{"N": n} for n in (4, 5, 7, 8, 10)]),
    "sorters": ("sorters", [{"N": n} for n in (4, 5, 6, 8, 10)]),
    "sieve": (
        "sieve",
        [{"LAST": last, "PRIMES": primes} for last, primes in ((15, 6), (20, 8), (25, 9), (30, 10), (35, 11))],
    ),
    "philosophers": ("philosophers", [{"N": n, "LEFTY": 1} for n in (4, 5, 6, 7, 8)]),
    "filter lock": ("filter_lock", [{"N": n} for n in (2, 3, 4)]),
    "data transfer": ("transfer", [{"BLOCKS": 20, "SIZE": size} for size in (1, 2, 4, 6, 8)]),
    "sliding window": ("sliding_window", [{"WINDOW": window} for window in (2, 3, 4, 5, 6)]),
    "barrier": ("barrier", [{"N": n} for n in (3, 4, 5, 6, 7)]),
}


def run(command, folder, seconds):
    """Returns the CPU time of a command in seconds and its output. The time is None if the command was stopped."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, preexec_fn=limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    time = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return (None if ended.returncode < 0 else time), ended.stdout


def run_spillway(arguments, file, sizes, folder):
    definitions = [word for name, value in sizes.items() for word in ("-D", f"{name}={value}")]
    command = [Path(arguments.spillway).resolve(), "check", file, *definitions, "--json", "--threads", "1"]
    time, output = run(command, folder, arguments.seconds)
    if time is None:
        return None
    report, _ = json.JSONDecoder().raw_decode(output[output.index("{") :])
    return report["states"], time, report["verdict"]


def compile_pan(file, sizes, folder):
    definitions = [f"-D{name}={value}" for name, value in sizes.items()]
    subprocess.run(["spin", *definitions, "-a", file], cwd=folder, check=True, capture_output=True)
    subprocess.run(["gcc", "-O2", "-w", "-o", "pan", "pan.c"], cwd=folder, check=True)


def run_pan(arguments, folder):
    time, output = run(["./pan", "-m10000000"], folder, arguments.seconds)
    if time is None:
        return None
    states = int(re.search(r"(\d+) states, stored", output)[1])
    errors = int(re.search(r"errors: (\d+)", output)[1])
    return states, time, "violated" if errors else "verified"


def best(runs):
    """Returns the run with the least CPU time, or None if one was stopped."""
    return None if None in runs else min(runs, key=lambda it: it[1])


def cells(result):
    return ["stopped", ""] if result is None else [f"{result[0]:,}", f"{result[1]:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spillway", required=True)
    parser.add_argument("--only", help="the name of one family")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=120)
    arguments = parser.parse_args()
    print("| model | size | Spillway: states | CPU, s | SPIN: states | CPU, s |\n| --- | --- | --- | --- | --- | --- |")
    for family, (file, all_sizes) in FAMILIES.items():
        if arguments.only not in (None, family):
            continue
        for sizes in all_sizes:
            with tempfile.TemporaryDirectory() as folder:
                path = MODELS / f"{file}.pml"
                compile_pan(path, sizes, folder)
                ours, theirs = [], []
                for _ in range(arguments.repeat):
                    ours.append(run_spillway(arguments, path, sizes, folder))
                    theirs.append(run_pan(arguments, folder))
            spillway, spin = best(ours), best(theirs)
            if spillway and spin and spillway[2] != spin[2]:
                sys.exit(f"{file} {sizes}: {spillway[2]}, but SPIN says {spin[2]}")
            size = ", ".join(f"{name} = {value}" for name, value in sizes.items())
            print("|", " | ".join([family, size, *cells(spillway), *cells(spin)]), "|", flush=True)


if __name__ == "__main__":
    main()
