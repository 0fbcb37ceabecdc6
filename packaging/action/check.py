"""The main step of the action: checks each model, writes JUnit and SARIF, and sets the output `exit-code`.

It reads FILES, ARGS, MEMORY and RESULTS from the environment, and writes to the files that GitHub names in GITHUB_OUTPUT
and GITHUB_STEP_SUMMARY. It exits with 0 once every model has a result. A later step fails with the value of `exit-code`.
"""

from __future__ import annotations

import glob
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

# The names of exit codes.
NAMES = {0: "verified", 1: "violated", 2: "wrong", 3: "incomplete", 4: "damaged"}
WRONG = 2


def models(patterns: str) -> list[str]:
    """Returns the files of the patterns, one on each line, in order and without duplicates."""
    found: dict[str, None] = {}
    for pattern in filter(None, map(str.strip, patterns.splitlines())):
        files = sorted(it for it in glob.glob(pattern, recursive=True) if Path(it).is_file())
        if not files:
            raise ValueError(f"no file matches `{pattern}`")
        found.update(dict.fromkeys(files))
    if not found:
        raise ValueError("`files` is empty")
    return list(found)


def result_names(files: list[str]) -> list[str]:
    """Returns a different name for the results of each file."""
    names: list[str] = []
    for file in files:
        plain = file.strip("./").replace("/", "-")
        name, number = plain, 2
        while name in names:
            name, number = f"{plain}-{number}", number + 1
        names.append(name)
    return names


def merged(runs: list[dict]) -> dict:
    """Joins runs of Spillway into one. Code scanning accepts one run of a tool in each category."""
    first = runs[0]
    rules: dict[str, dict] = {}
    for run in runs:
        for rule in run["tool"]["driver"].get("rules", []):
            rules.setdefault(rule["id"], rule)
    numbers = {name: number for number, name in enumerate(rules)}
    whole = {**first, "results": [], "invocations": []}
    whole["tool"] = {"driver": {**first["tool"]["driver"], "rules": list(rules.values())}}
    for run in runs:
        for result in run["results"]:
            result["ruleIndex"] = numbers[result["ruleId"]]
            whole["results"].append(result)
        for invocation in run["invocations"]:
            for note in invocation.get("toolExecutionNotifications", []):
                if "associatedRule" in note:
                    note["associatedRule"]["index"] = numbers[note["associatedRule"]["id"]]
            whole["invocations"].append(invocation)
    return whole


def merge_sarif(parts: list[Path], into: Path) -> bool:
    """Joins SARIF files into one, and removes them. Returns whether there was any."""
    logs = [json.loads(part.read_text(encoding="utf-8")) for part in parts if part.exists()]
    if not logs:
        return False
    log = {**logs[0], "runs": [merged([run for log in logs for run in log["runs"]])]}
    into.write_text(json.dumps(log, indent=2) + "\n", encoding="utf-8")
    for part in parts:
        part.unlink(missing_ok=True)
    return True


def worst(codes: list[int]) -> int:
    """Returns the exit code of several checks: 1 if one is violated, otherwise the greatest code."""
    return 1 if 1 in codes else max(codes)


def tell(variable: str, text: str) -> None:
    """Appends to a file that GitHub reads, if there is one."""
    if name := os.environ.get(variable):
        with open(name, "a", encoding="utf-8") as file:
            file.write(text)


def check(file: str, name: str, results: Path) -> int:
    """Checks a model. Returns the exit code."""
    command = ["spillway", "check", file, "--junit", str(results / f"{name}.xml")]
    command += ["--sarif", str(results / f"{name}.part.sarif")]
    if memory := os.environ.get("MEMORY"):
        command += ["--memory", memory]
    command += shlex.split(os.environ.get("ARGS", ""))
    print(f"::group::{file}", flush=True)
    code = subprocess.run(command, check=False).returncode
    print("::endgroup::", flush=True)
    if code != 0:
        print(f"::error file={file}::{NAMES.get(code, code)}: exit code {code}", flush=True)
    return code


def main() -> int:
    results = Path(os.environ.get("RESULTS") or "spillway-results")
    try:
        files = models(os.environ.get("FILES", ""))
    except ValueError as error:
        print(f"::error::{error}")
        tell("GITHUB_OUTPUT", f"exit-code={WRONG}\n")
        return WRONG
    results.mkdir(parents=True, exist_ok=True)
    names = result_names(files)
    codes = [check(file, name, results) for file, name in zip(files, names)]
    rows = [f"| `{file}` | {NAMES.get(code, code)} |\n" for file, code in zip(files, codes)]
    tell("GITHUB_STEP_SUMMARY", "| model | result |\n| --- | --- |\n" + "".join(rows))
    sarif = results / "spillway.sarif"
    if merge_sarif([results / f"{name}.part.sarif" for name in names], sarif):
        tell("GITHUB_OUTPUT", f"sarif={sarif}\n")
    tell("GITHUB_OUTPUT", f"exit-code={worst(codes)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
