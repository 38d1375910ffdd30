from __future__ import annotations

import os

import pytest

from benchmarks.infilling.sandbox import Limits, passes

SMALL = Limits(cpu_seconds=1, wall_seconds=600.0, memory=256 << 20)
"""The wall clock is beyond the time limit of a test: only the CPU seconds can end a loop."""
POSIX = pytest.mark.skipif(os.name != "posix", reason="the system has no such limits")


def test_a_program_that_ends_without_an_exception_passes() -> None:
    assert passes("import math\nassert math.sqrt(9) == 3\nprint('noise on stdout')\n")


@pytest.mark.parametrize(
    ("what", "program"),
    [
        ("a failing test", "assert 1 == 2"),
        ("no Python", "def f(:"),
        ("an exit before the tests", "import sys\nsys.exit(0)\nassert False"),
        ("a hard exit before the tests", "import os\nos._exit(0)\nassert False"),
        ("endless recursion", "def f(): return f()\nf()"),
        ("a byte of zero", "x = '\0'"),
    ],
    ids=lambda value: value if " " in value and "\n" not in value else "",
)
def test_a_program_does_not_pass_for(what: str, program: str) -> None:
    assert not passes(program), what


@POSIX
def test_an_endless_loop_is_ended() -> None:
    assert not passes("while True: pass", SMALL)


@POSIX
def test_a_loop_that_swallows_every_exception_is_ended() -> None:
    assert not passes("while True:\n    try:\n        while True: pass\n    except BaseException: pass", SMALL)


@POSIX
def test_memory_beyond_the_limit_is_refused() -> None:
    assert not passes("data = bytearray(1 << 30)", SMALL)
    assert passes("try:\n    bytearray(1 << 30)\nexcept MemoryError: pass\nelse: raise SystemExit", SMALL)


def test_a_program_that_sleeps_is_ended_at_the_time_limit() -> None:
    assert not passes("import time\ntime.sleep(1000)", Limits(wall_seconds=1.0))


@pytest.mark.parametrize(
    "call",
    [
        "import socket; socket.socket()",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import os; os.fork()",
        "import os; os.kill(os.getppid(), 0)",
        "import os; os.remove('absent')",
        "import shutil; shutil.rmtree('absent')",
    ],
)
def test_the_outside_cannot_be_reached(call: str) -> None:
    refused = f"try:\n    {call}\nexcept PermissionError: pass\nelse: raise SystemExit"
    assert passes(refused)


def test_each_program_has_an_empty_folder_of_its_own() -> None:
    program = "import os\nassert os.listdir() == []\nopen('made', 'w').write('x')"
    assert passes(program)
    assert passes(program)


@POSIX
def test_a_file_cannot_grow_beyond_the_limit() -> None:
    assert not passes("open('large', 'wb').write(bytes(1 << 22))")
