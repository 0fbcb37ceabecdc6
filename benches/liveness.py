#!/usr/bin/env python3
"""Formulas on Promela and DVE models: states and CPU, without reduction, by default, by listed reductions, and by SPIN.

    benches/liveness.py --spillway target/release/spillway [--reduce 'FLAGS'] [--seconds N] [--only TEXT] LIST

A line of LIST is a file, a formula or the name of one, and definitions, separated by tabs: `leader_ring.pml  <> (leaders == 1)  N=5`.
Files are relative to LIST. A DVE file has its property process and no formula: `phils.1.prop3.dve`. Each is checked by `--reduce none`, by
default, by each `--reduce`, and by SPIN, one after the other: `spin -a`, `gcc -O2`, `pan -a -N NAME`. CPU is user time of `check`
and of `pan`, least of `--repeat` runs. Prints a table in Markdown. A column has `-` where a search takes longer than
`--seconds`, and `!` where a verdict differs from that of the first column with one.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile


def run(command, seconds, folder=None, errors=subprocess.STDOUT):
    """User CPU seconds of a command, and its output. No seconds if it takes too long."""
    with tempfile.TemporaryFile() as output:
        limited = ["timeout", str(seconds), *command]
        process = subprocess.Popen(limited, stdout=output, stderr=errors, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        output.seek(0)
        text = output.read().decode(errors="replace")
    late = os.waitstatus_to_exitcode(status) == 124
    return None if late else usage.ru_utime, text


def spillway(command, seconds, repeat):
    """States, CPU and whether the property is violated; or why that is not known."""
    best = None
    for _ in range(repeat):
        cpu, text = run(command, seconds, errors=subprocess.DEVNULL)
        if cpu is None:
            return "-"
        at = text.find("{")
        try:
            told, _ = json.JSONDecoder().raw_decode(text[at:])
        except (json.JSONDecodeError, ValueError):
            return (text.strip().splitlines() or ["no answer"])[0][:60]
        found = (told["states"], cpu, told["verdict"] == "violated")
        best = min(best or found, found, key=lambda it: it[1])
    return best


def spin(text, name, defined, seconds, repeat, bound):
    """The same of SPIN's verifier."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "m.pml"), "w", encoding="utf-8") as file:
            file.write(text)
        defines = [f"-D{it}" for it in defined]
        run(["spin", *defines, "-a", "m.pml"], seconds, folder)
        run(["gcc", "-O2", "-DMEMLIM=3000", "-o", "pan", "pan.c"], seconds, folder)
        best = None
        for _ in range(repeat):
            cpu, told = run(["./pan", "-a", f"-m{bound}", "-N", name], seconds, folder)
            states = re.search(r"(\d+) states, stored", told)
            errors = re.search(r"errors: (\d+)", told)
            if cpu is None or not states or not errors or "out of memory" in told:
                return "-"
            found = (int(states[1]), cpu, errors[1] != "0")
            best = min(best or found, found, key=lambda it: it[1])
        return best


def cell(found, first):
    if isinstance(found, str):
        return f"{found} | "
    states, cpu, violated = found
    return f"{states:,} | {cpu:.2f}{'!' if violated != first else ''}"


def compared(line, base, asked):
    file, formula, defined = [*line.split("\t"), "", ""][:3]
    defined = defined.split()
    path = os.path.join(base, file)
    command = [asked.spillway, "check", path, "--json", "--no-trace", "--threads", "1", "--memory", "1GiB"]
    command += [it for one in defined for it in ("-D", one)]
    if formula:
        command += ["--ltl", formula]
    ways = [["--reduce", "none"], [], *[it.split() for it in asked.reduce]]
    found = [spillway([*command, *way], asked.seconds, asked.repeat) for way in ways]
    if file.endswith(".pml") and not asked.no_spin:
        with open(path, encoding="utf-8") as source:
            text = source.read()
        if not re.search(rf"ltl\s+{re.escape(formula)}\b", text):
            text, formula = f"{text}\nltl asked {{ {formula} }}\n", "asked"
        found.append(spin(text, formula, defined, asked.seconds, asked.repeat, asked.bound))
    first = next((it[2] for it in found if not isinstance(it, str)), None)
    verdict = {True: "violated", False: "holds", None: "-"}[first]
    name = os.path.basename(file) + "".join(f" {it}" for it in defined)
    shown = (line.split("\t")[1:2] or ["its property"])[0].replace("|", "\\|")
    return f"| {name} | `{shown}` | {verdict} | " + " | ".join(cell(it, first) for it in found) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--spillway", default="target/release/spillway")
    parser.add_argument("--reduce", action="append", default=[])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--bound", type=int, default=10_000_000, help="the depth of SPIN's search")
    parser.add_argument("--no-spin", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("list")
    asked = parser.parse_args()
    with open(asked.list, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#") and asked.only in line:
                print(compared(line.strip(), os.path.dirname(asked.list), asked), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
