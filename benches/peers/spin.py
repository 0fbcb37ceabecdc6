#!/usr/bin/env python3
"""Compares Spillway with SPIN, on the same models and with the same semantics.

    benches/peers/spin.py --spillway target/release/spillway MODEL...

Each model is verified by `spin -a -o1 -o2 -o3`, which keeps the unoptimised graph, as Spillway does. The verifier
is compiled with `gcc -O2 -DSAFETY -DNOREDUCE`, and has no memory limit. It also runs with `-DCOLLAPSE` and with
`-DMA`. Spillway runs `spillway check --memory 64MiB --threads 1`. Both search for all violations. Prints a table in
Markdown: CPU nanoseconds for each transition, wall seconds, peak resident MiB. The tools run one after the other on
one machine, so the columns of a row can be compared.

With `--reduced LIST` both reduce. SPIN has its default reductions (`spin -a`, `-O2 -DSAFETY`), with statement
merging and dead variables. Spillway has `--reduce LIST`, such as `por,dead`. The reduced state spaces differ, so
whole searches are compared.

Needs the Debian packages spin, gcc and python3. If the counts of a model differ, its row contains both.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# Both tools omit never claims: the searches of the system are compared.
PAN = ["-O2", "-DSAFETY", "-DNOCLAIM", "-DMEMLIM=20000"]
# SPIN's unoptimised graph, and the full search.
UNREDUCED = (["-o1", "-o2", "-o3"], ["-DNOREDUCE"])
REDUCED = ([], [])


def measure(command, folder):
    """Returns the CPU seconds, wall seconds, peak resident MiB and output of a command."""
    with tempfile.TemporaryFile() as output:
        begun = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begun
        output.seek(0)
        text = output.read().decode(errors="replace")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, text


def spin(model, folder, variant, flags, depth):
    """Runs SPIN's verifier. Returns its figures, states, transitions and the bytes of a state vector."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    (generating, compiling) = variant
    generate = ["spin", "-a", *generating, model]
    subprocess.run(generate, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["gcc", *PAN, *compiling, *flags, "-w", "-o", "pan", "pan.c"], cwd=folder, check=True)
    verify = ["./pan", "-n", "-c0", f"-m{depth}", "-w24"]
    cpu, wall, peak, text = measure(verify, folder)
    states = re.search(r"(\d+) states, stored", text)
    transitions = re.search(r"(\d+) transitions \(=", text)
    width = re.search(r"State-vector (\d+) byte", text)
    if not states or "max search depth too small" in text:
        raise RuntimeError(f"SPIN did not end on {model}")
    figures = (cpu, wall, peak)
    return figures, int(states[1]), int(transitions[1]), int(width[1])


def spillway(program, model, folder, reductions):
    command = [program, "check", model, "--memory", "64MiB", "--threads", "1", "--keep-going"]
    command += ["--language", "promela", "--no-claim", "--json"]
    command += ["--reduce", reductions] if reductions else []
    cpu, wall, peak, text = measure(command, folder)
    result = json.loads(text)
    return (cpu, wall, peak), result["states"], result["transitions"]


def cell(figures, transitions):
    cpu, wall, peak = figures
    return f"{cpu / transitions * 1e9:.0f} ns, {wall:.1f} s, {peak:.0f}"


def compare(args, run, row, title):
    """Prints a row for each model, which `row` makes from the measurements of `run`, and the median ratio."""
    ratios = []
    with tempfile.TemporaryDirectory() as scratch:
        for model in map(os.path.abspath, args.models):
            # Files that a model includes are in its folder.
            copied = os.path.join(scratch, "model")
            shutil.copytree(os.path.dirname(model), copied, dirs_exist_ok=True)
            name = os.path.basename(model)
            try:
                measures = run(os.path.join(copied, name), scratch, os.path.join(scratch, "pan"))
            except (subprocess.CalledProcessError, RuntimeError, ValueError, KeyError) as error:
                print(f"{model}: {error}", file=sys.stderr)
                continue
            finally:
                shutil.rmtree(copied, ignore_errors=True)
            ratio, cells = row(*measures)
            ratios.append(ratio)
            print("| " + " | ".join([name, *cells]) + " |", flush=True)
    if ratios:
        print(f"\nMedian ratio of CPU a {title}: {statistics.median(ratios):.2f}")


def compare_reduced(program, args):
    def run(copy, scratch, folder):
        theirs, their_states, _, _ = spin(copy, folder, REDUCED, [], args.depth)
        ours, our_states, _ = spillway(program, copy, scratch, args.reduced)
        return ours, theirs, our_states, their_states

    def row(ours, theirs, our_states, their_states):
        ratio = ours[0] / theirs[0]
        seconds = [f"{ours[0]:.2f} s", f"{theirs[0]:.2f} s", f"{ratio:.2f}"]
        memory = [f"{ours[2]:.0f}", f"{theirs[2]:.0f}"]
        return ratio, [f"{our_states:,}", f"{their_states:,}", *seconds, *memory]

    print("| model | states, Spillway | SPIN | CPU, Spillway | SPIN | ratio | MiB, Spillway | SPIN |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    compare(args, run, row, "search")


def compare_whole(program, args):
    def run(copy, scratch, folder):
        theirs, states, transitions, width = spin(copy, folder, UNREDUCED, [], args.depth)
        ours, our_states, our_transitions = spillway(program, copy, scratch, None)
        others = []
        for flags in [] if args.plain else [["-DCOLLAPSE"], [f"-DMA={width}"]]:
            figures, _, fired, _ = spin(copy, folder, UNREDUCED, flags, args.depth)
            others.append(cell(figures, fired))
        return ours, theirs, (our_states, our_transitions), (states, transitions), others

    def row(ours, theirs, our_counts, counts, others):
        (our_states, our_transitions), (states, transitions) = our_counts, counts
        # SPIN counts arrivals at states, so the initial state counts once more.
        agree = (our_states, our_transitions + 1) == (states, transitions)
        ratio = ours[0] / our_transitions / (theirs[0] / transitions)
        return ratio, [
            f"{states:,}" + ("" if agree else f" (Spillway {our_states:,})"),
            f"{transitions:,}" + ("" if agree else f" (Spillway {our_transitions:,})"),
            cell(ours, our_transitions),
            cell(theirs, transitions),
            f"{ratio:.2f}",
            *(others or ["", ""]),
        ]

    print("| model | states | transitions | Spillway, 64MiB | SPIN | ratio | COLLAPSE | MA |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    compare(args, run, row, "transition")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spillway", default="target/release/spillway")
    parser.add_argument("--depth", type=int, default=20_000_000, help="the maximum depth of SPIN's search")
    parser.add_argument("--plain", action="store_true", help="omit -DCOLLAPSE and -DMA")
    parser.add_argument("--reduced", metavar="LIST", help="enable reductions in both tools; these in Spillway")
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    program = os.path.abspath(args.spillway)
    (compare_reduced if args.reduced else compare_whole)(program, args)


if __name__ == "__main__":
    main()
