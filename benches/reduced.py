#!/usr/bin/env python3
"""What reductions leave of whole searches: states and CPU, over a folder of models.

    benches/reduced.py --spillway target/release/spillway [--reduce LIST] [--least N] [--most N] [--plot FILE] FOLDER...

A folder has models and a `reference.tsv`, whose first column is a file and in which a column named `states`
or `rumur_states` says how many states it has. Each model of at least `--least` and at most `--most` states is searched
for everything and on beyond violations, with one thread and 64 MiB, whole and by `--reduce LIST` (`auto` if there is none), one
after the other, `--repeat` times; what counts is the least CPU of each. Prints a table in Markdown, then the quartiles of
both shares, of all models and of some kinds, the ten models of which least and most is left, and the CPU of all together. Where
`reference.tsv` has `states_spin_por`, what SPIN leaves by default is a column, too. `--plot` draws the
shares, each sorted, as SVG. A model that one of both does not read or end within `--seconds` gets a line that
says so, and counts for nothing.
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
    """The files of a folder that are large enough and not too large, each with what SPIN leaves of it, if that is known."""
    with open(os.path.join(folder, "reference.tsv"), encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
            states = row.get("states") or row.get("rumur_states") or ""
            if states.isdigit() and least <= int(states) <= most:
                spin = row.get("states_spin_por") or ""
                yield row["file"], int(spin) / int(states) if spin.isdigit() else None


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
    return f"{low:.3f}, {middle:.3f}, {high:.3f}"


def compared(base, asked):
    """What a search comes to whole and reduced, each with its CPU; or why that is not known."""
    best = {}
    for _ in range(asked.repeat):
        for reduce in ("none", asked.reduce):
            cpu, told = searched([*base, "--reduce", reduce], asked.seconds)
            if cpu is None:
                return None, told
            best[reduce] = min(best.get(reduce, (cpu, told)), (cpu, told), key=lambda it: it[0])
    return best["none"], best[asked.reduce]


class Row:
    """A model, and what is left of its states and of the CPU time."""

    def __init__(self, file, spin, whole, reduced):
        (self.whole, told), (self.reduced, left) = whole, reduced
        self.file, self.spin = file, spin
        self.states, self.left, self.by = told["states"], left["states"], ", ".join(left["reductions"])
        self.share, self.time = self.left / max(self.states, 1), self.reduced / max(self.whole, 1e-3)
        # Where the first states violate something the search ends there, and so nothing is chosen.
        self.is_violated = bool(told["violations"])

    def __str__(self):
        spin = "" if self.spin is None else f"{self.spin:.3f}"
        return (
            f"| {self.file} | {self.states:,} | {self.left:,} | {self.share:.3f} | {spin} "
            f"| {self.whole:.2f} s | {self.reduced:.2f} s | {self.time:.2f} | {self.by} |"
        )


HEAD = """| model | states, whole | reduced | share | SPIN | CPU, whole | reduced | share | by |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def summed_up(rows):
    """The quartiles of rows of some kinds, and those of which least and most is left."""
    kinds = {
        "all": rows,
        "with nothing violated": [row for row in rows if not row.is_violated],
        "that take half a second or more whole": [row for row in rows if row.whole >= 0.5],
        "of which SPIN's share is known": [row for row in rows if row.spin is not None],
    }
    print("\n| models | | states left, quartiles | CPU, quartiles |\n| --- | --- | --- | --- |")
    for kind, some in kinds.items():
        print(f"| {kind} | {len(some)} | {quarters([row.share for row in some])} | {quarters([row.time for row in some])} |")
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
    parser.add_argument("--only", default="", help="models whose name has this in it")
    parser.add_argument("--plot", metavar="FILE", help="where to draw the shares")
    parser.add_argument("folders", nargs="+")
    asked = parser.parse_args()

    print(HEAD)
    rows = []
    for folder in asked.folders:
        for file, spin in models(folder, asked.least, asked.most):
            if asked.only not in file:
                continue
            base = [asked.spillway, "check", os.path.join(folder, file), "--json", "--keep-going"]
            base += ["--threads", "1", "--memory", "64MiB", *flags(folder, file)]
            whole, reduced = compared(base, asked)
            if whole is None:
                print(f"| {file} | {reduced} |", flush=True)
                continue
            rows.append(Row(file, spin, whole, reduced))
            print(rows[-1], flush=True)
    if rows:
        summed_up(rows)
        if asked.plot:
            plot(rows, asked.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
