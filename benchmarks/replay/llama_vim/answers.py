"""The plugin's memory of answers: least recently used ones go first, and typing into one finds what is left of it."""

from __future__ import annotations

from collections import OrderedDict

from benchmarks.replay.llama_vim.window import Window

CAPACITY = 250
TYPED_MOST = 128
"""Characters before the cursor that are tried as the beginning of an answer."""
SCROLLED_LINES = 3
"""An answer is also kept for windows that begin up to so many lines further down."""
Key = tuple[str, str]


def key_of(window: Window) -> Key:
    """Return what an answer is remembered by: the text before and after the cursor."""
    return window.prefix + window.middle, window.suffix


def keys_of(window: Window) -> list[Key]:
    """Return all the keys that an answer for `window` is kept under."""
    keys, prefix = [key_of(window)], window.prefix
    for _ in range(SCROLLED_LINES):
        prefix = prefix.partition("\n")[2]
        if not prefix:
            break
        keys.append((prefix + window.middle, window.suffix))
    return keys


class Answers:
    """Texts by key."""

    def __init__(self) -> None:
        self._texts: OrderedDict[Key, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._texts)

    def put(self, keys: list[Key], text: str) -> None:
        """Remember `text` under every key."""
        for key in keys:
            if len(self._texts) >= CAPACITY:
                self._texts.popitem(last=False)
            self._texts[key] = text
            self._texts.move_to_end(key)

    def get(self, key: Key) -> str | None:
        """Return the text of a key, which is then the most recently used one, or None."""
        text = self._texts.get(key)
        if text is not None:
            self._texts.move_to_end(key)
        return text

    def find(self, window: Window) -> str | None:
        """Return the text for a window, or the longest that is left of one whose beginning was typed since, or None."""
        before, suffix = key_of(window)
        exact = self.get((before, suffix))
        if exact is not None:
            return exact
        best = None
        for count in range(1, min(TYPED_MOST, len(before)) + 1):
            text = self.get((before[:-count], suffix))
            if text is not None and text.startswith(before[-count:]):
                left = text[count:]
                if left and (best is None or len(left) > len(best)):
                    best = left
        return best
