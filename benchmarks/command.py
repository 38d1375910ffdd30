"""What the commands of benchmarks that can be resumed have in common: how they end, and what they write."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def carry_out(
    run: Callable[[], dict[str, Any]],
    render: Callable[[dict[str, Any]], str],
    file: Path | None,
    failures: tuple[type[Exception], ...],
) -> None:
    """Print what `run` measured, as `render` writes it, and put it into `file`.

    One of `failures`, or Ctrl-C, ends the process with one sentence.
    """
    try:
        result = run()
    except failures as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        kept = "; --resume continues it" if file is not None else ""
        print(f"\nThe run was interrupted{kept}.", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    print(render(result), end="")
    if file is not None:
        file.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
