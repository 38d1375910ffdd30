"""The closed set of names of a receiver at a place in the buffer."""

from __future__ import annotations

import re
from dataclasses import replace

from spark_lsp.names.buffer import Buffer
from spark_lsp.names.facts import ClassFacts
from spark_lsp.names.lines import TAB_COLUMNS, read_code
from spark_lsp.names.modules import BUFFER, Target
from spark_lsp.names.receivers import NAMES_OF_CLASSES, Bound, Kind, bindings, names_of

_SELF = frozenset({"self", "cls"})
_WITHIN = re.compile(r"[\w.]")
_FOR_SOME = re.compile(r"\b(?:if|elif)\b.*(?:version_info|platform|os\.name|PY\d|HAS_|HAVE_|hasattr\()")
_ALTERNATIVE = re.compile(r"(?:else|elif|except|finally)\b")
_FIRST_PARAMETER = re.compile(r"(?:async\s+)?def\s+\w+[^(]*\(\s*(\w+)")


class Members:
    """Answers for one place while a text grows there."""

    def __init__(self, buffer: Buffer, before: str, after: str) -> None:
        """Answer for the line `before` + `after` of the document in `buffer`."""
        self._buffer = buffer
        self._line = re.sub(r"\.\w*$", "", before) + " " + after
        """Without the name at the cursor, which is not finished."""
        self._bound: dict[str, list[Bound] | None] = {}

    def of(self, receiver: str, code: str) -> frozenset[str] | None:
        """Return every name that may follow `receiver` and its dot; None if they are not all known.

        `code` is the cursor's line and the suggestion up to there, without comments and strings.
        """
        facts = self._buffer.facts
        if facts.stars or facts.old or not receiver:
            return None
        root, *rest = receiver.split(".")
        if root in _SELF:
            return self._of_self(root, code) if not rest else None
        names = self._of_name(root, rest, code)
        if names is None or self._is_for_some(code[code.rfind("\n") + 1 :]):
            return None
        return names | self._used(receiver, code)

    def _of_name(self, root: str, rest: list[str], code: str) -> frozenset[str] | None:
        buffer, library = self._buffer, self._buffer.library
        if root not in self._bound:
            self._bound[root] = bindings(root, buffer.facts.code.mentioning(root))
        known = self._bound[root]
        more = bindings(root, (line.text for line in read_code(code).lines))
        if known is None or more is None or re.search(rf"\bimport\b[^\n]*\b{re.escape(root)}\b", code):
            return None
        found = [
            Bound(bound.kind, root) if bound.kind is Kind.CLASS else bound for bound in dict.fromkeys((*known, *more))
        ]
        found += [Bound(Kind.IMPORT, written, there) for written, there in buffer.facts.imports.get(root, ())]
        if not rest:
            names, instance = names_of(found, library)
            if names is not None and instance:
                names |= self._put()
            lost = names is not None and (instance or buffer.facts.code.whole is False) and self._is_asked(root, code)
            return None if lost else names
        if len(found) != 1 or found[0].kind is not Kind.IMPORT:
            return None
        target: Target | None = library.imported(BUFFER, found[0].value, found[0].there)
        for name in rest:
            target = library.attribute(target, name) if target is not None else None
        names = library.names(target) if target is not None else None
        return names | NAMES_OF_CLASSES if names is not None and target is not None and target.name else names

    def _of_self(self, root: str, code: str) -> frozenset[str] | None:
        buffer = self._buffer
        line = code[code.rfind("\n") + 1 :]
        found = self._class_around(_column(line))
        if found is None or not buffer.facts.code.whole or re.search(r"^\s*class\b", code, re.MULTILINE):
            return None
        if not self._is_first_parameter(root, found):
            return None
        if found.for_others:
            return None
        names = buffer.library.class_names(BUFFER, replace(found, names=found.names - found.foreign))
        if names is None:
            return None
        for other in buffer.facts.every_class:
            if other is not found and found.name in other.bases:
                below = buffer.library.class_names(BUFFER, other)
                if below is None or len(other.bases) > 1:  # it may use names of the other bases
                    return None
                names |= below
        if not found.foreign <= names | NAMES_OF_CLASSES | self._put():
            return None  # it is made to be a base together with another one
        names |= found.names | self._put()
        if root == "cls":
            names |= NAMES_OF_CLASSES
        return names | self._in_text(root, self._line) | self._assigned(root, code)

    def _put(self) -> frozenset[str]:
        """The attributes that the document assigns to anywhere: what gets them may be of the class in question."""
        return frozenset[str]().union(*(piece.put for piece in self._buffer.facts.code.pieces))

    def _is_for_some(self, code: str) -> bool:
        """Whether the line `code` at the cursor runs in some versions or on some systems only."""
        if _FOR_SOME.search(code):
            return True
        column, alternative = _column(code), _ALTERNATIVE.match(code.lstrip()) is not None
        for line in self._buffer.facts.code.upwards(self._buffer.line):
            if line.column < column or (alternative and line.column == column):
                alternative = _ALTERNATIVE.match(line.text) is not None
                if _FOR_SOME.match(line.text):
                    return True
                column = line.column
            if column == 0 and not alternative:
                break
        return False

    def _class_around(self, column: int) -> ClassFacts | None:
        """The innermost class whose body the cursor's line, indented so far, belongs to."""
        line = self._buffer.line
        around = [one for one in self._buffer.facts.every_class if one.first < line <= one.end and one.column < column]
        return max(around, key=lambda one: one.first, default=None)

    def _is_first_parameter(self, name: str, found: ClassFacts) -> bool:
        """Whether a method of the class, and not of one around it, calls its instance so."""
        column = -1
        for line in self._buffer.facts.code.upwards(self._buffer.line):
            if column != -1 and line.column >= column:
                continue
            if line.first <= found.first:
                break
            column = line.column
            first = _FIRST_PARAMETER.match(line.text)
            if first is not None and first[1] == name:
                return True
        return False

    def _is_asked(self, name: str, code: str) -> bool:
        """Whether the kind or the names of something are asked for, so that it may be more than it seems."""
        asks = re.compile(
            rf"\b(?:isinstance|issubclass|hasattr|getattr|setattr|vars|cast|type)\(\s*{re.escape(name)}\b"
            rf"|\bmatch\s+{re.escape(name)}\b|(?<![\w.]){re.escape(name)}\.__dict__"
        )
        return asks.search(code) is not None or any(map(asks.search, self._buffer.facts.code.mentioning(name)))

    def _used(self, receiver: str, code: str) -> frozenset[str]:
        """The names that other places of the document use on the same receiver."""
        return (
            self._in_text(receiver, self._buffer.text)
            | self._in_text(receiver, self._line)
            | self._assigned(receiver, code)
        )

    @staticmethod
    def _in_text(receiver: str, text: str) -> frozenset[str]:
        found = re.finditer(rf"{re.escape(receiver)}\.(\w+)", text)  # a look behind would be slow at every character
        return frozenset(
            match[1] for match in found if not _WITHIN.match(text, max(match.start() - 1, 0), match.start())
        )

    @staticmethod
    def _assigned(receiver: str, code: str) -> frozenset[str]:
        """The names that the suggestion itself has defined."""
        return frozenset(re.findall(rf"(?<![\w.]){re.escape(receiver)}\.(\w+)\s*(?:=(?!=)|:|,)", code))


def _column(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip())].expandtabs(TAB_COLUMNS))
