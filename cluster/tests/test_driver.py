"""The loop: failures of tasks, plans, commits and sessions, and their consequences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spillway_ray.binary import Binary, Plan, Sitting
from spillway_ray.driver import Wishes
from spillway_ray.failure import DAMAGED, STOPPED, WRONG, Failure, Stopped
from spillway_ray.runner import Processes, too_small
from spillway_ray.stop import Stop

from .conftest import HASTE, Place


def test_a_search_is_verified(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    assert place.check() == (0, place.verified)
    told = capfd.readouterr().err
    for it in ("expand  3 tasks", "settle  3 tasks", "merge  3 tasks", "search"):
        assert it in told
    assert "redone" not in told
    assert "stopped at a checkpoint" not in told
    # No task was run twice: there are three in each phase.
    assert place.called("run") == 3 * place.called("commit")


def test_a_violation_has_its_code(tmp_path: Path) -> None:
    place = Place(tmp_path, bad=41)
    code, report = place.check()
    assert code == 1
    assert report.startswith(b"violated")


def test_a_verdict_is_told_once_more(place: Place) -> None:
    place.check()
    again = place.driver().resume()
    assert (again.code, again.report) == (0, place.verified)


def test_a_search_that_ends_before_others_join_in(place: Place) -> None:
    assert place.check(Wishes(thin=10_000)) == (0, place.verified)
    assert place.called("run") == 0


def test_what_cannot_be_shared_out_is_refused_early(place: Place) -> None:
    place.trouble({"command": "plan", "times": 9, "do": "exit", "code": 2, "message": "refused"})
    driver = place.driver(Wishes())
    sat, first = [], driver.binary.sit

    def sit(argv: list[str]) -> Sitting:
        # Simulates a search that is just large enough to be divided into tasks.
        sat.append(argv[argv.index("--max-states") + 1])
        return first([*argv, "--max-states", "2"])

    driver.binary.sit = sit  # type: ignore[method-assign]
    with pytest.raises(Failure, match="error: refused") as failed:
        driver.check(str(place.model))
    assert (failed.value.code, sat) == (WRONG, ["200000"])


def test_a_task_whose_output_is_missing_is_repeated(place: Place) -> None:
    """The output of a task is missing at the commit."""
    driver = place.driver()
    commit = driver.binary.commit

    def commit_without(plan: Plan) -> dict[str, Any]:
        driver.binary.commit = commit  # type: ignore[method-assign]
        (place.folder / f"out-{plan.id}-1").unlink()
        return commit(plan)

    driver.binary.commit = commit_without  # type: ignore[method-assign]
    ended = driver.check(str(place.model))
    assert (ended.code, ended.report) == (0, place.verified)


def test_thin_levels_are_searched_by_one_process(place: Place) -> None:
    assert place.check(Wishes(tasks=2, thin=20)) == (0, place.verified)
    # Sessions do the levels of 1 and 4 states, of 16, and of 4. Tasks expand and settle one of 23.
    assert (place.called("sit"), place.called("commit")) == (3, 2)


@pytest.mark.parametrize(
    "trouble",
    [
        {"command": "run", "task": 1, "times": 4, "do": "kill"},
        {"command": "run", "times": 4, "do": "exit", "code": 3, "message": "the disk is full"},
        {"command": "run", "task": 0, "times": 3, "do": "exit", "code": 5},
        {"command": "run", "task": 1, "times": 3, "do": "end", "code": 1},
        {"command": "run", "task": 1, "times": 3, "do": "exit", "code": 101},
        {"command": "plan", "times": 2, "do": "end", "code": 1},
        {"command": "commit", "times": 2, "do": "end", "code": 1},
        {"command": "sit", "times": 2, "do": "end", "code": 1},
        {"command": "sit", "times": 2, "do": "end", "code": 0},
        {"command": "plan", "times": 3, "do": "exit", "code": 3},
        {"command": "commit", "times": 3, "do": "exit", "code": 3},
        {"command": "commit", "times": 2, "do": "exit", "code": 5},
        {"command": "commit", "times": 2, "do": "kill"},
        {"command": "sit", "times": 3, "do": "exit", "code": 3},
    ],
)
def test_what_passes_is_tried_again(
    place: Place, trouble: dict[str, object], capfd: pytest.CaptureFixture[str]
) -> None:
    place.trouble(trouble)
    assert place.check() == (0, place.verified)
    if trouble["command"] == "run" and trouble.get("code") != 5:
        assert "redone" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("trouble", "code", "message"),
    [
        ({"command": "run", "task": 1, "do": "exit", "code": 3}, STOPPED, "tried 6 times"),
        (
            {"command": "run", "task": 1, "do": "kill"},
            STOPPED,
            "was lost with its worker: its process was ended by SIGKILL",
        ),
        (
            {"command": "run", "task": 1, "do": "end", "code": 1},
            STOPPED,
            "was lost with its worker: exit code 1",
        ),
        ({"command": "commit", "do": "end", "code": 1}, STOPPED, "tried 6 times"),
        ({"command": "run", "task": 1, "do": "exit", "code": 4}, DAMAGED, "as the test wants"),
        ({"command": "run", "do": "exit", "code": 2, "message": "no"}, WRONG, "error: no"),
        ({"command": "run", "do": "exit", "code": 5}, STOPPED, "planned again and again"),
        ({"command": "run", "do": "babble"}, WRONG, "not an object of JSON"),
        ({"command": "plan", "do": "exit", "code": 2, "message": "no"}, WRONG, "error: no"),
        ({"command": "plan", "do": "babble"}, WRONG, "not an object of JSON"),
        ({"command": "commit", "do": "exit", "code": 4}, DAMAGED, "as the test wants"),
        ({"command": "commit", "do": "exit", "code": 3}, STOPPED, "tried 6 times"),
    ],
)
def test_what_does_not_pass_ends_the_run(
    place: Place, trouble: dict[str, object], code: int, message: str
) -> None:
    place.trouble({"times": 100, **trouble})
    with pytest.raises(Failure) as failed:
        place.check()
    assert failed.value.code == code
    assert message in failed.value.message
    # Nothing is lost: without the failures the search continues.
    place.trouble()
    assert place.driver().resume().report == place.verified


def test_a_sitting_without_a_result_is_no_verdict(place: Place) -> None:
    place.trouble({"command": "sit", "times": 99, "do": "end", "code": 1})
    assert place.check() == (-1, b"")


def test_what_cannot_be_closed_changes_no_verdict(place: Place) -> None:
    class Stuck(Processes):
        def close(self) -> None:
            super().close()
            raise OSError(9, "Bad file descriptor")

    ended = place.driver(None, lambda: Stuck(1 << 30)).check(str(place.model))
    assert (ended.code, ended.report) == (0, place.verified)


@pytest.mark.parametrize(
    ("code", "said", "message"),
    [
        (2, "raise --memory to at least this size", "raise --memory-per-task to at least"),
        (3, "or lower --memory or --threads; `spillway", "or lower --memory-per-task; `spillway"),
        (2, "try --memory-limit or --memory", "try --memory-limit or --memory-per-task"),
    ],
)
def test_tasks_have_memory_per_task(place: Place, code: int, said: str, message: str) -> None:
    place.trouble({"command": "run", "times": 99, "do": "exit", "code": code, "message": said})
    with pytest.raises(Failure) as failed:
        place.check()
    assert message in failed.value.message


def test_no_room_is_told_at_once(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    class Small(Processes):
        def room(self) -> int:
            return 0

        def why_no_room(self) -> str:
            return too_small(1 << 30, 3 << 29)

    wishes = Wishes(tasks=3, thin=5)
    ended = place.driver(wishes, lambda: Small(1 << 30)).check(str(place.model))
    assert ended.code == 0
    told = capfd.readouterr().err
    assert "no machine has 1.5GiB of memory for a task: the largest has 1.0GiB" in told
    assert "waiting for a machine that has it" in told


@pytest.mark.parametrize("code", [2, 3, 4])
def test_a_sitting_that_fails_has_its_code(place: Place, code: int) -> None:
    place.trouble({"command": "sit", "times": 99, "do": "exit", "code": code})
    assert place.check()[0] == code
    # A resumed run has the same code.
    assert place.driver().resume().code == code


def test_a_task_that_hangs_is_killed(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    place.trouble({"command": "run", "task": 2, "times": 2, "do": "sleep", "seconds": 60})
    wishes = Wishes(tasks=3, thin=5, timeout=1)
    assert place.check(wishes) == (0, place.verified)
    assert "did not end in 1 s" in capfd.readouterr().err


def test_a_task_that_hangs_for_ever_ends_the_run(place: Place) -> None:
    place.trouble({"command": "run", "task": 2, "times": 99, "do": "sleep", "seconds": 60})
    with pytest.raises(Failure, match=r"did not end in 0\.3 s") as failed:
        place.check(Wishes(tasks=3, thin=5, timeout=0.3))
    assert failed.value.code == STOPPED


def test_missing_files_of_a_stale_plan_do_not_matter(place: Place) -> None:
    """Another driver commits the plan while a task of it runs. The task then misses its files."""
    driver = place.driver()
    place.trouble({"command": "run", "task": 2, "times": 1, "do": "exit", "code": 4})
    is_over = driver._is_over

    def somebody_goes_on(runner: object, plan: object) -> bool:
        place.driver().resume()
        return is_over(runner, plan)  # type: ignore[arg-type]

    driver._is_over = somebody_goes_on  # type: ignore[method-assign]
    ended = driver.check(str(place.model))
    assert (ended.code, ended.report) == (0, place.verified)


def test_a_binary_of_another_version_is_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = place.driver()
    monkeypatch.setenv("FAKE_VERSION", "9.9.9")
    with pytest.raises(Failure, match=r"is spillway 9\.9\.9, the driver's is spillway 0\.1\.0"):
        driver.check(str(place.model))


def test_no_binary(place: Place) -> None:
    with pytest.raises(Failure, match="no command `/nowhere/spillway`"):
        Binary("/nowhere/spillway", str(place.folder), Stop())


def test_no_search(place: Place) -> None:
    with pytest.raises(Failure, match="there is no search in"):
        place.driver().resume()


def test_a_stop_leaves_a_search_that_goes_on(place: Place) -> None:
    driver = place.driver()
    commit = driver.binary.commit

    def commit_and_stop(plan: object) -> object:
        driver.stop.asked += 1
        return commit(plan)  # type: ignore[arg-type]

    driver.binary.commit = commit_and_stop  # type: ignore[method-assign, assignment]
    with pytest.raises(Stopped):
        driver.check(str(place.model))
    assert place.driver().resume().report == place.verified


def test_patience_is_bounded() -> None:
    assert [round(HASTE.after(it), 2) for it in (1, 2, 3, 9)] == [0.01, 0.02, 0.04, 0.3]
