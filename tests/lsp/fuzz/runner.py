"""One run: so many messages to one server, cut anywhere, and the comparison with the reference."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.lsp.fuzz.kinds import KINDS
from tests.lsp.fuzz.world import World
from tests.lsp.in_process import InProcess, frame

ENCODINGS = ("utf-8", "utf-16", "utf-32")
BETWEEN_CHECKS = 150
"""Messages after which all texts are compared, and now and then all answers are waited for."""
SCRIPT = ("value = compute(1, 2)", "def f(a, b):\n    return a + b", "import os\nos.path.join(a)", "x世界😀")
OPTIONS = {
    "completion": {
        "maxTokens": 8,
        "prefixTokens": 64,
        "suffixTokens": 32,
        "deadlineMs": 50,
        "pregenerate": False,
    },
    "background": {"cpuShare": 10},
}
"""Small windows and short texts: it is about messages."""


class FuzzFailure(AssertionError):
    """What did not hold, with the command that shows it again."""


@contextmanager
def logged_faults() -> Iterator[list[str]]:
    """Collect what would be a traceback or an error on standard error."""
    found: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= logging.ERROR or record.exc_info:
                found.append(logging.Formatter("%(name)s: %(message)s").format(record))

    pygls, collector = logging.getLogger("pygls"), Collector()
    level = pygls.level
    pygls.setLevel(logging.CRITICAL + 1)  # as in `cli/serve.py`: it logs what clients get wrong with a traceback
    logging.getLogger().addHandler(collector)
    try:
        yield found
    finally:
        logging.getLogger().removeHandler(collector)
        pygls.setLevel(level)


async def run(messages: int, seed: int, encoding: str) -> Counter[str]:
    """Send `messages` messages and return how many there were of each kind. Raises FuzzFailure."""
    counts: Counter[str] = Counter()
    with logged_faults() as faults:
        try:
            async with InProcess(encodings=(encoding,), options=OPTIONS, script=list(SCRIPT)) as wire:
                await _run(wire, World(seed, encoding), messages, counts)
            if faults:
                raise AssertionError(f"the log has {len(faults)} faults, the first: {faults[0]}")
        except Exception as error:
            again = f"python -m tests.lsp.fuzz --messages {messages} --seed {seed} --encoding {encoding}"
            raise FuzzFailure(f"after {sum(counts.values())} messages: {error!r}\nagain: {again}") from error
    return counts


async def _run(wire: InProcess, world: World, messages: int, counts: Counter[str]) -> None:
    seen = len(wire.answers)
    pipe = random.Random(world.chance.random())
    """Cuts the bytes, and answers the server: apart, so that the messages do not depend on what the server asks."""
    wire.on_request = lambda message: _answer(wire, message, pipe)
    kinds, weights = list(KINDS), [kind.weight for kind in KINDS]
    pending = b""
    while sum(counts.values()) < messages:
        kind = world.chance.choices(kinds, weights)[0]
        made = kind.make(world)
        counts[kind.name] += 1
        pending += made if isinstance(made, bytes) else frame(made)
        if pipe.random() < 0.5:
            cut = pipe.randrange(len(pending) + 1) if pipe.random() < 0.3 else len(pending)
            wire.send_bytes(pending[:cut])
            pending = pending[cut:]
            await asyncio.sleep(0)
        if sum(counts.values()) % BETWEEN_CHECKS == 0:
            wire.send_bytes(pending)
            pending = b""
            await _check_texts(wire, world)
            _take_tokens(wire, world)
            if pipe.random() < 0.3:
                seen = await _check_answers(wire, world, seen)
    wire.send_bytes(pending)
    await _check_texts(wire, world)
    await _check_answers(wire, world, seen)


async def _check_texts(wire: InProcess, world: World) -> None:
    """Wait until everything sent was taken in, and compare the texts."""
    answer = await wire.ask("spark/status")
    held = {document.uri: document.snapshot.text for document in wire.server.documents}
    for uri in sorted(held.keys() | world.texts.keys()):
        ours, theirs = world.texts.get(uri), held.get(uri)
        assert theirs == ours, f"the text of {uri} is {theirs!r} and should be {ours!r}"
    assert answer["result"]["documents"] == len(world.texts)


async def _check_answers(wire: InProcess, world: World, seen: int) -> int:
    """Wait until every request is answered, look at the answers from number `seen` on, and return their number."""

    def found() -> Counter[Any]:
        return Counter(answer["id"] for answer in wire.answers if answer["id"] in world.due)

    try:
        await wire.until(lambda: len(wire.answers) - wire.asked >= world.due.total())
    except asyncio.TimeoutError:
        raise AssertionError(f"without an answer: {world.due - found()}") from None
    assert found() == world.due, f"answered too often: {found() - world.due}, not at all: {world.due - found()}"
    for answer in wire.answers[seen:]:
        assert not (complaint := world.judge(answer)), f"request {answer['id']!r} got {complaint}"
    return len(wire.answers)


def _take_tokens(wire: InProcess, world: World) -> None:
    """Take note of what may be accepted."""
    for answer in wire.answers[-50:]:
        result = answer.get("result")
        for item in result.get("items", ()) if isinstance(result, dict) else ():
            if item.get("command"):
                world.tokens.append(item["command"]["arguments"][0])


def _answer(wire: InProcess, message: dict[str, Any], pipe: random.Random) -> None:
    """Answer a request from the server, rightly or not, once or twice."""
    identity = {"jsonrpc": "2.0", "id": message["id"]}
    told = {**identity, **pipe.choice([{"result": None}, {"result": [3]}, {"error": {"code": 1, "message": "no"}}, {}])}
    for _ in range(pipe.choice([1, 1, 2])):
        wire.send(told)
