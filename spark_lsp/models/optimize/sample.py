"""The code that variants are judged on: lines cut at random columns, and texts to predict token by token.

Everything follows from the seed and the files, so a run that is continued tomorrow sees the same tasks, and a larger
sample begins with the smaller one.
"""

from __future__ import annotations

import hashlib
import io
import sysconfig
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from random import Random

from spark_lsp.errors import ModelError
from spark_lsp.syntax.languages import PLAIN, language_for

SEED = "spark-lsp optimize 1"
CUTS = 3
"""Cuts of one line. They share the prompt, which is most of the work, and cost only the tokens that are written."""
LINES_ABOVE, LINES_BELOW = 24, 8
"""The excerpt around a line: about 300 tokens, a third of what an editor sends, for three times as many tasks."""
SHORTEST_LINE = 6
"""Characters of code, indentation left out; `pass` or a bracket say nothing."""
LONGEST_LINE = 120
"""Characters; data tables have longer ones."""
LARGEST_FILE = 200_000
"""Bytes; generated tables are larger."""
HELD_OUT_SHARE = 10
"""One file in so many only serves for predictions, and none of its lines is a task."""
HELD_OUT_CHARACTERS = 1000
"""One text to predict: about 300 tokens."""
_SKIPPED = frozenset({"test", "tests", "idle_test", "lib2to3", "encodings", "__pycache__", ".git", "node_modules"})
"""Folders of data, or of code written to be odd."""
_CODE = frozenset({tokenize.NAME, tokenize.OP, tokenize.NUMBER})


@dataclass(frozen=True, slots=True)
class InfillTask:
    """A line to be completed from several columns; each cut is one task."""

    file: str
    above: str
    line: str
    cuts: tuple[int, ...]
    """Columns in ascending order."""
    below: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file by its path and by the name that decides its place in the sample on any machine."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Where tasks come from: the Python installation, and the files that the user gave."""

    installed: tuple[SourceFile, ...]
    given: tuple[SourceFile, ...]

    @property
    def digest(self) -> str:
        """A value that changes when the tasks may change."""
        state = [SEED, f"{CUTS} {LINES_ABOVE} {LINES_BELOW}"]
        state += [f"{file.name} {file.path.stat().st_size}" for file in (*self.installed, *self.given)]
        return hashlib.sha256("\n".join(state).encode("utf-8", "replace")).hexdigest()[:16]

    def tasks(self, lines: int, start: int = 0) -> Iterator[InfillTask]:
        """Yield tasks number `start` to `lines` - 1, alternating between given and installed files where both exist."""
        streams = [_tasks(_ordered(files, held_out=False)) for files in (self.given, self.installed) if files]
        interleaved = (next(streams[number % len(streams)]) for number in count())
        return islice(interleaved, start, lines)

    def held_out(self, texts: int) -> Iterator[tuple[str, str]]:
        """Yield `texts` pairs of a file name and a text from files that no task comes from."""
        return islice(_texts(_ordered(self.given + self.installed, held_out=True)), texts)


def find_sample(given: Sequence[Path] = ()) -> Sample:
    """Return the sample from Python's standard library, and from `given` files and folders.

    Other installed packages would do as well, but then every `pip install` would make it another sample. Raises
    ModelError when there is too little code.
    """
    own = [file for path in given for file in _given_files(path.expanduser())]
    if given and not own:
        raise ModelError("There is no source code in what `--sources` names.", next_step="Name files or folders.")
    sample = Sample(tuple(_python_files(Path(sysconfig.get_path("stdlib")))), tuple(own))
    if len(sample.installed) + len(sample.given) < 2 * HELD_OUT_SHARE:
        raise ModelError("There is too little code to measure with.", next_step="Name a folder with `--sources`.")
    return sample


def _python_files(folder: Path) -> Iterator[SourceFile]:
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        if not _SKIPPED.intersection(relative.parts) and "site-packages" not in relative.parts and _is_fit(path):
            yield SourceFile(path, relative.as_posix())


def _given_files(path: Path) -> Iterator[SourceFile]:
    if path.is_file():
        yield SourceFile(path, path.name)
        return
    for file in sorted(path.rglob("*")):
        relative = file.relative_to(path)
        hidden = any(part.startswith(".") for part in relative.parts)
        if not hidden and language_for("", file.name) is not PLAIN and file.is_file() and _is_fit(file):
            yield SourceFile(file, relative.as_posix())


def _is_fit(path: Path) -> bool:
    try:
        return HELD_OUT_CHARACTERS <= path.stat().st_size <= LARGEST_FILE
    except OSError:
        return False


def _ordered(files: Sequence[SourceFile], *, held_out: bool) -> list[SourceFile]:
    """Return the files of one part in an order that depends on their names alone."""
    keyed = sorted(
        (hashlib.sha256(f"{SEED} {file.name}".encode("utf-8", "replace")).digest(), file.path, file.name)
        for file in files
    )
    chosen = [SourceFile(path, name) for key, path, name in keyed if (key[-1] % HELD_OUT_SHARE == 0) == held_out]
    return chosen or list(files)


def _tasks(files: Sequence[SourceFile]) -> Iterator[InfillTask]:
    """Yield one task of each file, then another of each, without end."""
    unfit: set[Path] = set()
    for turn in count():
        for file in files:
            if file.path in unfit:
                continue
            task = _task_from(file, Random(f"{SEED} {turn} {file.name}"))
            if task is None:
                unfit.add(file.path)
            else:
                yield task
        if len(unfit) == len(files):
            raise ModelError("No file has a line to measure with.", next_step="Name a folder with `--sources`.")


def _task_from(file: SourceFile, random: Random) -> InfillTask | None:
    text = _read(file.path)
    lines = text.split("\n") if text is not None else []
    numbers = _code_lines(text, file.name) if text is not None else set()
    fit = [
        number
        for number in sorted(numbers)
        if number < len(lines)
        and len(lines[number].strip()) >= SHORTEST_LINE
        and len(lines[number].rstrip()) <= LONGEST_LINE
    ]
    if not fit:
        return None
    number = random.choice(fit)
    line = lines[number].rstrip()
    indent = len(line) - len(line.lstrip())
    cuts = random.sample(range(indent, len(line) - 1), min(CUTS, len(line) - 1 - indent))
    above = lines[max(0, number - LINES_ABOVE) : number]
    below = lines[number + 1 : number + 1 + LINES_BELOW]
    return InfillTask(
        file=file.name,
        above="".join(f"{item}\n" for item in above),
        line=line,
        cuts=tuple(sorted(cuts)),
        below="".join(f"\n{item}" for item in below),
    )


def _code_lines(text: str, name: str) -> set[int]:
    """Return the numbers of the lines that hold code, comments and documentation left out where that can be told."""
    if not name.endswith(".py"):
        comment = language_for("", name).line_comment
        return {n for n, line in enumerate(text.split("\n")) if not comment or not line.lstrip().startswith(comment)}
    found = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _CODE:
                found.add(token.start[0] - 1)
    except (tokenize.TokenError, SyntaxError):
        return set()
    return found


def _texts(files: Sequence[SourceFile]) -> Iterator[tuple[str, str]]:
    for turn in count():
        found = False
        for file in files:
            text = _read(file.path)
            if text is None or len(text) < HELD_OUT_CHARACTERS:
                continue
            found = True
            start = Random(f"{SEED} {turn} {file.name}").randrange(len(text) - HELD_OUT_CHARACTERS + 1)
            start = text.rfind("\n", 0, start) + 1
            yield file.name, text[start : start + HELD_OUT_CHARACTERS]
        if not found:
            return


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return None
