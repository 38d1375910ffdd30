"""`python -m benchmarks.readme FILE.json ...`: puts the tables of measured runs into README.md.

Each file is what a benchmark wrote with `--json`. Its table replaces what stands between `<!-- benchmarks.NAME -->` and
the next `<!-- end -->`, so a figure in the README is always one that was measured. Plots in `benchmarks/plots` are
shown too. What is too long for a user is in `benchmarks/README.md` in whole, as `benchmarks.NAME.whole`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.infilling.report import render as render_infilling
from benchmarks.latency.report import render as render_latency
from benchmarks.replay.report import render as render_replay
from benchmarks.replay.report import render_brief as render_replay_brief
from benchmarks.responsiveness.report import render as render_responsiveness

RENDERERS: dict[str, Callable[[dict[str, Any]], str]] = {
    "infilling": render_infilling,
    "latency": render_latency,
    "replay": render_replay_brief,
    "responsiveness": render_responsiveness,
}
WHOLE: dict[str, Callable[[dict[str, Any]], str]] = {"replay": render_replay}
"""The long form of what `RENDERERS` shorten."""
PLOTS = {
    "latency": {"steps.svg": "the time of a step by its tokens", "speeds.svg": "tokens per second by kind of code"}
}
"""Files that a benchmark draws to `PLOTS_FOLDER`, and what they show."""
PLOTS_FOLDER = "benchmarks/plots"
README = Path(__file__).resolve().parent.parent / "README.md"
BENCHMARKS_README = "benchmarks/README.md"
"""Where the long forms go, beside the README."""


def replaced(readme: str, name: str, report: str) -> str:
    """Return `readme` with `report` in the section of the benchmark `name`; ValueError if it has no such section."""
    section = re.compile(rf"(<!-- benchmarks\.{re.escape(name)} -->\n)(?:(?!<!-- ).)*(<!-- end -->)", re.DOTALL)
    text, count = section.subn(lambda match: f"{match[1]}{report.rstrip()}\n{match[2]}", readme)
    if count != 1:
        raise ValueError(f"README.md has {count} sections `<!-- benchmarks.{name} -->` ... `<!-- end -->`, not one.")
    return text


def images(name: str, root: Path) -> str:
    """Return a line for each plot of the benchmark `name` that is there, below the directory of the README."""
    shown = [
        f"![{text}]({PLOTS_FOLDER}/{file})"
        for file, text in PLOTS.get(name, {}).items()
        if (root / PLOTS_FOLDER / file).is_file()
    ]
    return "\n" + "\n".join(shown) if shown else ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readme", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", help="what the benchmarks wrote with --json")
    parser.add_argument("--readme", type=Path, default=README)
    options = parser.parse_args()
    long_readme = options.readme.parent / BENCHMARKS_README
    text, long_text = options.readme.read_text("utf-8"), ""
    for file in options.files:
        measured = json.loads(file.read_text("utf-8"))
        name = measured.get("benchmark")
        if name not in RENDERERS:
            raise SystemExit(f"{file} is not what one of {', '.join(RENDERERS)} wrote with --json.")
        try:
            text = replaced(text, name, RENDERERS[name](measured) + images(name, options.readme.parent))
            if name in WHOLE:
                long_text = long_text or long_readme.read_text("utf-8")
                long_text = replaced(long_text, f"{name}.whole", WHOLE[name](measured))
        except ValueError as error:
            raise SystemExit(str(error)) from None
    options.readme.write_text(text, "utf-8")
    if long_text:
        long_readme.write_text(long_text, "utf-8")


if __name__ == "__main__":
    main()
