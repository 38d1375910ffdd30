"""Two small SVG files, readable on a light and on a dark page: grey text, no background."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.latency.cases import KINDS
from benchmarks.latency.measure import MODES
from benchmarks.latency.report import Measured, quartiles, samples_of, speeds

GREY = "#7f8790"
COLORS = dict(zip(MODES, ("#9aa5b1", "#2f81f7", "#d9a04e", "#c2603a"), strict=True))
"""One for each mode, told apart on white and on black."""


def draw(measured: Measured, folder: Path) -> list[Path]:
    """Write `steps.svg` and `speeds.svg` to `folder` and return their paths. Needs matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    style: Any = {
        "axes.edgecolor": GREY,
        "axes.labelcolor": GREY,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "font.size": 9,
        "legend.frameon": False,
        "legend.labelcolor": GREY,
        "savefig.transparent": True,
        "svg.fonttype": "none",  # text stays text: small, and in the reader's font
        "svg.hashsalt": "spark-lsp",  # the same figures give the same file
        "xtick.color": GREY,
        "ytick.color": GREY,
    }
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(style):
        return [_save(_steps(measured), folder / "steps.svg"), _save(_speeds(measured), folder / "speeds.svg")]


def _save(figure: Any, path: Path) -> Path:
    import matplotlib.pyplot as plt

    figure.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return path


def _steps(measured: Measured) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 2.8))
    widths = [int(width) for width in measured["step_seconds"]]
    times = [1000 * seconds for seconds in measured["step_seconds"].values()]
    axes.plot(widths, times, marker="o", markersize=3, color=COLORS["drafting"], label="measured")
    axes.plot(widths, [times[0] * width for width in widths], "--", color=GREY, linewidth=1, label="one by one")
    axes.set(xlabel="tokens verified in one step", ylabel="ms", xlim=(0, None), ylim=(0, 1.15 * max(times)))
    axes.legend()
    return figure


def _speeds(measured: Measured) -> Any:
    import matplotlib.pyplot as plt

    samples = samples_of(measured)
    modes = [mode for mode in MODES if any(sample.mode == mode for sample in samples)]
    kinds = [kind for kind in KINDS if any(sample.kind == kind for sample in samples)]
    figure, axes = plt.subplots(figsize=(6.5, 2.8))
    width = 0.8 / len(modes)
    for number, mode in enumerate(modes):
        spreads = [quartiles(speeds(samples, kind, mode)) for kind in kinds]
        middles = [middle for _, middle, _ in spreads]
        axes.bar(
            [place + (number - (len(modes) - 1) / 2) * width for place in range(len(kinds))],
            middles,
            width * 0.92,
            yerr=[[middle - low for low, middle, _ in spreads], [high - middle for _, middle, high in spreads]],
            color=COLORS[mode],
            ecolor=GREY,
            error_kw={"linewidth": 0.8},
            label=mode,
        )
    axes.set_xticks(range(len(kinds)), [KINDS[kind] for kind in kinds])
    axes.set_ylabel("verified tokens/s")
    axes.legend(ncols=len(modes), loc="lower left", bbox_to_anchor=(0, 1), columnspacing=1.2, handlelength=1)
    return figure
