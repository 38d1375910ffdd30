"""The editor that started the server: when it is gone, nobody will ever end the server."""

from __future__ import annotations

import asyncio
import logging
import os

log = logging.getLogger(__name__)

PARENT_POLL_SECONDS = 1.0
"""How often the server looks whether the editor that started it is still alive."""


async def end_with(process: int) -> None:
    """End the server once `process` does not exist any more."""
    await gone(process)
    log.info("The editor is gone")
    raise SystemExit(1)


async def gone(process: int) -> None:
    """Return once `process` does not exist any more."""
    while _alive(process):
        await asyncio.sleep(PARENT_POLL_SECONDS)


def _alive(process: int) -> bool:
    """Whether a process exists. Where that cannot be asked it counts as alive: the closed pipe will end the server."""
    if os.name == "nt" or process <= 0:
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
