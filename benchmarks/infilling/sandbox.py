"""Whether a program that a model wrote passes its tests, found out in a process with little to spend."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CHILD = Path(__file__).with_name("sandbox_child.py")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use."""

    cpu_seconds: int = 5
    """The tests of HumanEval take milliseconds."""
    wall_seconds: float = 30.0
    """For programs that sleep, and for busy machines; a loop ends at the CPU seconds."""
    memory: int = 1 << 30
    """Bytes of address space."""
    file_bytes: int = 1 << 20
    """Largest file that it may write to its temporary folder."""


def passes(program: str, limits: Limits | None = None) -> bool:
    """Return whether `program` runs to its end without an exception and within the limits.

    It runs in its own temporary folder and session, without sockets and child processes.
    """
    limits = limits or Limits()
    token = secrets.token_hex(8)
    about = {
        "seconds": limits.cpu_seconds,
        "memory": limits.memory,
        "file_bytes": limits.file_bytes,
        "token": token,
    }
    given = f"{json.dumps(about)}\n{program}".encode("utf-8", "replace")
    with tempfile.TemporaryDirectory(prefix="spark-infilling-", ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-X", "utf8", str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={"PATH": os.defpath, "HOME": folder, "TMPDIR": folder, "PYTHONHASHSEED": "0", **_windows()},
            start_new_session=os.name == "posix",
        )
        try:
            printed, _ = process.communicate(given, timeout=limits.wall_seconds)
        except subprocess.TimeoutExpired:
            return False
        finally:
            _end(process)
    return process.returncode == 0 and printed == token.encode()


def _windows() -> dict[str, str]:
    """Return what Python needs there to start at all."""
    return {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and what it may have started, by their id, and wait until it is gone."""
    if process.poll() is None:
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.communicate()
