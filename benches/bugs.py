#!/usr/bin/env python3
"""Measures the time until bugs are found: seeded bugs in models of this repository, or violated models of a folder.

    benches/bugs.py --spillway target/release/spillway [--seconds S] [--repeat N] [--json FILE]
    benches/bugs.py --spillway target/release/spillway --corpus FOLDER [--seconds S] [--json FILE]

Without `--corpus`, `check` and `hunt` search for each bug of the table below `--repeat` times, for at most `--seconds` each
time. Prints a table in Markdown: the length of the counterexample, the states of `check`, the transitions of the walks of `hunt`,
and the median of the seconds of the whole process.

With `--corpus`, the folder has the folders promela, dve and murphi, each with models and a `reference.tsv`. Only the models
that are violated according to this table count. `check`, `hunt` and, for Promela, SPIN's default (`spin -a`, a compiler with -O2, `pan
-m1000000`) search for the first violation. `pan` is the time of that process alone, `spin` that of all three. A search
without a result counts as `--seconds`. Prints the medians, and the median and the largest ratio of two searches.
"""

import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# Kind, model, constants, further flags. Deep: the shortest counterexample has at least 20 steps. Rare: the violation is
# reachable from few of many states. Liveness: a violating run with a cycle.
BUGS = [
    ("deep", "dve/hanoi.dve", "SOLVE=1 N=10", ""),
    ("deep", "dve/dependent_lines.dve", "", ""),
    ("deep", "dve/independent_lines.dve", "", ""),
    ("deep", "dve/job_shop.dve", "LIMIT=11", ""),
    ("deep", "dve/lockstep_counter.dve", "HALT=1", ""),
    ("deep", "dve/bakery.dve", "BUG=1 N=5", ""),
    ("deep", "dve/bakery.dve", "BUG=1 N=4", ""),
    ("deep", "dve/peterson.dve", "BUG=1 N=5", ""),
    ("deep", "promela/lost_update.pml", "TIMES=3", ""),
    ("deep", "promela/lost_update.pml", "TIMES=12", ""),
    ("deep", "murphi/sharing_list.m", "BUG=1 N=4", ""),
    ("rare", "dve/alternating_bit.dve", "BUG=1 MESSAGES=8 ROOM=5", ""),
    ("rare", "dve/bounded_buffer.dve", "BUG=1", ""),
    ("rare", "dve/bounded_buffer.dve", "BUG=2", ""),
    ("rare", "dve/journal.dve", "BUG=1", ""),
    ("rare", "dve/msi.dve", "BUG=1 N=6", ""),
    ("rare", "dve/philosophers.dve", "N=14", ""),
    ("rare", "dve/relay_network.dve", "BUG=1", ""),
    ("rare", "dve/sliding_window.dve", "BUG=1 WINDOW=4 MODULUS=8 ROOM=4", ""),
    ("rare", "dve/needham_schroeder.dve", "", ""),
    ("rare", "murphi/cluster_directory.m", "BUG=1 N=4", ""),
    ("rare", "murphi/directory_channels.m", "N=4 BUG=1", ""),
    ("rare", "murphi/naive_protocol.m", "", ""),
    ("rare", "dve/two_phase_commit.dve", "BUG=1 N=8", ""),
    ("liveness", "dve/bakery.dve", "N=4", "--ltl '[] (P[0].wait_turn -> <> P[0].critical)'"),
    ("liveness", "dve/elevator.dve", "", "--ltl '[]<> called[1]'"),
    ("liveness", "dve/readers_writers.dve", "READERS=6 WRITERS=3", "--ltl '[] (Writer[0].waits -> <> Writer[0].writes)'"),
    ("liveness", "dve/token_ring.dve", "N=8", "--ltl '[]<> Station[0].with'"),
    ("liveness", "dve/two_phase_commit.dve", "N=8", "--ltl '<> Coordinator.finished'"),
    ("liveness", "promela/barrier.pml", "BUSY=1 N=6", "--non-progress"),
]


def measured(command, seconds, cwd=None):
    """Returns the seconds of a command, its exit code, and its output. The code is None after a timeout."""
    begin = time.monotonic()
    process = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True, errors="replace"
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return seconds, None, ""
    return time.monotonic() - begin, process.returncode, output


def told(output):
    """Returns the JSON object of an output; an empty one if there is none."""
    at = output.find("{")
    try:
        return json.JSONDecoder().raw_decode(output[at:])[0] if at >= 0 else {}
    except json.JSONDecodeError:
        return {}


def flags_of(bug):
    """Returns the arguments for a bug: the model, its constants, and the checked properties."""
    _, model, constants, further = bug
    defines = [flag for it in constants.split() for flag in ("-D", it)]
    words = further.replace("' ", "'").split("'")
    return [os.path.join("models", model), *defines, *words[0].split(), *words[1:2]]


def depth_of(shown):
    """Returns the length of a counterexample: that of the shortest violation, or of stem and cycle."""
    found = shown.get("violations") or shown.get("hunts", [{}])
    depth = found[0].get("depth") if found and "depth" in found[0] else None
    counterexample = shown.get("counterexample") or (shown.get("hunts") or [{}])[0].get("counterexample") or {}
    steps = counterexample.get("steps")
    return len(steps) - 1 if steps else depth


def search(asked, command, bug, seed):
    """Runs one search: seconds, whether it found the bug, its work, the length of the counterexample."""
    line = [asked.spillway, command, *flags_of(bug), "--json"]
    if command == "hunt":
        line += ["--seed", str(seed), "--max-time", f"{asked.seconds}s"]
    seconds, code, output = measured(line, asked.seconds + 2)
    shown = told(output)
    hunts = shown.get("hunts") or [{}]
    work = shown.get("states") if command == "check" else hunts[0].get("transitions")
    if code not in (0, 1, 3, None):
        sys.exit(f"{' '.join(line)}: {output[:300]}")
    return {"seconds": seconds, "found": code == 1, "work": work, "depth": depth_of(shown)}


def row_of(asked, bug):
    """Returns a row of the table: the medians of the repetitions of both commands."""
    row = {"kind": bug[0], "model": bug[1], "constants": bug[2], "property": bug[3]}
    for command in ("check", "hunt"):
        # Each repetition of a hunt has its own seed.
        runs = [search(asked, command, bug, seed) for seed in range(1, asked.repeat + 1)]
        runs.sort(key=lambda it: it["seconds"])
        median = dict(runs[len(runs) // 2])
        median["found"] = sum(it["found"] for it in runs)
        row[command] = median
    return row


def number(value):
    return "" if value is None else f"{value:,}"


def seeded(asked):
    rows = []
    print("| bug | kind | steps | `check`: states | seconds | `hunt`: transitions | steps | seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for bug in BUGS:
        row = row_of(asked, bug)
        rows.append(row)
        check, hunt = row["check"], row["hunt"]
        name = " ".join(it for it in (f"`{bug[1]}`", bug[2] and f"`{bug[2]}`", bug[3] and f"`{bug[3]}`") if it)
        cell = lambda run: f"{run['seconds']:.2f}" if run["found"] == asked.repeat else f"found in {run['found']} of {asked.repeat}"
        print(
            f"| {name} | {bug[0]} | {number(check['depth'])} | {number(check['work'])} | {cell(check)} | "
            f"{number(hunt['work'])} | {number(hunt['depth'])} | {cell(hunt)} |",
            flush=True,
        )
    return rows


def references(folder, language):
    """Yields the models of a folder, each with whether its table marks it as violated."""
    with open(os.path.join(folder, language, "reference.tsv"), encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
            errors = row.get("errors") or row.get("deadlock_states") or ""
            verdict = (row.get("cmurphi_verdict") or row.get("rumur_verdict") or "").upper()
            wrong = errors.isdigit() and int(errors) > 0 or verdict.startswith("ERR")
            yield row["file"], wrong


def spin(path, seconds):
    """Runs SPIN's default on a model: the seconds of all processes, and of `pan`. None if SPIN rejects the model."""
    with tempfile.TemporaryDirectory() as work:
        begin, source = time.monotonic(), os.path.abspath(path)
        left = lambda: max(0.1, seconds - (time.monotonic() - begin))
        shutil.copytree(os.path.dirname(source), os.path.join(work, "m"), symlinks=True)
        folder = os.path.join(work, "m")
        if measured(["spin", "-a", os.path.basename(source)], left(), folder)[1] != 0:
            return None, None
        compiled = measured(["cc", "-O2", "-DSAFETY", "-w", "-o", "pan", "pan.c"], left(), folder)
        if compiled[1] != 0:
            return None, None
        alone, code, output = measured(["./pan", "-m1000000"], seconds, folder)
        if code is None or not any("pan:1:" in it for it in output.splitlines()):
            return seconds, seconds
        return min(time.monotonic() - begin, seconds), alone


def first_violations(asked):
    rows = []
    for language in ("promela", "dve", "murphi"):
        for file, is_wrong in references(asked.corpus, language):
            if not is_wrong:
                continue
            path = os.path.join(asked.corpus, language, file)
            flags = ["--language", "promela", "--no-claim"] if language == "promela" else []
            flags = ["--overflow", "wrap"] if language == "dve" else flags
            row = {"file": f"{language}/{file}"}
            for command in ("check", "hunt"):
                further = ["--max-time", f"{asked.seconds}s"] if command == "hunt" else []
                line = [asked.spillway, command, path, *flags, "--no-trace", *further]
                seconds, code, _ = measured(line, asked.seconds)
                row[command] = seconds if code == 1 else None if code == 2 else float(asked.seconds)
            if language == "promela":
                row["spin"], row["pan"] = spin(path, asked.seconds)
            rows.append(row)
            print(json.dumps(row), file=sys.stderr, flush=True)
    return rows


def compared(rows, one, other, seconds):
    """Prints the ratios of two searches, for models where at least one found a violation."""
    both = [(it[one], it[other]) for it in rows if it.get(one) is not None and it.get(other) is not None]
    both = [it for it in both if min(it) < seconds]
    if not both:
        return
    ratios = [a / b for a, b in both]
    worst = max(ratios)
    missed = sum(a >= seconds for a, _ in both)
    print(
        f"| `{one}` / `{other}` | {len(both)} | {statistics.median(a for a, _ in both):.2f} | "
        f"{statistics.median(b for _, b in both):.2f} | {statistics.median(ratios):.2f} | {worst:.2f} | {missed} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spillway", required=True)
    parser.add_argument("--corpus")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json")
    asked = parser.parse_args()
    asked.spillway = os.path.abspath(asked.spillway)
    rows = first_violations(asked) if asked.corpus else seeded(asked)
    if asked.corpus:
        print("| searches | models | median s | median s | median ratio | largest ratio | missed |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for language in ("promela", "dve", "murphi", ""):
            some = [it for it in rows if it["file"].startswith(language)]
            print(f"| **{language or 'all'}** | {len(some)} | | | | | |")
            for one, other in (("check", "spin"), ("hunt", "spin"), ("check", "pan"), ("hunt", "pan"), ("hunt", "check")):
                compared(some, one, other, asked.seconds)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
