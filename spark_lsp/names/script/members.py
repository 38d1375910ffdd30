"""The closed set of names of a receiver at a place in a script."""

from __future__ import annotations

import re

from spark_lsp.names.script.bindings import Bound, How, bindings
from spark_lsp.names.script.bodies import NAME
from spark_lsp.names.script.brackets import Brackets
from spark_lsp.names.script.buffer import ScriptBuffer
from spark_lsp.names.script.closed import As, Target
from spark_lsp.names.script.modules import BUFFER
from spark_lsp.names.script.shapes import Kind, Shape, joined
from spark_lsp.names.script.this import Place, This

_CLASS = re.compile(r"(?<![\w$.#])class\b")
_STEP = r"\s*[?!]?\.\s*"


class ScriptMembers:
    """Answers for one place while a text grows there."""

    def __init__(self, buffer: ScriptBuffer, before: str, after: str) -> None:
        """Answer for the line `before` + `after` of the document in `buffer`."""
        self._buffer = buffer
        self._line = re.sub(r"\.#?[\w$]*$", "", before) + " " + after
        """Without the name at the cursor, which is not finished."""
        self._bound: dict[str, list[Bound] | None] = {}

    def of(self, receiver: str, code: str) -> frozenset[str] | None:
        """Return every name that may follow `receiver` and its dot; None if they are not all known."""
        if not self._buffer.in_code:
            return None
        root, *rest = receiver.split(".")
        targets: list[Target] | None
        if root == "this":
            this = self._this(code)
            if this is None:
                return None
            if not rest:
                names = self._of_this(this)
                return names | self._used(receiver, code) if names is not None else None
            targets = self._declared(this, rest[0])
            rest = rest[1:]
        else:
            targets = self._of_root(root, code)
        for name in rest:
            found = [self._buffer.closed.member(target, name) for target in targets or ()]
            targets = [target for target in found if target is not None]
            if len(targets) != len(found):
                return None
        if not targets or (self._buffer.facts.mocked and any(target.module != BUFFER for target in targets)):
            return None
        return self._of_targets(targets, receiver, code)

    def _of_targets(self, targets: list[Target], receiver: str, code: str) -> frozenset[str] | None:
        names: frozenset[str] = frozenset()
        for target in targets:
            more = self._buffer.closed.names(target)
            if more is None:
                return None
            names |= more
        if self._is_asked(receiver, code):
            return None
        if any(target.kind is As.INSTANCE for target in targets):
            names |= self._put()
        return names | self._used(receiver, code)

    def _this(self, code: str) -> This | None:
        if _CLASS.search(code) is not None:
            return None
        buffer = self._buffer
        return Place(buffer.piece.brackets, buffer.line_start, code).this(buffer.piece.shapes)

    def _of_this(self, this: This) -> frozenset[str] | None:
        buffer, shape = self._buffer, self._merged(this.shape)
        if shape.kind is not Kind.CLASS or (shape.for_others and not buffer.typed):
            return None
        instances = buffer.closed.of_instances(BUFFER, shape)
        if instances is None:
            return None
        if this.static:
            return buffer.closed.of_class(BUFFER, shape)
        if buffer.typed:
            return instances
        for piece in buffer.code.pieces:
            for other in piece.shapes:
                if shape.name and shape.name in other.bases:
                    below = buffer.closed.of_instances(BUFFER, other)
                    if below is None:
                        return None
                    instances |= below
        return instances | self._put()

    def _merged(self, shape: Shape) -> Shape:
        """Join a class with whatever else has its name."""
        other = self._buffer.facts.shapes.get(shape.name)
        return joined(other, shape) if other is not None and other != shape else shape

    def _declared(self, this: This, name: str) -> list[Target] | None:
        shape = self._merged(this.shape)
        if this.static or self._of_this(this) is None:
            return None
        declared = self._buffer.closed.declared(BUFFER, shape, name)
        target = self._buffer.closed.instance(*declared) if declared is not None else None
        return [target] if target is not None else None

    def _of_root(self, root: str, code: str) -> list[Target] | None:
        buffer = self._buffer
        if root not in self._bound:
            self._bound[root] = self._bindings(root)
        known = self._bound[root]
        more = bindings(root, Brackets.of(code))
        if known is None or more is None:
            return None
        found = [bound for bound in dict.fromkeys((*known, *more)) if bound.how is not How.NONE]
        found += [Bound(How.IMPORT, *there) for there in buffer.facts.links.imports.get(root, ())]
        targets = [self._target(root, bound) for bound in found]
        kept = [target for target in targets if target is not None]
        return kept if len(kept) == len(targets) else None

    def _bindings(self, root: str) -> list[Bound] | None:
        found: list[Bound] = []
        for piece in self._buffer.code.pieces:
            more = bindings(root, piece.brackets, piece.links.imported)
            if more is None:
                return None
            found += more
        return found

    def _target(self, root: str, bound: Bound) -> Target | None:
        closed = self._buffer.closed
        if bound.how is How.IMPORT:
            return closed.imported(BUFFER, bound.value, bound.there, As.ITSELF)
        if bound.how is How.SHAPE:
            return closed.resolve(BUFFER, root, As.ITSELF)
        if bound.how is How.ANNOTATION:
            return closed.instance(BUFFER, bound.value)
        if bound.how is How.NEW:
            return closed.resolve(BUFFER, bound.value, As.INSTANCE)
        return None

    def _put(self) -> frozenset[str]:
        """Where anything may be assigned to, what the document does assign to: it may be on what is in question."""
        if self._buffer.typed:
            return frozenset()
        return frozenset[str]().union(*(piece.put for piece in self._buffer.code.pieces))

    def _is_asked(self, receiver: str, code: str) -> bool:
        """Whether the kind or the names of something are asked for, so that it may be more than it seems."""
        path = _STEP.join(map(re.escape, receiver.split(".")))
        asks = re.compile(
            rf"(?<![\w$.]){path}\s*(?:instanceof|as|satisfies)\b|\bin\s+{path}(?![\w$])|\btypeof\s+{path}(?![\w$.?])"
            rf"|(?<![\w$.]){path}\s*\["
            rf"|(?:\b(?:is|has|assert|check|ensure|expect|guard|validate)\w*|\bassign|\bextend|\bdefine\w+|\bmixin\w*|\bmerge"
            rf"|[gG]uard|[tT]ype)(?:<[^()]*>)?\(\s*{path}\s*[,)]"
        )
        last = receiver.rpartition(".")[2]
        texts = (code, self._line, *(piece.code for piece in self._buffer.code.pieces if last in piece.code))
        return any(asks.search(text) for text in texts)

    def _used(self, receiver: str, code: str) -> frozenset[str]:
        """The names that other places of the document use on the same receiver, or the suggestion itself defines."""
        path = _STEP.join(map(re.escape, receiver.split(".")))
        found = re.compile(rf"(?<![\w$.#]){path}{_STEP}(#?{NAME})")
        names = {*found.findall(self._line)}
        if receiver != "this":  # which is another thing elsewhere
            for piece in self._buffer.code.pieces:
                if receiver.partition(".")[0] in piece.text:
                    names.update(found.findall(piece.text))
        defined = rf"(?<![\w$.#]){path}{_STEP}(#?{NAME})\s*(?:\?\?|\|\||&&)?=(?![=>])"
        return frozenset(names) | frozenset(re.findall(defined, code))
