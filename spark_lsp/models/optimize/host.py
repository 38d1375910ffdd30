"""What measurements depend on beside the model: processor and runtime."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path


def runtime_version() -> str:
    """Return the version of llama-cpp-python, empty when it is not installed; nothing is loaded."""
    try:
        return metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:
        return ""


def cpu_name() -> str:
    """Return the processor as its maker calls it, or the kind of machine where that cannot be found out."""
    name = ""
    try:
        if sys.platform.startswith("linux"):
            lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
            name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
        elif sys.platform == "darwin":
            command = ["sysctl", "-n", "machdep.cpu.brand_string"]
            name = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        pass
    return name or platform.processor() or platform.machine()
