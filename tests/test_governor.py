"""Background work keeps to what the user allows."""

from __future__ import annotations

import pytest

from spark_lsp.governor import BATTERY_SECONDS, FREE, MOST_PAUSE_SECONDS, Governor, on_battery
from spark_lsp.settings import BackgroundSettings


class Machine:
    """A clock, a processor and a plug."""

    def __init__(self, **settings: object) -> None:
        self.now = self.cpu = 0.0
        self.discharging = False
        self.looks = 0
        self.governor = Governor(
            BackgroundSettings(**settings),  # type: ignore[arg-type]
            cores=2,
            discharging=self.look,
            clock=lambda: self.now,
            cpu_seconds=lambda: self.cpu,
        )

    def look(self) -> bool:
        self.looks += 1
        return self.discharging


def test_on_battery_it_waits_and_looks_again_now_and_then() -> None:
    machine = Machine()
    assert machine.governor.held_seconds() == 0
    machine.discharging = True
    assert machine.governor.held_seconds() == 0, "looked at a moment ago"
    machine.now += BATTERY_SECONDS
    assert machine.governor.held_seconds() == BATTERY_SECONDS
    machine.now += BATTERY_SECONDS / 2
    assert machine.governor.held_seconds() == BATTERY_SECONDS / 2
    assert machine.looks == 2
    machine.discharging, machine.now = False, machine.now + BATTERY_SECONDS
    assert machine.governor.held_seconds() == 0


def test_who_allows_it_on_battery_is_not_asked_about_the_plug() -> None:
    machine = Machine(on_battery=True)
    machine.discharging = True
    assert machine.governor.held_seconds() == 0
    assert machine.looks == 0


@pytest.mark.parametrize("share", [1, 10, 50, 99])
def test_over_any_number_of_pieces_it_takes_no_more_than_its_share(share: int) -> None:
    machine = Machine(cpu_share=share)
    machine.governor.begin()
    for piece in (0.1, 0.01, 0.3, 0.05) * 5:
        machine.now += piece
        machine.cpu += 2 * piece
        machine.now += machine.governor.pause_seconds()
        assert machine.cpu <= share / 100 * 2 * machine.now + 1e-9


def test_what_takes_less_than_its_share_does_not_pause() -> None:
    machine = Machine(cpu_share=50)
    machine.governor.begin()
    machine.now, machine.cpu = 1.0, 0.9
    assert machine.governor.pause_seconds() == 0


def test_without_a_limit_there_is_no_pause_and_with_a_tiny_one_no_endless_one() -> None:
    for settings, pause in ((FREE, 0.0), (BackgroundSettings(cpu_share=1), MOST_PAUSE_SECONDS)):
        machine = Machine(on_battery=settings.on_battery, cpu_share=settings.cpu_share)
        machine.governor.begin()
        machine.now, machine.cpu = 10.0, 20.0
        assert machine.governor.pause_seconds() == pause


def test_this_machine_can_be_asked() -> None:
    assert on_battery() in (True, False)
