#!/usr/bin/env python3
"""Measures the time until bugs are found: seeded bugs in models of this repository, or violated models of a folder.

    benches/bugs.py --spillway target/release/spillway [--seconds S] [--repeat N] [--json FILE]
    benches/bugs.py --spillway target/release/spillway --corpus FOLDER [--tlc CLASSPATH] [--languages NAME,...]
                    [--seconds S] [--json FILE]

All seconds are those of processor time, also that of `--seconds`, of all processes of a search together. `check` and `hunt` have one thread.

Without `--corpus`, `check` and `hunt` look for each bug of the table below `--repeat` times, each time at most `--seconds`.
Prints a table in Markdown: the length of the counterexample, the states of `check`, the transitions of the walks of `hunt`,
and the median of the seconds.

With `--corpus`, the folder has the folders promela, dve, murphi and tla. The first three have models and a `reference.tsv`,
tla has a `verdicts.tsv`. The models that their table says are violated count. The searches for the first violation are:

| search | what it is |
| --- | --- |
| `check`, `hunt` | those of Spillway, with their start and the compilation of the model |
| `pan` | SPIN's default without its compilation: `pan -m1000000` of `spin -a`, `cc -O2 -DSAFETY` |
| `spin` | the same with `spin` and the compiler |
| `swarm` | hash compaction by bits in several orders, without its compilation: the table SWARM below |
| `tlc` | `tlc2.TLC -simulate` with one worker, with the start of the virtual machine |

A search without a result counts as `--seconds`. Prints the medians, and the median and the largest ratio of two searches.
"""

import argparse
import csv
import json
import math
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

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

# A search by bits with each set of options of `pan`, first with a small set of bits in each order, then with larger ones.
# The first part of an entry has the options of the compiler. The seeds order the transitions at random.
SWARM = [
    ("", ""),
    ("-DREVERSE -DT_REVERSE", ""),
    ("-DP_RAND -DT_RAND", "-RS1"),
    ("-DP_RAND -DT_RAND", "-RS2"),
]
SWARM_BITS = [20, 24, 28]
SWARM_DEPTH = 100000


# The clock runs faster than processor time on a busy machine.
PATIENCE = 20


def measured(command, seconds, cwd=None):
    """The processor time of a command, its exit code, and its output. The code is None if the time was over."""
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    begin, most = used(), math.ceil(seconds)
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        errors="replace",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)),
    )
    try:
        output, _ = process.communicate(timeout=PATIENCE * most)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return seconds, None, ""
    is_over = process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    return used() - begin, None if is_over else process.returncode, output


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
    """One search: seconds, whether it found the bug, its work and the length of the counterexample."""
    line = [asked.spillway, command, *flags_of(bug), "--json", "--threads", "1"]
    if command == "hunt":
        line += ["--seed", str(seed), "--max-time", f"{PATIENCE * asked.seconds}s"]
    seconds, code, output = measured(line, asked.seconds)
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
    """The models of a folder, each with whether its table says that it is violated, and its configuration."""
    table = "verdicts.tsv" if language == "tla" else "reference.tsv"
    with open(os.path.join(folder, language, table), encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            errors = row.get("errors") or row.get("deadlock_states") or ""
            verdict = (row.get("cmurphi_verdict") or row.get("rumur_verdict") or "").upper()
            wrong = errors.isdigit() and int(errors) > 0 or verdict.startswith("ERR")
            wrong = wrong or row.get("result") == "safety failure"
            yield row.get("file") or row["module"], wrong, row.get("config")


def is_found_by_pan(output):
    return any("pan:1:" in it for it in output.splitlines())


def swarm(folder, seconds):
    """The seconds of searches by bits in several orders until one finds a violation. Its sources are in a folder."""
    for number, (compiled, _) in enumerate(SWARM):
        line = ["cc", "-O2", "-DSAFETY", "-DBITSTATE", *compiled.split(), "-w", "-o", f"swarm{number}", "pan.c"]
        if measured(line, seconds, folder)[1] != 0:
            return None
    spent = 0
    for bits in SWARM_BITS:
        for number, (_, options) in enumerate(SWARM):
            line = [f"./swarm{number}", f"-w{bits}", f"-m{SWARM_DEPTH}", *options.split()]
            alone, code, output = measured(line, max(0.1, seconds - spent), folder)
            spent += alone
            if code is not None and is_found_by_pan(output):
                return min(spent, seconds)
            if spent >= seconds:
                return seconds
    return float(seconds)


def spin(path, seconds):
    """SPIN on a model: the seconds of each search. None if SPIN does not read it."""
    nothing = {"spin": None, "pan": None, "swarm": None}
    with tempfile.TemporaryDirectory() as work:
        source, folder = os.path.abspath(path), os.path.join(work, "m")
        shutil.copytree(os.path.dirname(source), folder, symlinks=True)
        read = measured(["spin", "-a", os.path.basename(source)], seconds, folder)
        if read[1] != 0:
            return nothing
        compiled = measured(["cc", "-O2", "-DSAFETY", "-w", "-o", "pan", "pan.c"], seconds, folder)
        if compiled[1] != 0:
            return nothing
        alone, code, output = measured(["./pan", "-m1000000"], seconds, folder)
        is_found = code is not None and is_found_by_pan(output)
        alone = min(alone, seconds) if is_found else float(seconds)
        return {
            "spin": min(read[0] + compiled[0] + alone, seconds),
            "pan": alone,
            "swarm": swarm(folder, seconds),
        }


def tlc(class_path, path, config, seconds):
    """The seconds of a simulation by TLC."""
    with tempfile.TemporaryDirectory() as work:
        line = ["java", "-XX:+UseSerialGC", "-cp", class_path, "tlc2.TLC", "-simulate", "-seed", "1", "-workers", "1"]
        line += ["-noTE", "-metadir", work, "-config", os.path.abspath(config), os.path.basename(path)]
        alone, code, output = measured(line, seconds, os.path.dirname(path))
        is_found = code is not None and ("is violated" in output or "Deadlock reached" in output)
        return min(alone, seconds) if is_found else float(seconds)


def flags_of_language(language, config):
    """The flags with which Spillway checks what the table of the language is about."""
    flags = {"promela": ["--language", "promela", "--no-claim"], "dve": ["--overflow", "wrap"]}
    return ["--cfg", config] if config else flags.get(language, [])


def first_violation(asked, language, file, config):
    """The seconds of each search for the first violation of a model."""
    folder = os.path.join(asked.corpus, language)
    path, config = os.path.join(folder, file), config and os.path.join(folder, config)
    row = {"file": f"{language}/{file}"}
    for command in ("check", "hunt"):
        further = ["--max-time", f"{PATIENCE * asked.seconds}s"] if command == "hunt" else []
        line = [asked.spillway, command, path, *flags_of_language(language, config), "--threads", "1", "--no-trace"]
        seconds, code, _ = measured(line + further, asked.seconds)
        row[command] = seconds if code == 1 else None if code == 2 else float(asked.seconds)
    if language == "promela":
        row |= spin(path, asked.seconds)
    if language == "tla" and asked.tlc:
        row["tlc"] = tlc(asked.tlc, path, config, asked.seconds)
    return row


def first_violations(asked):
    rows = []
    for language in asked.languages.split(","):
        for file, is_wrong, config in references(asked.corpus, language):
            if is_wrong:
                rows.append(first_violation(asked, language, file, config))
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
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
    parser.add_argument("--languages", default="promela,dve,murphi,tla")
    parser.add_argument("--tlc", help="the class path of TLC")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json")
    asked = parser.parse_args()
    asked.spillway = os.path.abspath(asked.spillway)
    rows = first_violations(asked) if asked.corpus else seeded(asked)
    if asked.corpus:
        print("| searches | models | median s | median s | median ratio | largest ratio | missed |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for language in asked.languages.split(","):
            some = [it for it in rows if it["file"].startswith(language)]
            print(f"| **{language}** | {len(some)} | | | | | |")
            for other in ("spin", "pan", "swarm", "tlc"):
                compared(some, "check", other, asked.seconds)
                compared(some, "hunt", other, asked.seconds)
            compared(some, "hunt", "check", asked.seconds)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
