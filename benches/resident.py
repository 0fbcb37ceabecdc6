#!/usr/bin/env python3
"""Measures the peak of the resident memory in each phase of a search, compared with the budget.

    benches/resident.py FOLDER [--spillway PATH] [--models N] [--time S] [--memory SIZE,...]
                        [--only NAME] [--of wide,large] [--store S,...] [--threads N]

The models are the files .dve, .pml and .m below FOLDER. The script searches the N widest models, by bits of a
state, and the N largest models, by the states in a `reference.tsv` of their folder. N is 20 by default. `--of`
selects one of both sets. Each model is searched with each budget: `least`, the minimum that `check --memory 0`
reports, and sizes such as 64MiB. Each search has these phases:

    check    S seconds (20 by default): loading, compiling, the initial states, the search
    resume   the same time: loading, restoring the data in memory, the search
    status   on the directory
    trace    the counterexample, if there is a violation

The peak of each process is the greater of the system's number at its end (`ru_maxrss`) and the number that it
reports. A line shows each peak as a share of the budget. A share above 1.00 exceeds the budget: the line ends with
`OVER`, and the exit code is 1. The last lines are the worst shares of each budget.
"""

import argparse, csv, json, os, pathlib, re, subprocess, sys, tempfile

MIB = 1 << 20
SETS = ("wide", "large")


def run(args, folder):
    """Returns the exit code, both outputs, and the peak of the resident set in bytes."""
    with open(folder / "out", "w+") as out, open(folder / "err", "w+") as err:
        process = subprocess.Popen(args, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        return process.returncode, out.read(), err.read(), used.ru_maxrss * 1024


def references(folder):
    """Returns the number of states of each model in a reference."""
    states = {}
    for table in folder.rglob("reference.tsv"):
        with open(table, newline="") as rows:
            for row in csv.DictReader(rows, delimiter="\t"):
                count = row.get("states") or row.get("cmurphi_states") or row.get("rumur_states")
                if count and count.isdigit():
                    states[table.parent / row["file"]] = int(count)
    return states


def bits(spillway, model, folder):
    """Returns the bits of a state, or None if the model is rejected."""
    code, out, _, _ = run([spillway, "explain", model], folder)
    found = re.search(r"state of (\d+) bits", out)
    return int(found[1]) if code == 0 and found else None


def choose_models(args, folder):
    """Returns the widest and the largest models, each with the name of its set and its width."""
    states = references(args.folder)
    models = [it for end in ("dve", "pml", "m") for it in sorted(args.folder.rglob(f"*.{end}"))]
    models = [it for it in models if not args.only or args.only in it.name]
    widths = {it: bits(args.spillway, it, folder) for it in models}
    known = [it for it in models if widths[it]]
    widest = sorted(known, key=lambda it: -widths[it])[: args.models]
    largest = sorted(known, key=lambda it: -states.get(it, 0))[: args.models]
    sets, kind = dict(zip(SETS, (widest, largest))), {}
    for name in args.of:
        for it in sets[name]:
            kind.setdefault(it, name)
    return [(it, name, widths[it]) for it, name in kind.items()]


def set_names(text):
    """Returns the sets that `--of` names."""
    names = text.split(",")
    for name in names:
        if name not in SETS:
            raise argparse.ArgumentTypeError(f"`{name}` is neither `wide` nor `large`")
    return names


def bytes_of(size):
    units = {"MiB": MIB, "GiB": 1 << 30}
    return int(float(size[:-3]) * units[size[-3:]])


def threads(args):
    return ["--threads", args.threads] if args.threads else []


def least(args, model, store, folder):
    begin = [args.spillway, "check", "--memory", "0B", "--store", store, model]
    _, _, err, _ = run(begin + threads(args), folder)
    found = re.search(r"minimum for this model is (\d+)MiB", err)
    return int(found[1]) * MIB if found else None


def measure(args, model, budget, store, folder):
    """Returns the peaks of the phases in bytes, or the reason for a failure."""
    peaks = {}
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        place, given = str(pathlib.Path(scratch) / "d"), ["--memory", f"{budget}B", "--json"]
        given += ["--max-time", f"{args.time}s"] + threads(args)
        begin = [args.spillway, "check", model, "--dir", place, "--keep-going", "--store", store]
        for phase, command in [
            ("check", begin + given),
            ("resume", [args.spillway, "resume", place] + given),
            ("status", [args.spillway, "status", place, "--json"]),
            ("trace", [args.spillway, "trace", place]),
        ]:
            code, out, err, peak = run(command, folder)
            if phase == "check" and code == 2:
                return err.strip().splitlines()[0]
            reported = json.loads(out)["peak_rss_bytes"] if phase in ("check", "resume") and out else 0
            peaks[phase] = max(peak, reported)
            if phase == "resume" and code == 2:
                return f"check works, resume does not: {err.strip().splitlines()[0]}"
            if code not in (0, 1, 3):
                return f"{phase} ends with {code}: {err.strip()[:200]}"
    return peaks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--spillway", default="target/release/spillway")
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--time", type=int, default=20)
    parser.add_argument("--memory", default="least,64MiB,256MiB,1GiB")
    parser.add_argument("--store", default="sorted")
    parser.add_argument("--only")
    parser.add_argument("--of", type=set_names, default=",".join(SETS), help="which of both sets")
    parser.add_argument("--threads")
    parser.add_argument("--scratch", help="the folder for the search directories")
    args = parser.parse_args()
    over, worst = 0, {}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for model, kind, width in choose_models(args, scratch):
            for size in args.memory.split(","):
                for store in args.store.split(","):
                    budget = least(args, model, store, scratch) if size == "least" else bytes_of(size)
                    name = f"{model.name:32} {kind:5} {width:6} bits  {size:6} {store:7}"
                    if budget is None:
                        print(f"{name} no least budget")
                        continue
                    peaks = measure(args, model, budget, store, scratch)
                    if isinstance(peaks, str):
                        over += "works" in peaks or "ends" in peaks
                        print(f"{name} {budget // MIB} MiB: {peaks}", flush=True)
                        continue
                    shares = {phase: peak / budget for phase, peak in peaks.items()}
                    listed = "  ".join(f"{phase} {share:.2f}" for phase, share in shares.items())
                    exceeds = max(shares.values()) > 1
                    over += exceeds
                    print(f"{name} {budget // MIB:5} MiB  {listed}{'  OVER' if exceeds else ''}", flush=True)
                    for phase, share in shares.items():
                        key = (size, store, kind)
                        if share > worst.get(key, {}).get(phase, (0,))[0]:
                            worst.setdefault(key, {})[phase] = (share, model.name)
    for (size, store, kind), phases in worst.items():
        listed = ", ".join(f"{phase} {share:.2f} ({name})" for phase, (share, name) in phases.items())
        print(f"worst at {size}, {store}, {kind} models: {listed}")
    print(f"{over} exceed the budget")
    return 1 if over else 0


sys.exit(main())
