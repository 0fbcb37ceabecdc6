"""The command `spillway-ray`: flags, messages, exit codes."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import subprocess
import sys
import traceback

from . import __version__
from .apart import Ended, run_apart
from .binary import Binary, Sitting, refuse_absent
from .driver import Driver, Wishes
from .failure import (
    DAMAGED,
    STOPPED,
    VERIFIED,
    VIOLATED,
    WRONG,
    Failure,
    Lost,
    Stopped,
    Unreachable,
)
from .flags import of_resume, refuse
from .objects import first_line
from .phase import Patience
from .progress import Progress
from .runner import LOCAL, Processes, Runner
from .stop import Stop
from .storage import Storage

# The possible exit codes of a run (`docs/reference/exit-codes.md`).
CODES = (VERIFIED, VIOLATED, WRONG, STOPPED, DAMAGED)

UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS.update({f"{k}{tail}": 2 ** (10 * i) for i, k in enumerate("KMGT", 1) for tail in ("", "iB")})


def size(text: str) -> int:
    """Reads a size as the binary does: `64MiB` and `64M` are powers of two, `64MB` of ten."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]+)", text)
    if found is None or found[2] not in UNITS or float(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"`{text}` is no size: `64MiB`, `4GiB`, `200GB` are")
    return int(float(found[1]) * UNITS[found[2]])


def memory(text: str) -> str:
    """Checks a size, and returns it as written."""
    size(text)
    return text


def url(text: str) -> str:
    """Checks a URL of an object store, and returns it as written. It must not be empty."""
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://.", text):
        raise argparse.ArgumentTypeError(f"`{text}` is no URL: `s3://BUCKET/PATH` is one")
    return text


def at_least_one(text: str) -> int:
    """Reads a number from 1."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 1 on")
    return int(text)


def seconds(text: str) -> float:
    """Reads a time in seconds."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not found > 0:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of seconds above 0")
    return found


def parser() -> argparse.ArgumentParser:
    """The parser of the command line without the flags after `--`."""
    top = argparse.ArgumentParser(
        prog="spillway-ray",
        description="One Spillway search on several machines.",
        epilog="Flags after `--` are passed to `spillway check` or `spillway resume`.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"spillway-ray {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="start a search", allow_abbrev=False)
    check.add_argument("model", metavar="MODEL", help="the model's file, on this machine")
    check.add_argument("--dir", required=True, help="a new search directory in a shared folder")
    resume = commands.add_parser("resume", help="resume a search", allow_abbrev=False)
    resume.add_argument("dir", metavar="DIR", help="the search directory")
    status = commands.add_parser("status", help="print the status of a search", allow_abbrev=False)
    status.add_argument("dir", metavar="DIR", help="the search directory")
    for it in (check, resume):
        wishes(it)
    for it in (check, resume, status):
        it.add_argument(
            "--storage",
            type=url,
            metavar="URL",
            help="the object store of the search, such as s3://BUCKET/PATH; the search directory "
            "is then only a copy on this machine",
        )
        it.add_argument(
            "--spillway", default="spillway", metavar="PATH", help="the binary, on all machines"
        )
    return top


def wishes(it: argparse.ArgumentParser) -> None:
    """Adds the flags of a run."""
    it.add_argument(
        "--address",
        help=f"the cluster, as `ray.init` accepts it; `{LOCAL}` runs processes on this machine, "
        "without Ray [default: RAY_ADDRESS, or the cluster on this machine, or a new one]",
    )
    it.add_argument(
        "--tasks",
        type=at_least_one,
        metavar="N",
        help="tasks of a phase [default: 3 for each that can run at the same time]",
    )
    it.add_argument(
        "--memory-per-task",
        type=memory,
        default="2GiB",
        metavar="SIZE",
        help="memory of a task [default: 2GiB]",
    )
    it.add_argument(
        "--copies",
        type=memory,
        default="10GiB",
        metavar="SIZE",
        help="with --storage, the maximum size of the copies on a worker [default: 10GiB]",
    )
    it.add_argument(
        "--thin",
        type=at_least_one,
        metavar="STATES",
        help="one process searches levels of fewer states",
    )
    it.add_argument(
        "--task-timeout",
        type=seconds,
        metavar="SECONDS",
        help="a task that takes longer is killed and run again [default: no limit]",
    )


def runner(address: str | None, memory_per_task: int) -> Runner:
    """Creates the runner of tasks. Ray is imported only if it is used."""
    if address == LOCAL:
        return Processes(memory_per_task)
    try:
        from .by_ray import Cluster  # noqa: PLC0415
    except ImportError as error:
        raise Failure(f"Ray is not installed: {error}; `--address {LOCAL}` works") from error
    return Cluster(address, memory_per_task)


def status(asked: argparse.Namespace, flags: list[str]) -> int:
    """Runs `status` of the binary, and returns its exit code."""
    try:
        refuse_absent(asked.spillway)
        with contextlib.ExitStack() as stack:
            folder = asked.dir
            if asked.storage is not None:
                folder = stack.enter_context(Storage(asked.storage, asked.dir, 0).look())
            code = subprocess.call([asked.spillway, "status", folder, *flags])
        return code if code >= 0 else STOPPED
    except KeyboardInterrupt:
        return STOPPED
    except Failure as failure:
        Progress().say(failure.message)
        return failure.code
    except Exception as error:
        Progress().say(unexpected(error))
        return STOPPED


def search(asked: argparse.Namespace, flags: list[str], stop: Stop, goes_on: bool) -> Sitting:
    """Does a run, and returns its last session."""
    folder = os.path.abspath(asked.dir)
    storage = None
    if asked.storage is not None:
        storage = Storage(asked.storage, folder, size(asked.copies))
    binary = Binary(asked.spillway, folder, stop, storage)
    wished = Wishes(
        memory=asked.memory_per_task,
        tasks=asked.tasks,
        thin=asked.thin,
        timeout=asked.task_timeout,
        flags=flags,
    )
    room = size(asked.memory_per_task)
    driver = Driver(binary, lambda: runner(asked.address, room), wished, Progress(), Patience())
    return driver.resume() if goes_on else driver.check(asked.model)


def ended(asked: argparse.Namespace, flags: list[str], stop: Stop, goes_on: bool) -> Ended:
    """Does a run. Converts exceptions: exit code 1 is a verdict, never that of an exception."""
    try:
        # Standard output is only for the report. Ray prints there when a machine is lost.
        with contextlib.redirect_stdout(sys.stderr):
            sitting = search(asked, flags, stop, goes_on)
        code = sitting.code if sitting.code in CODES else STOPPED
        return Ended(code, sitting.report)
    except (Stopped, KeyboardInterrupt, SystemExit):
        # Ray has its own handler for signals while it starts.
        return Ended(STOPPED)
    except Failure as failure:
        was_reached = isinstance(failure, Lost)
        is_away = was_reached or isinstance(failure, Unreachable)
        return Ended(failure.code, b"", failure.message, is_away, was_reached)
    except Exception as error:
        return Ended(STOPPED, message=unexpected(error))


def unexpected(error: Exception) -> str:
    """The message of an unexpected exception."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(at.filename)}, line {at.lineno}"
    why = f"{type(error).__name__}: {first_line(error)}"
    return f"error: {why} ({where})\n  help: this is a fault of spillway-ray; please report it"


def run(asked: argparse.Namespace, flags: list[str]) -> Ended:
    """Does a run. A run with Ray is done in a separate process."""
    stop, goes_on = Stop(), asked.command == "resume"
    stop.listen()
    try:
        refuse(flags, not goes_on)
        if asked.address == LOCAL:
            return ended(asked, flags, stop, goes_on)
        return run_apart(
            lambda again: ended(asked, flags, stop, again),
            goes_on,
            lambda: is_begun(asked),
            stop,
            Patience(),
        )
    except Stopped:
        return Ended(STOPPED)
    except Failure as failure:
        return Ended(failure.code, message=failure.message)


def how_to_resume(asked: argparse.Namespace, flags: list[str]) -> str:
    """The command that resumes a search with the same options."""
    words = ["spillway-ray", "resume", asked.dir]
    defaults = parser().parse_args(["resume", asked.dir])
    for name, default in vars(defaults).items():
        value = getattr(asked, name)
        if name not in ("command", "dir") and value != default:
            shown = f"{value:g}" if isinstance(value, float) else str(value)
            words += [f"--{name.replace('_', '-')}", shown]
    kept = of_resume(flags)
    return shlex.join(words + (["--", *kept] if kept else []))


def is_begun(asked: argparse.Namespace) -> bool:
    """Whether there is a search, which `resume` can continue."""
    return asked.command == "resume" or os.path.isfile(os.path.join(asked.dir, "job"))


def write(report: bytes) -> int:
    """Prints the last report. A reader that closes the pipe does not change the exit code."""
    if sys.stdout is None:
        if report:
            Progress().say("error: the result cannot be written: standard output is closed")
        return WRONG if report else 0
    try:
        sys.stdout.buffer.write(report)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"error: the result cannot be written: {error.strerror}", file=sys.stderr)
        return WRONG
    return 0


def open_streams() -> None:
    """Opens the standard streams that the parent of this process has closed.

    Otherwise a file that is opened later could get the number of one, and receive messages.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The new file gets the lowest free number.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def main(argv: list[str] | None = None) -> int:
    """Runs the command, and returns its exit code."""
    try:
        open_streams()
        return command(sys.argv[1:] if argv is None else argv)
    except Exception as error:
        Progress().say(unexpected(error))
        return STOPPED


def command(argv: list[str]) -> int:
    """Reads the command line, runs the command, prints its result, and returns the exit code."""
    at = argv.index("--") if "--" in argv else len(argv)
    asked, flags = parser().parse_args(argv[:at]), argv[at + 1 :]
    if asked.command == "status":
        return status(asked, flags)
    progress = Progress()
    found = run(asked, flags)
    failed = write(found.report)
    if found.message:
        progress.say(found.message)
    if found.code == STOPPED and is_begun(asked):
        progress.say(f"stopped; `{how_to_resume(asked, flags)}` resumes it")
    elif found.code == STOPPED:
        progress.say("stopped before there was a search: the same command begins it")
    return failed or found.code
