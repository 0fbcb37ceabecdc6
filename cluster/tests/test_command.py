"""The command: runs as separate processes, killed, interrupted, two at a time; rejected input."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spillway_ray import cli
from spillway_ray.binary import Sitting
from spillway_ray.runner import LOCAL, Processes

from .conftest import Place


def test_a_run(place: Place) -> None:
    run = place.start("check")
    out, err = run.communicate(timeout=120)
    assert (run.returncode, out) == (0, place.verified), err
    lines = [it for it in err.decode().splitlines() if it]
    assert all(it.startswith("0:0") for it in lines), lines


def test_a_driver_that_is_killed_goes_on(place: Place) -> None:
    place.trouble(
        {"command": "commit", "times": 1, "do": "kill-parent"},
        {"command": "run", "times": 1, "task": 1, "do": "kill-parent"},
        {"command": "plan", "times": 1, "do": "kill-parent"},
    )
    assert place.start("check").wait(timeout=120) == -9
    killed = 1
    while True:
        run = place.start("resume")
        out, err = run.communicate(timeout=120)
        if run.returncode != -9:
            break
        killed += 1
    assert (run.returncode, out) == (0, place.verified), err
    assert killed == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_tasks_run(place: Place, number: signal.Signals) -> None:
    place.trouble({"command": "run", "task": 1, "times": 1, "do": "sleep", "seconds": 60})
    run = place.start("check")
    place.until(lambda: place.calls()["run 1"] == 1)
    run.send_signal(number)
    out, err = run.communicate(timeout=30)
    assert (run.returncode, out) == (3, b"")
    ours = f"--spillway {place.spillway} --address {LOCAL} --tasks 3 --thin 5"
    hint = re.search(r"stopped; `(.*)` resumes it", err.decode())
    assert hint is not None
    assert set(hint[1].split()) == set(f"spillway-ray resume {place.folder} {ours}".split())
    again = place.start("resume")
    assert again.communicate(timeout=120)[0] == place.verified


def test_a_signal_while_one_process_searches(place: Place) -> None:
    place.trouble({"command": "sit", "times": 1, "do": "sleep", "seconds": 60})
    run = place.start("check")
    place.until(lambda: place.called("sit") == 1)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert (run.returncode, out) == (3, b"incomplete\n")
    assert b"resumes it" in err
    again = place.start("resume")
    assert again.communicate(timeout=120)[0] == place.verified


def test_two_drivers_at_once(place: Place) -> None:
    first = place.start("check", "--", "--any-flag", "of-check")
    place.until(lambda: place.called("run") > 3)
    others = [place.start("resume", "--tasks", "5") for _ in range(2)]
    for run in (first, *others):
        out, err = run.communicate(timeout=200)
        assert (run.returncode, out) == (0, place.verified), err


def test_somebody_resumes_meanwhile(place: Place) -> None:
    place.trouble({"command": "run", "task": 1, "times": 1, "do": "sleep", "seconds": 2})
    run = place.start("check")
    place.until(lambda: place.calls()["run 1"] == 1)
    theirs = subprocess.run([place.spillway, "resume", place.folder], stdout=-1, check=True)
    assert theirs.stdout == place.verified
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (0, place.verified), err


def test_somebody_searches_already(place: Place) -> None:
    subprocess.run(
        [place.spillway, "check", place.model, "--dir", place.folder, "--max-states", "2"],
        stdout=-1,
        check=False,
    )
    place.trouble({"command": "sit", "times": 1, "do": "sleep", "seconds": 2})
    theirs = subprocess.Popen([place.spillway, "resume", place.folder], stdout=-1)
    place.until(lambda: place.called("sit") == 2)
    run = place.start("resume")
    out, err = run.communicate(timeout=60)
    theirs.communicate()
    assert (run.returncode, out) == (0, place.verified), err
    assert b"another process searches in the directory" in err


def test_status_is_the_binary_s(place: Place) -> None:
    place.start("check").communicate(timeout=120)
    argv = [sys.executable, "-m", "spillway_ray", "status", str(place.folder)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    run = subprocess.run(
        [*argv, "--spillway", str(place.spillway)], stdout=-1, env=environment, check=True
    )
    assert json.loads(run.stdout)["running"] is False


def test_codes_and_messages_of_the_binary(place: Place) -> None:
    place.trouble({"command": "plan", "times": 9, "do": "exit", "code": 2, "message": "refused"})
    out, err = (run := place.start("check")).communicate(timeout=60)
    assert (run.returncode, out, err) == (2, b"", b"error: refused\n")
    again = place.start("check")
    assert b"already holds a search" in again.communicate(timeout=60)[1]
    assert again.returncode == 2


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--memory-per-task", "64"], "`64` is no size"),
        (["--tasks", "0"], "`0` is not a number from 1 on"),
        (["--task-timeout", "-1"], "`-1` is no number of seconds"),
        (["--", "--max-states=7"], "`--max-states` cannot stand behind `--`"),
        (["--", "--dir", "x"], "`--dir` cannot stand behind `--`"),
        (["--", "--json", "--reduce=none"], "`spillway resume` has no flag `--reduce`"),
        (["--spillway", "/nowhere"], "no command `/nowhere`"),
        (["--storage", ""], "`` is no URL: `s3://BUCKET/PATH` is one"),
        (["--storage", "bucket/big"], "`bucket/big` is no URL"),
        (["--storage", "s3://"], "`s3://` is no URL"),
    ],
)
def test_what_is_refused(
    flags: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = cli.main(["resume", "somewhere", "--address", LOCAL, *flags])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert message in capsys.readouterr().err


def test_an_exception_is_no_verdict(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Faulty(Processes):
        def room(self) -> int:
            raise ValueError("as the test wants it")

    monkeypatch.setattr(cli, "runner", lambda _address, memory: Faulty(memory))
    argv = place.command("check")[3:]
    argv[argv.index("--tasks") : argv.index("--tasks") + 2] = []
    assert cli.main(argv) == 3
    told = capsys.readouterr().err
    assert "error: ValueError: as the test wants it (test_command.py, line" in told
    monkeypatch.setattr(cli, "refuse_absent", lambda _path: 1 / 0)
    assert cli.main(["status", str(place.folder)]) == 3


def test_how_to_resume_has_all_that_was_asked() -> None:
    """The parser reads the options of the first command from the printed one."""
    flags = {
        "--address": "head:6379",
        "--storage": "s3://bucket/big",
        "--tasks": "64",
        "--memory-per-task": "4GiB",
        "--copies": "20GiB",
        "--thin": "1000000",
        "--task-timeout": "0.5",
        "--spillway": "/opt/my tools/spillway",
    }
    words = [it for pair in flags.items() for it in pair]
    asked = cli.parser().parse_args(["check", "m.pml", "--dir", "/shared/my search", *words])
    behind = ["--memory", "8GiB", "--reduce", "none", "--json"]
    told = shlex.split(cli.how_to_resume(asked, behind))
    at = told.index("--")
    assert told[0] == "spillway-ray"
    assert told[at:] == ["--", "--memory", "8GiB", "--json"]
    again = vars(cli.parser().parse_args(told[1:at]))
    first = vars(asked)
    first.pop("model")
    assert again == {**first, "command": "resume"}
    # Options that were not given are not printed.
    plain = cli.parser().parse_args(["resume", "big"])
    assert cli.how_to_resume(plain, []) == "spillway-ray resume big"


def test_what_did_not_begin_is_not_gone_on_with(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "search", lambda *_: Sitting(-9, b""))
    assert cli.main(place.command("check")[3:]) == 3
    told = capsys.readouterr().err
    assert "resumes it" not in told
    assert "the same command begins it" in told


def test_a_task_that_is_larger_than_the_machine(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(place.command("check", "--memory-per-task", "900TiB")[3:]) == 2
    told = capsys.readouterr().err
    assert "no machine has 900.0TiB of memory for a task: the largest has" in told
    assert "`--memory-per-task` says how much" in told


@pytest.mark.parametrize(
    ("closed", "code"), [("2>&-", 0), ("<&-", 0), ("1>&-", 2), ("2>&- 1>&-", 2)]
)
def test_closed_streams_give_no_verdict(place: Place, closed: str, code: int) -> None:
    argv = ["sh", "-c", f'exec "$@" {closed}', "sh", *place.command("check")]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    run = subprocess.run(argv, env=environment, capture_output=True, check=False)
    assert run.returncode == code, run.stderr
    assert run.stdout == (place.verified if code == 0 else b"")
    if closed == "1>&-":
        assert b"error: the result cannot be written: standard output is closed" in run.stderr


def test_sizes() -> None:
    sizes = {"1KiB": 1024, "4G": 4 << 30, "64MB": 64_000_000, "4096B": 4096, "1.5GiB": 3 << 29}
    assert {it: cli.size(it) for it in sizes} == sizes


def test_standard_output_is_the_report_whatever_a_runner_prints(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    class Talking(Processes):
        def room(self) -> int:
            print("a machine is lost")
            return super().room()

    monkeypatch.setattr(cli, "runner", lambda _address, memory: Talking(memory))
    argv = place.command("check")[3:]
    argv[argv.index("--tasks") : argv.index("--tasks") + 2] = []
    assert cli.main(argv) == 0
    told = capfdbinary.readouterr()
    assert told.out == place.verified
    assert b"a machine is lost" in told.err
