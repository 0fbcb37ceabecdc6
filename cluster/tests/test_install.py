"""`pip install ./cluster` builds the package, and leaves no files in the source."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from .conftest import HERE

# Like an installer, calls the build backend of the project in the folder of the source.
BUILD = """
import importlib, re, sys
text = open("pyproject.toml").read()
name = re.search(r'^build-backend = "(.*)"$', text, re.MULTILINE)[1]
builder = importlib.import_module(name)
print(getattr(builder, sys.argv[1])(sys.argv[2]))
"""


def names(folder: Path) -> list[str]:
    """Returns the paths of all files in a folder."""
    return sorted(str(it.relative_to(folder)) for it in folder.rglob("*"))


@pytest.mark.parametrize("what", ["build_wheel", "build_editable", "build_sdist"])
def test_an_installation_leaves_nothing_in_the_source(what: str, tmp_path: Path) -> None:
    source, built = tmp_path / "cluster", tmp_path / "built"
    left_out = shutil.ignore_patterns("__pycache__", ".*_cache", "build", "*.egg-info")
    shutil.copytree(HERE.parent, source, ignore=left_out)
    built.mkdir()
    before = names(source)
    argv = [sys.executable, "-B", "-c", BUILD, what, str(built)]
    run = subprocess.run(argv, cwd=source, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert names(source) == before
    wheel = built / run.stdout.split()[-1]
    assert wheel.exists()
    if what == "build_wheel":
        inside = zipfile.ZipFile(wheel)
        found = {it for it in inside.namelist() if it.startswith("spillway_ray/")}
        package = HERE.parent / "spillway_ray"
        files = [*package.glob("*.py"), package / "py.typed"]
        assert found == {f"spillway_ray/{it.name}" for it in files}
        points = next(it for it in inside.namelist() if it.endswith("entry_points.txt"))
        assert b"spillway-ray=spillway_ray.cli:main" in inside.read(points)
