"""What is done where the work is: look whether a machine is fit, and run the binary there.

Ray sends these functions to its workers by value, so that workers need Ray, the binary and the
folder, and not this package. So nothing here uses the rest of the package, and what goes to and fro
is plain: numbers, texts, dictionaries.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

# What cannot be run, as shells have it.
CANNOT_RUN = 127

# How often, a second apart, a file that others have just made is looked for: over NFS that may take
# a moment.
LOOKS = 5

# A child that gets a signal when its parent is gone, whatever became of that. A function that
# `Popen` calls before the program would do, but is not safe beside the threads of a Ray worker.
LEASH = """
import ctypes, os, sys
parent, number, program = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
try:
    ctypes.CDLL(None).prctl(1, number)
except Exception:
    pass
if os.getppid() != parent:
    sys.exit(1)
try:
    os.execvp(program[0], program)
except OSError as error:
    print(f"error: cannot run {program[0]}: {error.strerror}", file=sys.stderr)
    sys.exit(127)
"""


def leashed(argv: list[str], number: int) -> list[str]:
    """The command that runs another, which gets signal `number` when this process is gone."""
    return [sys.executable, "-I", "-S", "-c", LEASH, str(os.getpid()), str(number), *argv]


def run(
    argv: list[str],
    timeout: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Runs a command to its end, or until it is late, or until somebody says stop."""
    began = time.monotonic()
    late = False
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(
            leashed(argv, 9),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            while child.poll() is None and not late and not stopped():
                try:
                    child.wait(0.1)
                except subprocess.TimeoutExpired:
                    late = timeout is not None and time.monotonic() - began > timeout
        finally:
            if child.poll() is None:
                child.kill()
                # One that waits for a disk that does not answer cannot be killed, nor waited for.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(10)
        out.seek(0)
        err.seek(0)
        return {
            "code": child.returncode,
            "out": out.read().decode(errors="replace"),
            "err": err.read().decode(errors="replace"),
            "seconds": time.monotonic() - began,
            "late": late,
            "host": socket.gethostname(),
        }


def digest(path: str) -> str:
    """What tells a file from others."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def unfit(binary: str, version: str, folder: str, job: str) -> str | None:
    """Why this machine cannot work in the folder; None if it can.

    It can if its binary is of the same version as the driver's and it sees the same search there.
    """
    host = socket.gethostname()
    told = run([binary, "--version"], timeout=60)
    if told["code"] == CANNOT_RUN:
        return f"{host}: no `{binary}` can be run there"
    found = told["out"].strip()
    if told["code"] != 0:
        return f"{host}: `{binary} --version` fails with {told['code']}: {told['err'].strip()}"
    if found != version:
        return f"{host}: its `{binary}` is {found}, the driver's is {version}"
    problem = "is never looked at"
    for look in range(LOOKS):
        if look > 0:
            time.sleep(1)
        try:
            if digest(os.path.join(folder, "job")) == job:
                return None
            problem = f"{folder} holds another search there"
        except FileNotFoundError:
            problem = f"{folder} is not there, or holds no search: it is not the driver's folder"
        except OSError as error:
            problem = f"{folder} cannot be read there: {error.strerror}"
    return f"{host}: {problem}"


def work(
    argv: list[str],
    fit: tuple[str, str, str, str],
    timeout: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Runs one task, if this machine is fit: machines may have come since the search began."""
    try:
        why = unfit(*fit)
        return run(argv, timeout, stopped) if why is None else {"unfit": why}
    except OSError as error:
        return {"unfit": f"{socket.gethostname()}: no process can be run there: {error}"}
