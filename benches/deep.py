#!/usr/bin/env python3
"""Measures the CPU time of a breadth-first level in state spaces that are deep and narrow.

    benches/deep.py --spillway PROGRAM [--spillway PROGRAM] [--only NAME] [--repeat N] [--options "..."]

MODELS lists models whose levels have one state or a few. Each program checks each model in turns, `--repeat` times,
without reductions and with the defaults. The time of a level is the CPU time of `spillway check MODEL`, with the
system's part, minus that of the same command with `--max-states 2`, divided by the number of levels. The table has
the least and the greatest time of each program in microseconds. A model has no row with the defaults if the reductions
leave less than a tenth of its levels.

Prints a table in Markdown.
"""

import argparse
import json
import resource
import subprocess
import tempfile
from pathlib import Path


def arrays(size, steps):
    """A process that changes one element of an array of `size` bytes in each step."""
    return f"""
int a[{size // 4}]; int i; int r;
active proctype P() {{
  do :: d_step {{ r < {steps} -> a[i] = a[i] * 5 + r; i = (i + 7) % {size // 4}; r++ }} :: else -> break od
}}"""


# Name: file and text.
MODELS = {
    "counter": (
        "counter.pml",
        """
int x, y, z;
active proctype P() { do :: x < 300000 -> x++; y = x % 7; z = z + 3 :: else -> break od }""",
    ),
    "two processes": (
        "two.pml",
        """
byte turn; int x, y;
active proctype P() { do :: turn == 0 && x < 200000 -> x++; turn = 1 :: x >= 200000 -> break od }
active proctype Q() { do :: turn == 1 && y < 200000 -> y++; turn = 0 :: y >= 200000 -> break od }""",
    ),
    "choices": (
        "choices.pml",
        """
int x; byte y, z;
active proctype P() {
  do :: x < 300000 -> x++; if :: y = 1 - y :: z = 1 - z fi; assert(y + z <= 2 && x >= 0) :: else -> break od
}""",
    ),
    "array of 2 KB": ("array2.pml", arrays(2048, 100_000)),
    "array of 4 KB": ("array4.pml", arrays(4096, 50_000)),
    "Murphi": (
        "counter.m",
        """
var x: 0..599999; y: array [0..7] of 0..255;
startstate begin x := 0; for i: 0..7 do y[i] := 0; end; end;
rule begin x := (x + 1) % 600000; y[x % 8] := x % 256; end;
invariant y[0] >= 0 & x <= 600000;""",
    ),
    "DVE": (
        "counter.dve",
        """
int x = 0; int y = 0; byte z = 0;
process P {
  state a; init a;
  trans
    a -> a { guard x < 30000; effect x = x + 1, z = x % 7; },
    a -> a { guard x == 30000 and y < 20; effect x = 0, y = y + 1; },
    a -> a { guard x == 30000 and y == 20; };
}
system async;""",
    ),
}


def cpu_seconds(command, folder):
    """Returns the CPU time of a command in seconds, and its report."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    time = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    report, _ = json.JSONDecoder().raw_decode(ended.stdout[ended.stdout.index("{") :])
    return time, report


def level_time(command, folder):
    """Returns the microseconds of a level, and the number of levels."""
    start, _ = cpu_seconds([*command, "--max-states", "2"], folder)
    time, report = cpu_seconds(command, folder)
    levels = report["levels"]
    return (time - start) / levels * 1e6, levels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spillway", required=True, action="append")
    parser.add_argument("--only", help="the name of one model")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--options", default="", help="further options of `check`")
    arguments = parser.parse_args()
    programs = [Path(it).resolve() for it in arguments.spillway]
    names = [f"{number}: µs" for number, _ in enumerate(programs, 1)]
    print("|", " | ".join(["model", "reductions", "levels", *names]), "|")
    print("|", " | ".join(["---"] * (3 + len(names))), "|")
    for name, (file, text) in MODELS.items():
        if arguments.only not in (None, name):
            continue
        most = 0
        for reductions in (["--reduce", "none"], []):
            times, levels = [[] for _ in programs], set()
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / file).write_text(text)
                for _ in range(arguments.repeat):
                    for program, measured in zip(programs, times):
                        command = [program, "check", file, "--json", *reductions, *arguments.options.split()]
                        time, count = level_time(command, folder)
                        measured.append(time)
                        levels.add(count)
            assert len(levels) == 1, f"{name}: {levels}"
            count = levels.pop()
            most = max(most, count)
            if 10 * count >= most:
                cells = [f"{min(measured):.2f} to {max(measured):.2f}" for measured in times]
                print("|", " | ".join([name, "none" if reductions else "default", f"{count:,}", *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
