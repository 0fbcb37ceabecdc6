#!/usr/bin/env python3
"""Measures the most memory resident in each phase of a search, against the budget.

    benches/resident.py FOLDER [--spillway PATH] [--models N] [--time S] [--memory SIZE,...]
                        [--only NAME] [--of wide,large] [--store S,...] [--threads N]

FOLDER is searched for models (.dve, .pml, .m). Of these the N widest, by bits of a state, and the N
largest, by the states that a `reference.tsv` beside them names, are searched (20 each, if not told
otherwise; with `--of`, only the ones or the others) with each budget: `least`, what `check --memory 0`
says is the minimum, and sizes such as 64MiB. Each search is

    check    for S seconds (20): loading, compiling, the initial states, the search
    resume   for as long again: loading, reading back what was in memory, the search
    status   of what it left
    trace    if something is violated: the way there

and of each process the peak of its resident set is taken from the system when it ends (`ru_maxrss`),
and the one it reports itself. A line says each peak as a share of the budget; above 1.00 the budget is
not kept, which ends the line with `OVER`, and makes the exit code 1. The last lines are the worst
shares of each budget.
"""

import argparse, csv, json, os, pathlib, re, subprocess, sys, tempfile

MIB = 1 << 20
SETS = ("wide", "large")


def run(args, folder):
    """The exit code, the output, and the peak of the resident set in bytes."""
    with open(folder / "out", "w+") as out, open(folder / "err", "w+") as err:
        process = subprocess.Popen(args, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        return process.returncode, out.read(), err.read(), used.ru_maxrss * 1024


def references(folder):
    """The states of each model that a reference names."""
    states = {}
    for table in folder.rglob("reference.tsv"):
        with open(table, newline="") as rows:
            for row in csv.DictReader(rows, delimiter="\t"):
                count = row.get("states") or row.get("cmurphi_states") or row.get("rumur_states")
                if count and count.isdigit():
                    states[table.parent / row["file"]] = int(count)
    return states


def bits(spillway, model, folder):
    """The bits of a state, or none if it is not read."""
    code, out, _, _ = run([spillway, "explain", model], folder)
    found = re.search(r"state of (\d+) bits", out)
    return int(found[1]) if code == 0 and found else None


def chosen(args, folder):
    """The widest and the largest models, each with what it is chosen for."""
    states = references(args.folder)
    models = [it for end in ("dve", "pml", "m") for it in sorted(args.folder.rglob(f"*.{end}"))]
    models = [it for it in models if not args.only or args.only in it.name]
    widths = {it: bits(args.spillway, it, folder) for it in models}
    known = [it for it in models if widths[it]]
    widest = sorted(known, key=lambda it: -widths[it])[: args.models]
    largest = sorted(known, key=lambda it: -states.get(it, 0))[: args.models]
    sets, why = dict(zip(SETS, (widest, largest))), {}
    for name in args.of:
        for it in sets[name]:
            why.setdefault(it, name)
    return [(it, name, widths[it]) for it, name in why.items()]


def set_names(text):
    """The sets that `--of` names."""
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
    """The peaks of the phases, in bytes, each with the one that was reported."""
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
            told = json.loads(out)["peak_rss_bytes"] if phase in ("check", "resume") and out else 0
            peaks[phase] = max(peak, told)
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
    parser.add_argument("--scratch", help="where the search directories are made")
    args = parser.parse_args()
    over, worst = 0, {}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for model, why, width in chosen(args, scratch):
            for size in args.memory.split(","):
                for store in args.store.split(","):
                    whole = least(args, model, store, scratch) if size == "least" else bytes_of(size)
                    name = f"{model.name:32} {why:5} {width:6} bits  {size:6} {store:7}"
                    if whole is None:
                        print(f"{name} no least budget")
                        continue
                    peaks = measure(args, model, whole, store, scratch)
                    if isinstance(peaks, str):
                        over += "works" in peaks or "ends" in peaks
                        print(f"{name} {whole // MIB} MiB: {peaks}", flush=True)
                        continue
                    shares = {phase: peak / whole for phase, peak in peaks.items()}
                    told = "  ".join(f"{phase} {share:.2f}" for phase, share in shares.items())
                    exceeds = max(shares.values()) > 1
                    over += exceeds
                    print(f"{name} {whole // MIB:5} MiB  {told}{'  OVER' if exceeds else ''}", flush=True)
                    for phase, share in shares.items():
                        key = (size, store, why)
                        if share > worst.get(key, {}).get(phase, (0,))[0]:
                            worst.setdefault(key, {})[phase] = (share, model.name)
    for (size, store, why), phases in worst.items():
        told = ", ".join(f"{phase} {share:.2f} ({name})" for phase, (share, name) in phases.items())
        print(f"worst at {size}, {store}, {why} models: {told}")
    print(f"{over} exceed the budget")
    return 1 if over else 0


sys.exit(main())
