"""Tests of `check.py`, with a program in place of `spillway`: `python3 packaging/action/test_check.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check

FAKE = """#!/usr/bin/env python3
import json, sys
file, args = sys.argv[2], sys.argv[3:]
given = dict(zip(args[::2], args[1::2]))
rules = {"good": ["deadlock"], "bad": ["assert", "deadlock"]}
name = file.rsplit("/")[-1].split(".")[0]
if name == "wrong":
    sys.exit(2)
if given.get("--define") == "A B":
    name = "good"
ids = rules[name]
results = [{"ruleId": "deadlock", "ruleIndex": 1}] if name == "bad" else []
note = {"associatedRule": {"id": ids[0], "index": 0}}
run = {
    "tool": {"driver": {"name": "Spillway", "rules": [{"id": it} for it in ids]}},
    "invocations": [{"toolExecutionNotifications": [note]}],
    "results": results,
}
open(given["--sarif"], "w").write(json.dumps({"version": "2.1.0", "runs": [run]}))
open(given["--junit"], "w").write("<testsuites/>")
sys.exit(1 if name == "bad" else 0)
"""


class Checks(unittest.TestCase):
    def setUp(self) -> None:
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.root = Path(kept.name)
        fake = self.root / "bin/spillway"
        fake.parent.mkdir()
        fake.write_text(FAKE, encoding="utf-8")
        fake.chmod(0o755)
        for name in ("m/good.dve", "m/n/bad.dve", "m/wrong.dve"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).touch()

    def run_check(self, files: str, args: str = "") -> tuple[int, dict[str, str], str]:
        output, summary = self.root / "output", self.root / "summary"
        output.write_text("", encoding="utf-8")
        env = {
            "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}",
            "FILES": files,
            "ARGS": args,
            "MEMORY": "64MiB",
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
        }
        script = Path(check.__file__).resolve()
        done = subprocess.run(
            [sys.executable, script], cwd=self.root, env=env, check=False, capture_output=True
        )
        told = dict(line.split("=") for line in output.read_text(encoding="utf-8").splitlines())
        return done.returncode, told, done.stdout.decode()

    def test_all_are_verified(self) -> None:
        code, told, _ = self.run_check("m/good.dve\n")
        self.assertEqual(code, 0)
        self.assertEqual(told, {"sarif": "spillway-results/spillway.sarif", "exit-code": "0"})
        self.assertTrue((self.root / "spillway-results/m-good.dve.xml").exists())

    def test_a_violation_comes_before_other_exit_codes(self) -> None:
        code, told, printed = self.run_check("m/**/*.dve")
        self.assertEqual((code, told["exit-code"]), (0, "1"))
        self.assertIn("::error file=m/n/bad.dve::violated", printed)
        self.assertIn("::error file=m/wrong.dve::wrong", printed)
        results = self.root / "spillway-results"
        names = sorted(it.name for it in results.iterdir())
        self.assertEqual(names, ["m-good.dve.xml", "m-n-bad.dve.xml", "spillway.sarif"])
        runs = json.loads((results / "spillway.sarif").read_text(encoding="utf-8"))["runs"]
        self.assertEqual(len(runs), 1)
        rules = [it["id"] for it in runs[0]["tool"]["driver"]["rules"]]
        self.assertEqual(sorted(rules), ["assert", "deadlock"])
        for result in runs[0]["results"]:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
        notes = [it for one in runs[0]["invocations"] for it in one["toolExecutionNotifications"]]
        for note in notes:
            self.assertEqual(rules[note["associatedRule"]["index"]], note["associatedRule"]["id"])

    def test_a_model_that_is_wrong(self) -> None:
        code, told, _ = self.run_check("m/wrong.dve")
        self.assertEqual((code, told), (0, {"exit-code": "2"}))

    def test_no_file(self) -> None:
        code, told, printed = self.run_check("m/good.dve\nnone/*.dve")
        self.assertEqual((code, told), (2, {"exit-code": "2"}))
        self.assertIn("no file matches `none/*.dve`", printed)

    def test_arguments_are_quoted_as_in_a_shell(self) -> None:
        _, told, _ = self.run_check("m/n/bad.dve", "--define 'A B'")
        self.assertEqual(told["exit-code"], "0")

    def test_names_of_results_differ(self) -> None:
        names = check.result_names(["a/b.dve", "a-b.dve", "./a/b.dve"])
        self.assertEqual(names, ["a-b.dve", "a-b.dve-2", "a-b.dve-3"])


if __name__ == "__main__":
    unittest.main()
