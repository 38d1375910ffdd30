"""Another file with other faults, which the repairs were not developed with."""

from __future__ import annotations

from benchmarks.repairs.faults import Seeded

INVENTORY = '''"""Keeps the stock of a library in a JSON file."""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from dataclasses import asdict, dataclass, field

ISBN = re.compile(r"^\\d{3}-\\d{10}$")


class StockError(Exception):
    """What was asked for cannot be done."""


@dataclass
class Book:
    isbn: str
    title: str
    copies: int = 1
    tags: list[str] = field(default_factory=list)

    def lend(self) -> None:
        if self.copies == 0:
            raise StockError(f"no copy of {self.title} is left")
        self.copies -= 1

    def take_back(self) -> None:
        self.copies += 1


class Inventory:
    def __init__(self, books=()):
        self.books = {book.isbn: book for book in books}

    @classmethod
    def load(cls, path):
        with open(path, encoding="utf-8") as stream:
            return cls(Book(**entry) for entry in json.load(stream))

    def save(self, path):
        entries = [asdict(book) for book in self.books.values()]
        with open(path, "w", encoding="utf-8") as stream:
            json.dump(entries, stream, indent=2)

    def add(self, book):
        if not ISBN.match(book.isbn):
            raise StockError(f"{book.isbn} is no ISBN")
        known = self.books.get(book.isbn)
        if known is None:
            self.books[book.isbn] = book
        else:
            known.copies += book.copies

    def by_tag(self):
        found = defaultdict(list)
        for book in self.books.values():
            for tag in book.tags:
                found[tag].append(book.title)
        return dict(found)

    def search(self, text):
        words = text.lower().split()
        return [
            book
            for book in self.books.values()
            if all(word in book.title.lower() for word in words)
        ]


def report(inventory, width=40):
    lines = []
    for book in sorted(inventory.books.values(), key=lambda book: book.title):
        title = book.title[:width].ljust(width)
        lines.append(f"{title} {book.copies:>4}")
    return "\\n".join(lines)


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--lend", metavar="ISBN")
    return parser.parse_args(arguments)


def main():
    options = parse()
    inventory = Inventory.load(options.file)
    if options.lend:
        try:
            inventory.books[options.lend].lend()
        except (KeyError, StockError) as error:
            print(f"error: {error}")
            return 1
        inventory.save(options.file)
    print(report(inventory))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
'''


def _seeded(name: str, right: str, wrong: str) -> Seeded:
    return Seeded(name, right, wrong, INVENTORY)


HELD_OUT = (
    _seeded("misspelt class", 'raise StockError(f"{book.isbn} is', 'raise StokError(f"{book.isbn} is'),
    _seeded("misspelt loop variable", "found[tag].append(book.title)", "found[tga].append(book.title)"),
    _seeded("wrong module", "ISBN = re.compile", "ISBN = regex.compile"),
    _seeded("missing import of a module", "import json\n", ""),
    _seeded("missing name of an import", "import asdict, dataclass, field", "import dataclass, field"),
    _seeded("forgotten variable", "    words = text.lower().split()\n", ""),
    _seeded("forgotten parameter", "def report(inventory, width=40):", "def report(inventory):"),
    _seeded("missing colon of a class", "class Inventory:", "class Inventory"),
    _seeded("open call", "field(default_factory=list)\n", "field(default_factory=list\n"),
    _seeded("open list", "for word in words)\n        ]", "for word in words)\n"),
    _seeded(
        "wrong bracket",
        "by_tag(self):\n        found = defaultdict(list)",
        "by_tag(self):\n        found = defaultdict(list]",
    ),
    _seeded(
        "word of another language",
        "        else:\n            known.copies",
        "        otherwise:\n            known.copies",
    ),
    _seeded("except without its try", "        try:\n            inventory.books", "            inventory.books"),
    _seeded(
        "body not indented",
        "        if self.copies == 0:\n            raise",
        "        if self.copies == 0:\n        raise",
    ),
    _seeded("open format", '{book.copies:>4}")', '{book.copies:>4")'),
    _seeded("dictionary with equals", "{book.isbn: book for", "{book.isbn= book for"),
)
"""Written in one go before the first run with them, in which 13 were removed, and the open list was made worse: it was
closed at once, with its items left over. That this was taken for proven was a mistake in the proof, mended since."""
