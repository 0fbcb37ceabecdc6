#!/usr/bin/env python3
"""How far off the estimates of `spillway status` are (docs/internals/estimate.md).

    benches/estimate.py SPILLWAY RECORDS MODEL...

Searches each model whole, without reductions, and keeps what it wrote down in RECORDS, where it is taken from the next time.
Then each search is looked at as it was at a tenth, a quarter and half of its time: what was estimated then, and what came.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

FRACTIONS = [0.1, 0.25, 0.5]
LEAST = 1_000_000
FLAGS = ["--keep-going", "--reduce", "none", "--threads", "1", "--memory", "512MiB", "--no-trace"]


def recorded(spillway, records, model):
    """What happened in a search of a model, and the files that say what it is; nothing if it does not come to its end."""
    place = os.path.join(records, model.strip("/").replace("/", "_"))
    if not os.path.exists(place):
        with tempfile.TemporaryDirectory() as folder:
            dir = os.path.join(folder, "d")
            ran = subprocess.run(
                [spillway, "check", model, "--dir", dir, "--max-time", "10min", *FLAGS], capture_output=True
            )
            if ran.returncode not in (0, 1):
                print(f"{model}: left out: {ran.stderr.decode().strip()[-200:]}", file=sys.stderr)
                return None
            os.makedirs(place)
            for name in ["job", "events.jsonl"]:
                with open(os.path.join(dir, name), "rb") as kept, open(os.path.join(place, name), "wb") as copy:
                    copy.write(kept.read())
    with open(os.path.join(place, "job"), "rb") as job, open(os.path.join(place, "events.jsonl")) as events:
        return job.read(), [json.loads(line) for line in events]


def seen(events, seconds):
    """What had happened after so many seconds, as far as that was told by then, and the last sample."""
    kept, length = [], 0
    for event in events:
        if event["event"] == "progress" and event["seconds"] > seconds:
            break
        kept.append(event)
        if event["event"] == "progress":
            length = len(kept)
    return kept[:length], kept[length - 1] if length else None


def estimated(spillway, job, events, sample):
    """What `status` says of a search that is so far."""
    sitting = events[0]
    expanded = sample["states"] - sample["frontier"] + min(sample["expanded"], sample["frontier"])
    status = {
        "version": 1,
        "at": sitting["at"],
        "before": 0.0,
        "budget": sitting["budget"],
        "threads": sitting["threads"],
        "rate": expanded / max(sample["seconds"], 1e-3),
        "now": {name: value for name, value in sample.items() if name != "event"},
        "verdict": None,
    }
    with tempfile.TemporaryDirectory() as dir:
        with open(os.path.join(dir, "job"), "wb") as file:
            file.write(job)
        with open(os.path.join(dir, "events.jsonl"), "w") as file:
            file.writelines(json.dumps(event) + "\n" for event in events)
        with open(os.path.join(dir, "status.json"), "w") as file:
            json.dump(status, file)
        told = subprocess.run([spillway, "status", dir, "--json"], capture_output=True, check=True)
    return json.loads(told.stdout)["estimate"]


def factor(estimate, truth):
    """By how many times it is off, in the logarithm."""
    return abs(math.log(max(estimate, 1e-9) / max(truth, 1e-9)))


def row(fraction, found):
    """A row of the table: how many searches, of how many nothing was said, and how far off the rest was."""
    told = [it for it in found if it]
    cells = [f"{fraction:.0%}", len(found), len(found) - len(told)]
    for name in ["states", "seconds"]:
        off = [it[name] for it in told]
        cells += [f"{math.exp(statistics.median(off)):.2f}", f"{math.exp(statistics.quantiles(off, n=10)[8]):.2f}"]
        cells += [f"{math.exp(max(off)):.1f}"]
    within = sum(it["within"] for it in told)
    cells.append(f"{within} of {len(told)}")
    return "| " + " | ".join(str(it) for it in cells) + " |"


def main():
    spillway, records, *models = sys.argv[1:]
    all_found = {fraction: [] for fraction in FRACTIONS}
    for model in models:
        record = recorded(spillway, records, model)
        if record is None:
            continue
        job, events = record
        last = [event for event in events if event["event"] == "progress"][-1]
        truth, end = last["states"], last["seconds"]
        if truth < LEAST:
            continue
        for fraction in FRACTIONS:
            before, sample = seen(events, fraction * end)
            told = sample and estimated(spillway, job, before, sample)
            found = told and {
                "model": model,
                "states": factor(told["states"]["about"], truth),
                # Of all its time, that before included.
                "seconds": factor(sample["seconds"] + told["seconds_left"]["about"], end),
                "within": told["states"]["low"] <= truth <= told["states"]["high"],
            }
            all_found[fraction].append(found)
            if found and found["states"] > math.log(4):
                times = math.exp(found["states"])
                print(f"{model} at {fraction:.0%}: {times:.1f} times off", file=sys.stderr)
    print("| at | searches | cannot tell | states: median | 90 % | worst | time: median | 90 % | worst | within the band |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for fraction, found in all_found.items():
        print(row(fraction, found))


if __name__ == "__main__":
    main()
