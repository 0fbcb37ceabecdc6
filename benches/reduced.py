#!/usr/bin/env python3
"""What reductions leave of whole searches: states and CPU, over a folder of models.

    benches/reduced.py --spillway target/release/spillway [--reduce LIST] [--least N] [--most N] FOLDER...

A folder has models and a `reference.tsv`, whose first column is a file and in which a column named `states`
or `rumur_states` says how many states it has. Each model of at least `--least` and at most `--most` states is searched
for everything, with one thread and 64 MiB, whole and by `--reduce LIST` (`auto` if there is none), one
after the other, `--repeat` times; what counts is the least CPU of each. Prints a table in Markdown, then the quartiles of
both shares, and of the CPU of all together. A model that one of both does not read or end within
`--seconds` gets a line that says so, and counts for nothing.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile


def searched(command, seconds):
    """CPU seconds of a search, and what it says of itself; or why there is nothing to say."""
    with tempfile.TemporaryFile() as output:
        limit = ["timeout", str(seconds)]
        process = subprocess.Popen([*limit, *command], stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if os.waitstatus_to_exitcode(status) == 124:
        return None, "not finished"
    at = text.find("{")
    try:
        told, _ = json.JSONDecoder().raw_decode(text[at:]) if at >= 0 else ({}, 0)
    except json.JSONDecodeError:
        told = {}
    if "states" not in told:
        return None, text.strip().splitlines()[0][:80] if text.strip() else "no answer"
    return usage.ru_utime + usage.ru_stime, told


def models(folder, least, most):
    """The files of a folder that are large enough and not too large."""
    with open(os.path.join(folder, "reference.tsv"), encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
            states = row.get("states") or row.get("rumur_states") or ""
            if states.isdigit() and least <= int(states) <= most:
                yield row["file"]


def flags(folder, file):
    """How a model is read as its reference was counted."""
    if file.endswith(".dve"):
        return ["--overflow", "wrap"]
    if "promela" in os.path.normpath(folder).split(os.sep)[-1]:
        return ["--language", "promela", "--no-claim"]
    return []


def quarters(shares):
    """The quartiles of some shares, in words."""
    if len(shares) < 2:
        return "too few"
    low, middle, high = statistics.quantiles(shares, n=4)
    return f"{low:.3f}, {middle:.3f}, {high:.3f}, most {max(shares):.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spillway", default="target/release/spillway")
    parser.add_argument("--reduce", default="auto")
    parser.add_argument("--least", type=int, default=100_000)
    parser.add_argument("--most", type=int, default=3_000_000)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--only", default="", help="models whose name has this in it")
    parser.add_argument("folders", nargs="+")
    asked = parser.parse_args()

    print("| model | states, whole | reduced | share | CPU, whole | reduced | share | by |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    shares, times, wholes, reduceds = [], [], 0.0, 0.0
    for folder in asked.folders:
        for file in models(folder, asked.least, asked.most):
            if asked.only not in file:
                continue
            base = [asked.spillway, "check", os.path.join(folder, file), "--json", "--keep-going"]
            base += ["--threads", "1", "--memory", "64MiB", *flags(folder, file)]
            best = {}
            for _ in range(asked.repeat):
                for reduce in ("none", asked.reduce):
                    cpu, told = searched([*base, "--reduce", reduce], asked.seconds)
                    if cpu is None:
                        best[reduce] = (None, told)
                    elif best.get(reduce, (cpu, told))[0] is not None:
                        best[reduce] = min(best.get(reduce, (cpu, told)), (cpu, told), key=lambda it: it[0])
            (whole, told), (reduced, left) = best["none"], best[asked.reduce]
            if whole is None or reduced is None:
                print(f"| {file} | {told if whole is None else left} |", flush=True)
                continue
            share, time = left["states"] / max(told["states"], 1), reduced / max(whole, 1e-3)
            by = ", ".join(left["reductions"])
            print(
                f"| {file} | {told['states']:,} | {left['states']:,} | {share:.3f} "
                f"| {whole:.2f} s | {reduced:.2f} s | {time:.2f} | {by} |",
                flush=True,
            )
            shares.append(share)
            times.append(time)
            wholes, reduceds = wholes + whole, reduceds + reduced
    print(f"\n{len(shares)} models. States, quartiles: {quarters(shares)}. CPU: {quarters(times)}.")
    if wholes:
        print(f"CPU of all: {wholes:.1f} s whole, {reduceds:.1f} s reduced, {reduceds / wholes:.2f}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
