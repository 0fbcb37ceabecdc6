#!/usr/bin/env python3
"""Measures the errors of the estimates of `spillway status` (docs/internals/estimate.md).

    benches/estimate.py SPILLWAY RECORDS MODEL...

Searches the whole state space of each model, without reductions, and keeps its records in the folder RECORDS.
Another call uses the kept records. Then the estimates at a tenth, a quarter and half of the time of each search are
compared with the final numbers.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

FRACTIONS = [0.1, 0.25, 0.5]
STATES_MIN = 1_000_000
FLAGS = ["--keep-going", "--reduce", "none", "--threads", "1", "--memory", "512MiB", "--no-trace"]


def record_search(spillway, records, model):
    """Returns the job and the events of a search of a model. Returns None if the search does not end."""
    place = os.path.join(records, model.strip("/").replace("/", "_"))
    if not os.path.exists(place):
        with tempfile.TemporaryDirectory() as folder:
            dir = os.path.join(folder, "d")
            output = subprocess.run(
                [spillway, "check", model, "--dir", dir, "--max-time", "10min", *FLAGS], capture_output=True
            )
            if output.returncode not in (0, 1):
                print(f"{model}: omitted: {output.stderr.decode().strip()[-200:]}", file=sys.stderr)
                return None
            os.makedirs(place)
            for name in ["job", "events.jsonl"]:
                with open(os.path.join(dir, name), "rb") as kept, open(os.path.join(place, name), "wb") as copy:
                    copy.write(kept.read())
    with open(os.path.join(place, "job"), "rb") as job, open(os.path.join(place, "events.jsonl")) as events:
        return job.read(), [json.loads(line) for line in events]


def events_until(events, seconds):
    """Returns the events that were recorded up to this number of seconds, and the last sample."""
    kept, length = [], 0
    for event in events:
        if event["event"] == "progress" and event["seconds"] > seconds:
            break
        kept.append(event)
        if event["event"] == "progress":
            length = len(kept)
    return kept[:length], kept[length - 1] if length else None


def read_estimate(spillway, job, events, sample):
    """Returns the estimate of `status` for a search with these events."""
    start = events[0]
    expanded = sample["states"] - sample["frontier"] + min(sample["expanded"], sample["frontier"])
    status = {
        "version": 1,
        "at": start["at"],
        "before": 0.0,
        "budget": start["budget"],
        "threads": start["threads"],
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
        output = subprocess.run([spillway, "status", dir, "--json"], capture_output=True, check=True)
    return json.loads(output.stdout)["estimate"]


def factor(estimate, truth):
    """Returns the logarithm of the factor between an estimate and the true number."""
    return abs(math.log(max(estimate, 1e-9) / max(truth, 1e-9)))


def row(fraction, found):
    """Returns a row of the table: the numbers of searches and of those without an estimate, and the errors."""
    errors = [it for it in found if it]
    cells = [f"{fraction:.0%}", len(found), len(found) - len(errors)]
    for name in ["states", "seconds"]:
        factors = [it[name] for it in errors]
        ninth_decile = statistics.quantiles(factors, n=10)[8]
        cells += [f"{math.exp(statistics.median(factors)):.2f}", f"{math.exp(ninth_decile):.2f}"]
        cells += [f"{math.exp(max(factors)):.1f}"]
    within = sum(it["within"] for it in errors)
    cells.append(f"{within} of {len(errors)}")
    return "| " + " | ".join(str(it) for it in cells) + " |"


def main():
    spillway, records, *models = sys.argv[1:]
    all_found = {fraction: [] for fraction in FRACTIONS}
    for model in models:
        record = record_search(spillway, records, model)
        if record is None:
            continue
        job, events = record
        last = [event for event in events if event["event"] == "progress"][-1]
        truth, end = last["states"], last["seconds"]
        if truth < STATES_MIN:
            continue
        for fraction in FRACTIONS:
            before, sample = events_until(events, fraction * end)
            estimate = sample and read_estimate(spillway, job, before, sample)
            found = estimate and {
                "model": model,
                "states": factor(estimate["states"]["about"], truth),
                # The time of the whole search, including the time before the sample.
                "seconds": factor(sample["seconds"] + estimate["seconds_left"]["about"], end),
                "within": estimate["states"]["low"] <= truth <= estimate["states"]["high"],
            }
            all_found[fraction].append(found)
            if found and found["states"] > math.log(4):
                times = math.exp(found["states"])
                print(f"{model} at {fraction:.0%}: {times:.1f} times off", file=sys.stderr)
    print("| at | searches | no estimate | states: median | 90 % | worst | time: median | 90 % | worst | within the band |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for fraction, found in all_found.items():
        print(row(fraction, found))


if __name__ == "__main__":
    main()
