"""The functions of workers: the check whether a machine is fit, and commands with any end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from spillway_ray import worker
from spillway_ray.binary import Binary
from spillway_ray.failure import Failure
from spillway_ray.objects import digest
from spillway_ray.stop import Stop

from .conftest import Place


@pytest.fixture
def fit(place: Place, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, str, str]:
    monkeypatch.setattr(worker, "LOOKS", 1)
    place.check()
    job = digest(f"{place.folder}/job")
    return str(place.spillway), "spillway 0.1.0", str(place.folder), job


def test_a_fit_machine(fit: tuple[str, str, str, str]) -> None:
    assert worker.unfit(*fit) is None


def test_unfit_machines(fit: tuple[str, str, str, str], tmp_path: Path) -> None:
    binary, version, folder, job = fit
    assert "no `/nowhere` can be run" in str(worker.unfit("/nowhere", version, folder, job))
    assert "`false --version` fails" in str(worker.unfit("false", version, folder, job))
    assert "the driver's is 2" in str(worker.unfit(binary, "2", folder, job))
    assert "it is not the driver's folder" in str(worker.unfit(binary, version, "/nowhere", job))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "job").write_text("other")
    other = str(tmp_path / "other")
    assert "holds another search" in str(worker.unfit(binary, version, other, job))


def test_a_job_that_is_no_file_is_not_waited_for(
    fit: tuple[str, str, str, str], place: Place
) -> None:
    job = Path(fit[2]) / "job"
    job.rename(job.with_name("elsewhere"))
    for make in (os.mkfifo, lambda it: it.symlink_to("elsewhere"), os.mkdir):
        make(job)
        assert "cannot be read there" in str(worker.unfit(*fit))
        with pytest.raises(Failure, match="there is no search in"):
            Binary(str(place.spillway), str(place.folder), Stop()).fit()
        (os.rmdir if job.is_dir() else os.unlink)(job)


def test_a_job_that_is_seen_late(
    fit: tuple[str, str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "LOOKS", 2)
    folder = Path(fit[2])
    job = (folder / "job").read_text()
    (folder / "job").unlink()
    monkeypatch.setattr(time, "sleep", lambda _: (folder / "job").write_text(job))
    assert worker.unfit(*fit) is None


def test_commands_end_as_they_like() -> None:
    told = worker.run([sys.executable, "-c", "import sys; print(1); sys.exit('two')"], 60)
    assert (told["code"], told["out"], told["err"]) == (1, "1\n", "two\n")
    assert worker.run(["/nowhere"], 60)["code"] == worker.CANNOT_RUN
    late = worker.run(["sleep", "60"], timeout=0.2)
    assert (late["code"], late["err"]) == (None, "it does not end in 0.2 s")


def test_much_output_is_read() -> None:
    told = worker.run([sys.executable, "-c", "print('x' * 1_000_000)"], timeout=30)
    assert len(told["out"]) == 1_000_001


# A server whose answer is the value of the request as a Python expression.
SERVER = "import sys\nfor line in sys.stdin: print(eval(line), flush=True)"


@pytest.fixture
def server() -> Iterator[worker.Server]:
    found = worker.Server(([sys.executable, "-c", SERVER, "folder"], 0))
    yield found
    found.close()


def test_a_server_answers_again_and_again(server: worker.Server) -> None:
    for number in range(3):
        told = server.ask(f"""'{{"code": 0, "number": {number}}}'""")
        assert (told["code"], told["answer"]) == (0, {"code": 0, "number": number})
    told = server.ask("""'{"code": 2, "error": "such as", "more": "' + 'x' * 1_000_000 + '"}'""")
    assert (told["code"], told["err"]) == (2, "such as")
    assert server.is_up


@pytest.mark.parametrize("said", ["no JSON", "[1]", "{}", '{"code": "a"}'])
def test_a_server_that_babbles(server: worker.Server, said: str) -> None:
    told = server.ask(repr(said))
    assert told["code"] == 2
    assert f"answers {said!r}, not an object of JSON" in told["err"]


def test_a_server_that_ends(server: worker.Server) -> None:
    told = server.ask("sys.exit('two')")
    assert (told["code"], told["err"], told["answer"]) == (1, "two\n", None)
    assert not server.is_up
    told = server.ask("1")
    assert (told["code"], told["answer"]) == (1, None)


def test_a_server_that_is_late_or_let_go(server: worker.Server) -> None:
    late = server.ask("__import__('time').sleep(60)", timeout=0.2)
    assert (late["code"], late["late"]) == (-9, True)
    other = worker.Server(([sys.executable, "-c", SERVER, "folder"], 0))
    stopped = other.ask("__import__('time').sleep(60)", stopped=lambda: True)
    assert (stopped["code"], stopped["late"]) == (-9, False)


def test_a_server_is_kept_by_its_thread(fit: tuple[str, str, str, str], place: Place) -> None:
    command = ([fit[0], "task", "serve", fit[2]], 0)

    def plan() -> object:
        told = worker.work(command, "plan --tasks 3", fit)
        assert told["code"] == 0, told
        return worker.SERVERS[threading.get_ident()][1]

    try:
        first = plan()
        assert plan() is first
        # Another search gets another server, and so does a search whose server has ended.
        other = (*fit[:3], "another")
        assert "holds another search" in worker.work(command, "plan --tasks 3", other)["unfit"]
        second = plan()
        assert second is not first
        assert isinstance(second, worker.Server)
        second.close()
        assert plan() is not second
    finally:
        worker.let_go()
    assert not worker.SERVERS


@pytest.mark.skipif(sys.platform != "linux", reason="needs `prctl` of Linux")
def test_the_end_of_a_process_ends_its_command(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    script = (
        "from spillway_ray import worker; "
        f"worker.run(['sh', '-c', 'echo $$ > {mark}; sleep 60'], 60)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    parent = subprocess.Popen([sys.executable, "-c", script], env=environment)
    for _ in range(200):
        if mark.exists() and mark.read_text().strip():
            break
        time.sleep(0.05)
    child = Path("/proc") / mark.read_text().strip()
    assert child.exists()
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    for _ in range(200):
        if not child.exists() or ") Z " in (child / "stat").read_text():
            return
        time.sleep(0.05)
    pytest.fail("the command is still there")
