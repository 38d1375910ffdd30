"""What background work may take: nothing on battery, and no more than a share of the processor.

Requests are never held back, only what nobody asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from spark_lsp.settings import BackgroundSettings

BATTERY_SECONDS = 30.0
"""How long it is believed that the plug is where it was."""
MOST_PAUSE_SECONDS = 60.0
"""A share so small that more would be due is not kept to the letter."""


FREE = BackgroundSettings(on_battery=True, cpu_share=100)
"""No limits."""


def on_battery() -> bool:
    """Whether this machine runs on battery; False where that cannot be told."""
    import psutil

    try:
        battery = psutil.sensors_battery()  # type: ignore[no-untyped-call,unused-ignore]
    except (AttributeError, OSError, RuntimeError):  # not on every system, or not readable there
        return False
    return battery is not None and battery.power_plugged is False


class Governor:
    """Says when background work may go on. Used by one thread."""

    def __init__(
        self,
        settings: BackgroundSettings,
        cores: int = 1,
        *,
        discharging: Callable[[], bool] = on_battery,
        clock: Callable[[], float] = time.monotonic,
        cpu_seconds: Callable[[], float] = time.process_time,
    ) -> None:
        """Share out the time of `cores`. `cpu_seconds` is what this process took of them since some moment."""
        self._settings = settings
        self._rate = settings.cpu_share / 100 * cores
        self._discharging, self._clock, self._cpu_seconds = discharging, clock, cpu_seconds
        self._battery = False
        self._look_at = float("-inf")
        self._begun = self._spent = 0.0

    def held_seconds(self) -> float:
        """Return 0 if background work is allowed, else the seconds after which to ask again."""
        if self._settings.on_battery:
            return 0.0
        now = self._clock()
        if now >= self._look_at:
            self._battery, self._look_at = self._discharging(), now + BATTERY_SECONDS
        return self._look_at - now if self._battery else 0.0

    def begin(self) -> None:
        """A piece of background work begins now."""
        self._begun, self._spent = self._clock(), self._cpu_seconds()

    def pause_seconds(self) -> float:
        """Return how long to pause for what was taken since `begin`, and begin anew behind the pause; 0 for none."""
        if self._settings.cpu_share >= 100:
            return 0.0
        now, spent = self._clock(), self._cpu_seconds()
        pause = self._begun + (spent - self._spent) / self._rate - now
        if pause <= 0:
            return 0.0
        pause = min(pause, MOST_PAUSE_SECONDS)
        self._begun, self._spent = now + pause, spent
        return pause
