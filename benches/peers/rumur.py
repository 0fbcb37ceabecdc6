#!/usr/bin/env python3
"""Compares Spillway with Rumur on Murphi models, and prints a Markdown table.

Prerequisites (Debian packages): rumur, gcc, libc6-dev, python3; and `cargo build --release`.

    benches/peers/rumur.py [FOLDER] [--only PART] [--memory SIZE] [--threads 1,2] [--no-rumur]

FOLDER holds external models, found by their names. Without it only models of this repository are measured. Rumur
writes a C program, which is compiled with -O3 -march=native and then measured. Both tools explore the whole state
space of each model, with symmetry off and on (`exhaustive` in Rumur, `exact` in Spillway). The CPU time is the user
and system time of the whole process, in nanoseconds for each fired rule. Rumur has neither unions nor multisets.
Unlike CMurphi, it regards copying an undefined value as an error. Models without comparable counts have a dash in
the last column.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# External models: the end of the path in the folder.
EXTERNAL_MODELS = [
    "cmurphi/newcache3.m",
    "cmurphi/list6too.m",
    "cmurphi/mcslock1.m",
    "cmurphi/mcslock2.m",
    "romp/german.m",
    "romp/deepsparse.m",
    "newpara/n_german.m",
    "newpara/n_german2004.m",
]

# Models of this repository with larger constants: at least half a million states each with symmetry off.
OWN_MODELS = [
    ("directory_channels.m", {"N": 4}),
    ("mesi_bus.m", {"N": 6}),
    ("queue_lock.m", {"N": 7}),
    ("ticket_lock.m", {"N": 8}),
    ("two_phase_commit.m", {"N": 8}),
]

ERRORS_MAX = 2_000_000_000  # errors, so that Rumur visits the whole state space


@dataclass
class Run:
    states: int
    rules: int
    cpu: float
    wall: float
    peak: int

    def cells(self):
        per_rule = self.cpu / max(self.rules, 1) * 1e9
        return [f"{per_rule:.0f}", f"{self.wall:.2f}", f"{self.peak / 2**20:.0f}"]


def measure(command, timeout):
    """Returns the output of a command, its CPU and wall seconds, and its peak resident size in bytes."""
    with tempfile.TemporaryFile() as out:
        began = time.monotonic()
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        while True:
            pid, _, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > timeout:
                child.kill()
                os.wait4(child.pid, 0)
                child.returncode = -9
                return None
            time.sleep(0.01)
        child.returncode = 0  # collected above
        wall = time.monotonic() - began
        out.seek(0)
        text = out.read().decode(errors="replace")
    return text, usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024


def with_constants(text, constants):
    """Returns the text of a model with some of its constants changed."""
    for name, value in constants.items():
        text, count = re.subn(rf"(?m)^(\s*{name}\s*:\s*)[^;]*;", rf"\g<1>{value};", text, count=1)
        if count != 1:
            sys.exit(f"there is no constant {name} to change")
    return text


def build_rumur(model, symmetry, threads, folder):
    """Returns the path of Rumur's program for a model, or None and the reason for a failure."""
    source, program = folder / "model.c", folder / "model"
    how = "exhaustive" if symmetry else "off"
    made = subprocess.run(
        ["rumur", f"--symmetry-reduction={how}", "--output-format", "machine-readable",
         "--deadlock-detection", "off", "--max-errors", str(ERRORS_MAX), "--threads", str(threads),
         "--counterexample-trace", "off", "--output", source, model],
        capture_output=True, text=True)
    if made.returncode != 0:
        return None, made.stderr.strip().splitlines()[:1]
    cc = ["gcc", "-std=c11", "-O3", "-march=native", "-w", "-o", program, source, "-pthread"]
    if os.uname().machine == "x86_64":
        cc.insert(1, "-mcx16")
    made = subprocess.run([*cc, "-latomic"], capture_output=True, text=True)
    if made.returncode != 0:
        made = subprocess.run(cc, capture_output=True, text=True)
    if made.returncode != 0:
        return None, made.stderr.strip().splitlines()[:1]
    return program, None


def run_rumur(model, symmetry, threads, folder, timeout):
    program, why = build_rumur(model, symmetry, threads, folder)
    if program is None:
        print(f"rumur, {model.name}: {why}", file=sys.stderr)
        return None
    result = measure([program], timeout)
    if result is None:
        print(f"rumur, {model.name}: not done after {timeout} s", file=sys.stderr)
        return None
    text, cpu, wall, peak = result
    summary = re.search(r'<summary[^>]*?states="(\d+)"[^>]*?rules_fired="(\d+)"', text)
    if summary is None:
        print(f"rumur, {model.name}: no summary; {text[-200:]}", file=sys.stderr)
        return None
    return Run(int(summary[1]), int(summary[2]), cpu, wall, peak)


def run_spillway(model, symmetry, threads, args):
    how = "exact" if symmetry else "off"
    result = measure(
        [args.spillway, "check", model, "--json", "--keep-going", "--no-deadlock",
         "--symmetry", how, "--memory", args.memory, "--threads", str(threads)], args.timeout)
    if result is None:
        sys.exit(f"spillway, {model.name}: not done after {args.timeout} s")
    text, cpu, wall, peak = result
    report = json.loads(text)
    return Run(report["states"], report["transitions"], cpu, wall, peak)


def models(args, folder):
    """Yields the names and paths of the models."""
    for theirs in EXTERNAL_MODELS if args.folder else []:
        found = [path for path in Path(args.folder).rglob(Path(theirs).name)
                 if str(path).endswith("/" + theirs)]
        if not found:
            print(f"{theirs} is not in {args.folder}", file=sys.stderr)
        for path in found[:1]:
            yield Path(theirs).stem, path
    for file, constants in OWN_MODELS:
        text = (ROOT / "models" / "murphi" / file).read_text()
        listed = ",".join(f"{name}={value}" for name, value in constants.items())
        path = folder / file
        path.write_text(with_constants(text, constants))
        yield f"{Path(file).stem} {listed}", path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", help="the folder of external models")
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--memory", default="64MiB")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--no-rumur", action="store_true")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one run")
    parser.add_argument("--symmetry", choices=["off", "on", "both"], default="both")
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    parser.add_argument("--spillway", default=Path(target) / "release" / "spillway")
    args = parser.parse_args()
    counts = [int(count) for count in args.threads.split(",")]

    heads = ["model", "symmetry", "states, rules fired"]
    for tool in ["rumur", "spillway"]:
        heads += [f"{tool}, {n} thread{'s' * (n > 1)}: CPU ns a rule, wall s, MiB" for n in counts]
    heads += ["CPU, one thread: spillway to rumur"]
    print("| " + " | ".join(heads) + " |")
    print("| " + " | ".join(["---"] * len(heads)) + " |")
    kinds = {"off": [False], "on": [True], "both": [False, True]}[args.symmetry]
    own, ratios = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, path in models(args, folder):
            if args.only not in name:
                continue
            for symmetry in kinds:
                ours = [run_spillway(path, symmetry, n, args) for n in counts]
                peers = [None if args.no_rumur else
                         run_rumur(path, symmetry, n, folder, args.timeout) for n in counts]
                agree = {(run.states, run.rules) for run in [*ours, *peers] if run}
                text = f"{ours[0].states:,}, {ours[0].rules:,}"
                if len(agree) > 1:
                    text += "; not all agree: " + "; ".join(f"{s:,}, {r:,}" for s, r in agree)
                cells = [name, "on" if symmetry else "off", text]
                cells += [", ".join(run.cells()) if run else "-" for run in [*peers, *ours]]
                own[symmetry].append(ours[0].cpu / max(ours[0].rules, 1) * 1e9)
                cell = "-"
                if peers[0] and abs(peers[0].rules - ours[0].rules) <= ours[0].rules / 1000:
                    per_rule = peers[0].cpu / max(peers[0].rules, 1) * 1e9
                    ratios[symmetry].append(own[symmetry][-1] / per_rule)
                    cell = f"{ratios[symmetry][-1]:.3f}"
                print("| " + " | ".join([*cells, cell]) + " |", flush=True)
    print()
    for kind in kinds:
        if own[kind]:
            text = f"{statistics.median(own[kind]):.0f} ns a rule fired"
            if ratios[kind]:
                text += f", {statistics.median(ratios[kind]):.3f} of rumur's"
            print(f"Median, one thread, symmetry {'on' if kind else 'off'}: {text}.")


if __name__ == "__main__":
    main()
