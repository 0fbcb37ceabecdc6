#!/usr/bin/env python3
"""Compares the states and CPU time of searches with and without reductions, over folders of models.

    benches/reduced.py --spillway target/release/spillway [--reduce LIST] [--least N] [--most N] [--plot FILE] FOLDER...

A folder has models and a `reference.tsv`. Its first column is the file, and a column named `states` or
`rumur_states` is the number of states. Each model of at least `--least` and at most `--most` states is searched for
all violations, with one thread and 64 MiB, without reductions and with `--reduce LIST` (`auto` by default). Both
searches run one after the other, `--repeat` times, and the least CPU time of each counts.

Prints a table in Markdown. Then it prints the quartiles of the shares of states and of CPU time, for all models and
for some kinds, the ten models with the least and the greatest shares, and the CPU time of all models together. If
`reference.tsv` has `states_spin_por`, SPIN's share by default is a column, too. `--plot` draws the sorted shares as
SVG. A model that one of the searches rejects or does not finish within `--seconds` gets a line with the reason, and
is not counted.
"""

import argparse
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile


def run_search(command, seconds):
    """Returns the CPU seconds of a search and its result, or None and the reason for a failure."""
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
        result, _ = json.JSONDecoder().raw_decode(text[at:]) if at >= 0 else ({}, 0)
    except json.JSONDecodeError:
        result = {}
    if "states" not in result:
        return None, text.strip().splitlines()[0][:80] if text.strip() else "no answer"
    return usage.ru_utime + usage.ru_stime, result


def models(folder, least, most):
    """Yields the files of a folder with a number of states in the range, each with SPIN's share of states or None."""
    with open(os.path.join(folder, "reference.tsv"), encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
            states = row.get("states") or row.get("rumur_states") or ""
            if states.isdigit() and least <= int(states) <= most:
                spin = row.get("states_spin_por") or ""
                yield row["file"], int(spin) / int(states) if spin.isdigit() else None


def flags(folder, file):
    """Returns the flags by which a model has the counts of its reference."""
    if file.endswith(".dve"):
        return ["--overflow", "wrap"]
    if "promela" in os.path.normpath(folder).split(os.sep)[-1]:
        return ["--language", "promela", "--no-claim"]
    return []


def quarters(shares):
    """Returns the quartiles of selected shares as text."""
    if len(shares) < 2:
        return "too few"
    low, middle, high = statistics.quantiles(shares, n=4)
    return f"{low:.3f}, {middle:.3f}, {high:.3f}"


def compare(base, args):
    """Returns the CPU seconds and results without and with reductions, or None and the reason for a failure."""
    best = {}
    for _ in range(args.repeat):
        for reduce in ("none", args.reduce):
            cpu, result = run_search([*base, "--reduce", reduce], args.seconds)
            if cpu is None:
                return None, result
            best[reduce] = min(best.get(reduce, (cpu, result)), (cpu, result), key=lambda it: it[0])
    return best["none"], best[args.reduce]


class Row:
    """A model with its shares of states and of CPU time."""

    def __init__(self, file, spin, whole, reduced):
        (self.whole, full_result), (self.reduced, reduced_result) = whole, reduced
        self.file, self.spin = file, spin
        self.states, self.left = full_result["states"], reduced_result["states"]
        self.by = ", ".join(reduced_result["reductions"])
        self.share, self.time = self.left / max(self.states, 1), self.reduced / max(self.whole, 1e-3)
        # If an initial state is a violation, the search ends there, and no reduction is chosen.
        self.is_violated = bool(full_result["violations"])

    def __str__(self):
        spin = "" if self.spin is None else f"{self.spin:.3f}"
        return (
            f"| {self.file} | {self.states:,} | {self.left:,} | {self.share:.3f} | {spin} "
            f"| {self.whole:.2f} s | {self.reduced:.2f} s | {self.time:.2f} | {self.by} |"
        )


HEAD = """| model | states, whole | reduced | share | SPIN | CPU, whole | reduced | share | by |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def print_summary(rows):
    """Prints the quartiles of rows of selected kinds, and the rows with the least and the greatest shares."""
    kinds = {
        "all": rows,
        "with nothing violated": [row for row in rows if not row.is_violated],
        "that take half a second or more whole": [row for row in rows if row.whole >= 0.5],
        "of which SPIN's share is known": [row for row in rows if row.spin is not None],
    }
    print("\n| models | | states left, quartiles | CPU, quartiles |\n| --- | --- | --- | --- |")
    for kind, selected in kinds.items():
        shares, times = quarters([row.share for row in selected]), quarters([row.time for row in selected])
        print(f"| {kind} | {len(selected)} | {shares} | {times} |")
    print(f"\nSPIN's: {quarters([row.spin for row in rows if row.spin is not None])}")
    whole, reduced = sum(row.whole for row in rows), sum(row.reduced for row in rows)
    print(f"CPU of all: {whole:.1f} s whole, {reduced:.1f} s reduced, {reduced / max(whole, 1e-3):.2f}.")
    slower = [row for row in rows if row.time > 1.03]
    by_little = sum(row.reduced - row.whole < 0.1 for row in slower)
    print(f"{len(slower)} take over 1.03 times the CPU, {by_little} of them by less than a tenth of a second.")
    for what, key in (("states", lambda row: row.share), ("CPU", lambda row: row.time)):
        ordered = sorted(rows, key=key)
        print(f"\nLeast and most {what} left:\n\n{HEAD}")
        print(*ordered[:10], *ordered[-10:], sep="\n")


def plot(rows, path):
    """Draws the shares of states and of CPU, each sorted, on a scale of powers of ten."""
    wide, high, left, top, least = 720, 360, 60, 20, 1e-4
    at_y = lambda share: top + high * math.log10(max(share, least) / 10) / math.log10(least / 10)
    at_x = lambda rank, count: left + wide * (rank + 0.5) / count
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + wide + 20} {top + high + 50}" font-family="sans-serif" font-size="13">']
    lines.append('<rect width="100%" height="100%" fill="white"/>')
    for power in range(-4, 2):
        y = at_y(10.0**power)
        lines.append(f'<path d="M{left} {y:.1f}h{wide}" stroke="{"#888" if power == 0 else "#ddd"}"/>')
        lines.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    kinds = [("states left", "#0a6", [row.share for row in rows]), ("CPU left", "#c33", [row.time for row in rows])]
    for number, (name, colour, shares) in enumerate(kinds):
        points = [f"{at_x(rank, len(shares)):.1f},{at_y(share):.1f}" for rank, share in enumerate(sorted(shares))]
        lines.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines.append(f'<text x="{left + 12}" y="{top + 20 + 18 * number}" fill="{colour}">{name}</text>')
    lines.append(f'<text x="{left + wide / 2}" y="{top + high + 34}" text-anchor="middle">{len(rows)} models, each share sorted</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, "</svg>", ""]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spillway", default="target/release/spillway")
    parser.add_argument("--reduce", default="auto")
    parser.add_argument("--least", type=int, default=100_000)
    parser.add_argument("--most", type=int, default=3_000_000)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--plot", metavar="FILE", help="the file for the plot of the shares")
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()

    print(HEAD)
    rows = []
    for folder in args.folders:
        for file, spin in models(folder, args.least, args.most):
            if args.only not in file:
                continue
            base = [args.spillway, "check", os.path.join(folder, file), "--json", "--keep-going"]
            base += ["--threads", "1", "--memory", "64MiB", *flags(folder, file)]
            whole, reduced = compare(base, args)
            if whole is None:
                print(f"| {file} | {reduced} |", flush=True)
                continue
            rows.append(Row(file, spin, whole, reduced))
            print(rows[-1], flush=True)
    if rows:
        print_summary(rows)
        if args.plot:
            plot(rows, args.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
