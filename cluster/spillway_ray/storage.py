"""The driver's operations on a search in an object store.

Tasks, plans and commits use copies of the files that they need (`objects.Copies`). A session of one
process needs the whole search in a folder. So the search is copied to the folder before the
session, and back after it.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

from .failure import DAMAGED, STOPPED, Failure, Refused, Stale
from .objects import AnotherSearch, Behind, DamagedBucket, Mirror, first_line, job_digest


class Storage:
    """A search below a URL, and the folder on this machine for sessions."""

    def __init__(self, url: str, folder: str, limit: int) -> None:
        self.url, self.folder = url, folder
        # The maximum bytes of copies that a process for tasks keeps.
        self.limit = limit
        try:
            self._mirror = Mirror(url, Path(folder))
        except ImportError as error:
            raise Failure(
                f"`--storage` needs the package obstore: {error}; "
                "`pip install spillway-ray[objects]` installs it"
            ) from error
        except Exception as error:
            # Any error in the URL or in the environment.
            raise Failure(f"`--storage {url}`: {first_line(error)}") from error

    def begin(self) -> None:
        """Records that a search starts here. Fails if there is one already."""
        with self._told():
            there = self._mirror.has_search()
            here = not there and self._mirror.is_begun_here()
            if not there and not here:
                self._mirror.begin()
        if there:
            raise Failure(f"{self.url} holds a search already; `spillway-ray resume` resumes it")
        if here:
            raise Failure(
                f"{self.folder} holds a search that was begun for {self.url}; "
                "`spillway-ray resume` resumes it"
            )

    def take_over(self, is_running: Callable[[], bool]) -> None:
        """Copies the search to the store, if it started in the folder and is not there yet."""
        with self._told():
            if self._mirror.has_search() or not self._mirror.is_begun_here():
                return
            if is_running():
                raise Refused(f"another process searches in {self.folder}", STOPPED)
            self._mirror.push()

    def job(self) -> str:
        """The digest that identifies the search."""
        with self._told():
            found = job_digest(self._mirror.bucket)
        if found is None:
            raise Failure(f"there is no search in {self.url}")
        return found

    @contextlib.contextmanager
    def sitting(self) -> Iterator[None]:
        """Provides the search in the folder while one process searches there."""
        with self._told():
            self._mirror.pull()
        yield
        with self._told():
            self._mirror.push()

    @contextlib.contextmanager
    def look(self) -> Iterator[str]:
        """Provides a folder with the files that `status` reads."""
        keys = ("levels-", "merged-", "candidates-", "frontier-", "fresh-")
        with tempfile.TemporaryDirectory(prefix="spillway-status-") as folder:
            with self._told():
                Mirror(self.url, Path(folder)).pull(lambda name: not name.startswith(keys))
            yield folder

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Converts errors of the store. Most of them may be temporary."""
        try:
            yield
        except Behind as error:
            raise Stale from error
        except AnotherSearch as error:
            raise Failure(str(error)) from error
        except DamagedBucket as error:
            raise Failure(f"{self.url} is damaged: {first_line(error)}", DAMAGED) from error
        except Failure:
            raise
        except Exception as error:
            raise Refused(f"{self.url}: {first_line(error)}", STOPPED) from error
