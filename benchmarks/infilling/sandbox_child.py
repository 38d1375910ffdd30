"""Runs one program from standard input under limits; started by `sandbox.run` in a process of its own.

The first line of the input is a JSON object with the limits and a token; what follows is the program. The token is
written to standard output only if the program came to its end without an exception. Not a defence against an attacker:
it keeps what a model wrote by mistake from eating the machine, calling out or deleting files.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys

_FORBIDDEN = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.kill",
    "os.startfile", "os.remove", "os.rename", "os.rmdir", "os.truncate", "os.chmod", "os.chown", "os.symlink",
    "os.link", "shutil.", "ctypes.dlopen", "pty.", "signal.", "ftplib.", "smtplib.", "urllib.", "http.",
    "webbrowser.", "winreg.",
)  # fmt: skip
"""Audit events by how they begin; none is needed for a function and its tests."""


def limit(seconds: int, memory: int, file_bytes: int) -> None:
    """Bound what this process may use, where the system has such limits."""
    try:
        import resource
    except ImportError:  # Windows: only the time limit of the parent is left
        return
    bounds = {"CPU": seconds, "AS": memory, "FSIZE": file_bytes, "CORE": 0}
    for name, most in bounds.items():
        with contextlib.suppress(ValueError, OSError):  # macOS refuses a bound on the address space
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: raise PermissionError for what a tested function has no business with."""
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"{event} is not allowed here")


def main() -> None:
    about = json.loads(sys.stdin.readline())
    program = sys.stdin.read()
    report = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    limit(about["seconds"], about["memory"], about["file_bytes"])
    sys.addaudithook(refuse)
    try:
        exec(compile(program, "solution.py", "exec"), {"__name__": "solution"})
    except BaseException:
        os._exit(1)
    os.write(report, about["token"].encode())
    os._exit(0)


if __name__ == "__main__":
    main()
