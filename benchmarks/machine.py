"""What a table was measured on, and the two lines that say so."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from spark_lsp import __version__


def machine() -> dict[str, Any]:
    """Return processor, cores, load and versions, as they are printed above every table."""
    import llama_cpp

    cpu = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    for line in information.read_text().splitlines() if information.exists() else []:
        if line.startswith("model name"):
            cpu = line.partition(":")[2].strip()
            break
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "llama-cpp-python": llama_cpp.__version__,
        "spark-lsp": __version__,
    }


def heading(measured: dict[str, Any]) -> str:
    """Return what stands above every table: the machine, then the model and the extent of the run.

    `measured` is what a benchmark writes with `--json`: `machine`, `model` (name or path) and `run` are used.
    """
    return f"{machine_line(measured)}\n\nmodel {Path(measured['model']).name}, {measured['run']}"


def machine_line(measured: dict[str, Any]) -> str:
    """Return the first of these lines."""
    return ", ".join(f"{name} {value}" for name, value in measured["machine"].items())
