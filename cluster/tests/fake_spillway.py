#!/usr/bin/env python3
"""A `spillway` for tests: the commands that the driver calls, with a real search of a small model.

A model is JSON: `{"modulus": M, "bad": B}`. States are the numbers below M, the first is 1, and x
leads to 5x, 5x + 1, 5x + 2 and 5x + 3. A search violates its property if B is reached. Every
third level is merged.

The file `DIR.trouble` beside the directory injects failures. It is a list of
`{"command", "task", "times", "do", ...}`: the failure of this number of calls. `DIR.calls` has a
line for each call.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

VERSION = os.environ.get("FAKE_VERSION", "0.1.0")
Json = dict[str, Any]

# A search without its first states.
FIRST: Json = {
    "generation": 0,
    "phase": "expand",
    "level": 0,
    "frontier": [1],
    "visited": [1],
    "outputs": [],
    "verdict": None,
}


class Failed(Exception):
    """An exit code other than 0, and the message."""


def fail(code: int, message: str) -> NoReturn:
    raise Failed(code, f"error: {message}")


def put(path: Path, value: object) -> None:
    """Replaces a file atomically, even if other processes do so too."""
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_text(json.dumps(value))
    new.rename(path)


def after(x: int, modulus: int) -> list[int]:
    return [(5 * x + i) % modulus for i in range(4)]


class Search:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "job").exists():
            fail(2, f"there is no search directory {folder}")
        self.job: Json = json.loads((folder / "job").read_text())
        self.saved = self.load()

    def load(self) -> Json:
        """Reads the manifest, or returns the initial one."""
        path = self.folder / "manifest"
        found: Json = json.loads(path.read_text()) if path.exists() else FIRST
        return found

    def trouble(self, command: str, task: int = -1) -> None:
        """Injects the failures of a test."""
        with open(f"{self.folder}.calls", "a") as calls:
            calls.write(f"{command} {task}\n")
        path = Path(f"{self.folder}.trouble")
        for at, it in enumerate(json.loads(path.read_text()) if path.exists() else []):
            if it["command"] != command or it.get("task", task) != task:
                continue
            for time_ in range(it.get("times", 1)):
                try:
                    Path(f"{self.folder}.used-{at}-{time_}").touch(exist_ok=False)
                except FileExistsError:
                    continue
                self.go_wrong(it)

    def go_wrong(self, it: Json) -> None:
        if it["do"] == "exit":
            fail(it["code"], it.get("message", "as the test wants it"))
        if it["do"] == "end":
            # Without an answer, like a process that panics, or whose wrapper cannot start it.
            os._exit(it["code"])
        if it["do"] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if it["do"] == "kill-parent":
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
        if it["do"] == "sleep":
            time.sleep(it["seconds"])
        if it["do"] == "babble":
            print("no JSON", flush=True)
            sys.exit(0)

    def lock(self) -> None:
        self.held = open(self.folder / "lock", "w")  # noqa: SIM115
        try:
            fcntl.flock(self.held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            fail(2, f"{self.folder} is in use by a running search")
        self.saved = self.load()

    def is_running(self) -> bool:
        with open(self.folder / "lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
        return False

    def save(self, **changes: object) -> None:
        self.saved = {**self.saved, **changes, "generation": self.saved["generation"] + 1}
        put(self.folder / "manifest", self.saved)

    def told(self) -> Json:
        states = len(self.saved["visited"])
        return {
            "level": self.saved["level"],
            "states": states,
            "frontier": len(self.saved["frontier"]),
            "transitions": 4 * (states - len(self.saved["frontier"])),
        }

    def is_at_end(self) -> bool:
        return not self.saved["frontier"] or self.job["bad"] in self.saved["visited"]

    def next_level(self, new: list[int]) -> None:
        self.save(
            phase="expand",
            level=self.saved["level"] + 1,
            frontier=sorted(new),
            visited=sorted(self.saved["visited"] + new),
            outputs=[],
        )

    # A plan belongs to a manifest. The first one that is written counts.

    def plan(self, tasks: int, thin: int) -> Json:
        saved = self.saved
        if not (self.folder / "manifest").exists():
            return {"phase": "search", "max_states": 16 * thin, **self.told()}
        if saved["verdict"]:
            return {"phase": "done", "verdict": saved["verdict"], **self.told()}
        if self.is_at_end():
            return {"phase": "search", "max_states": None, **self.told()}
        if saved["phase"] == "expand" and len(saved["frontier"]) < thin:
            limit = len(saved["visited"]) + 1
            return {"phase": "search", "max_states": limit, **self.told()}
        path = self.folder / f"plan-{saved['generation']}"
        if not path.exists():
            text = json.dumps([saved["generation"], saved["phase"], tasks])
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            name = f"{saved['generation']:08}-{saved['phase']}-{digest}"
            made = {"id": name, "tasks": tasks}
            new = path.with_name(f"{path.name}.{os.getpid()}")
            new.write_text(json.dumps(made))
            with contextlib.suppress(FileExistsError):
                os.link(new, path)
            new.unlink()
        made = json.loads(path.read_text())
        return {"phase": saved["phase"], "plan": made["id"], "tasks": made["tasks"], **self.told()}

    def current(self, plan: str) -> int:
        """Returns the number of tasks of the plan, which must be the current one."""
        path = self.folder / f"plan-{self.saved['generation']}"
        found = json.loads(path.read_text()) if path.exists() else {"id": ""}
        if found["id"] != plan:
            fail(5, f"plan {plan} is no longer the current one")
        return int(found["tasks"])

    def outputs(self, plan: str, tasks: int) -> list[list[int]]:
        paths = [self.folder / f"out-{plan}-{task}" for task in range(tasks)]
        for path in paths:
            if not path.exists():
                fail(3, f"{path.name} has not been made")
        return [json.loads(path.read_text()) for path in paths]

    def run(self, plan: str, task: int) -> Json:
        tasks, modulus = self.current(plan), self.job["modulus"]
        if task not in range(tasks):
            fail(2, f"there is no task {task} in {plan}")
        path = self.folder / f"out-{plan}-{task}"
        again = path.exists()
        if self.saved["phase"] == "expand":
            made = {y for x in self.saved["frontier"][task::tasks] for y in after(x, modulus)}
        elif self.saved["phase"] == "settle":
            known = set(self.saved["visited"])
            met = {x for out in self.saved["outputs"] for x in out if x % tasks == task}
            made = met - known
        else:
            made = set()
        put(path, sorted(made))
        return {"task": task, "keys": len(made), "seconds": 0.0, "again": again}

    def commit(self, plan: str) -> Json:
        self.lock()
        outputs = self.outputs(plan, self.current(plan))
        new: list[int] = []
        if self.saved["phase"] == "expand":
            self.save(phase="settle", outputs=outputs)
        elif self.saved["phase"] == "settle":
            new = [x for out in outputs for x in out]
            merged = self.saved["level"] % 3 == 2
            self.next_level(new)
            if merged:
                self.save(phase="merge")
        else:
            self.save(phase="expand")
        return {**self.told(), "new": len(new)}

    def sit(self, limit: float) -> NoReturn:
        self.lock()
        self.trouble("sit")
        # One process starts the level again.
        self.save(phase="expand", outputs=[])
        while not self.is_at_end() and len(self.saved["visited"]) < limit:
            met = {y for x in self.saved["frontier"] for y in after(x, self.job["modulus"])}
            self.next_level(sorted(met - set(self.saved["visited"])))
        states = len(self.saved["visited"])
        if not self.is_at_end():
            print(f"incomplete: {states} states")
            print("stopped at a checkpoint; `spillway resume` resumes it", file=sys.stderr)
            sys.exit(3)
        verdict = "violated" if self.job["bad"] in self.saved["visited"] else "verified"
        self.save(verdict=verdict)
        print(f"{verdict}: {states} states, {self.saved['level']} levels")
        sys.exit(1 if verdict == "violated" else 0)


def begin(model: Path, folder: Path) -> None:
    if (folder / "job").exists():
        fail(2, f"{folder} already holds a search")
    folder.mkdir(parents=True, exist_ok=True)
    put(folder / "job", json.loads(model.read_text()))


def resume(argv: list[str]) -> NoReturn:
    """`resume` has few of the flags of `check`, and rejects the others."""
    asked = argparse.ArgumentParser(prog="spillway resume", allow_abbrev=False)
    asked.add_argument("dir", type=Path)
    asked.add_argument("--max-states", type=float, default=float("inf"))
    for it in ("memory", "threads", "disk-limit", "checkpoint-every", "max-time", "exec"):
        asked.add_argument(f"--{it}")
    for it in ("spin-trail", "report", "junit", "sarif", "notify"):
        asked.add_argument(f"--{it}")
    for it in ("json", "msc", "no-trace", "unfolded", "strict"):
        asked.add_argument(f"--{it}", action="store_true")
    asked.add_argument("--verbose", "-v", action="store_true")
    found = asked.parse_args(argv)
    Search(found.dir).sit(found.max_states)


def stopped(_number: int, _frame: object) -> NoReturn:
    print("incomplete")
    print("stopped at a checkpoint; `spillway resume` resumes it", file=sys.stderr)
    sys.exit(3)


def main(argv: list[str]) -> None:
    if argv == ["--version"]:
        print(f"spillway {VERSION}")
        return
    if argv[0] in ("check", "resume"):
        signal.signal(signal.SIGTERM, stopped)
    flags = dict(zip(argv, argv[1:]))
    limit = float(flags.get("--max-states", "inf"))
    if argv[0] == "check":
        begin(Path(argv[1]), Path(flags["--dir"]))
        Search(Path(flags["--dir"])).sit(limit)
    if argv[0] == "resume":
        resume(argv[1:])
    if argv[0] == "status":
        search = Search(Path(argv[1]))
        print(json.dumps({"running": search.is_running(), **search.told()}))
        return
    if argv[:2] == ["task", "serve"]:
        for line in sys.stdin:
            print(json.dumps(served(Path(argv[2]), line.split())), flush=True)
        return
    fail(2, f"there is no command {argv}")


def served(folder: Path, request: list[str]) -> Json:
    """Returns the answer of a server."""
    try:
        return {"code": 0, **asked(Search(folder), request)}
    except Failed as failed:
        return {"code": failed.args[0], "error": failed.args[1]}


def asked(search: Search, request: list[str]) -> Json:
    command, flags = request[0], dict(zip(request, request[1:]))
    task = int(flags.get("--task", -1))
    search.trouble(command, task)
    if command == "plan":
        return search.plan(int(flags["--tasks"]), int(flags.get("--thin", 1)))
    if command == "run":
        return search.run(flags["--plan"], task)
    if command == "commit":
        return search.commit(flags["--plan"])
    fail(2, f"there is no request {command}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as failed:
        print(failed.args[1], file=sys.stderr)
        sys.exit(failed.args[0])
