"""Checks the links of a rendered book: the page, file and heading of each link exist."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, each with its line, and the targets within the page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[tuple[int, str]] = []
        self.names: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value and tag != "base":
                self.links.append((self.getpos()[0], value))
            if name in ("id", "name") and value:
                self.names.add(value)


def broken(book: Path) -> list[str]:
    """Returns a line for each broken link within the book."""
    pages = {path: Page(path) for path in sorted(book.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        # The first is for any folder of the site, and the second contains all other pages.
        if path.name in ("404.html", "print.html"):
            continue
        for line, link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or not target.is_relative_to(book):
                found.append(f"{path.relative_to(book)}:{line}: {link}: there is no such file")
                continue
            fragment = unquote(parts.fragment)
            if fragment and target in pages and fragment not in pages[target].names:
                found.append(f"{path.relative_to(book)}:{line}: {link}: no such heading")
    return found


def main() -> int:
    book = Path(sys.argv[1]).resolve()
    found = broken(book)
    print("\n".join(found) if found else f"links: all targets exist in {sys.argv[1]}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
