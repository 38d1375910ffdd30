"""What a step costs: the curve, how it follows the machine, how it is measured and kept."""

from __future__ import annotations

import errno
import json
import logging
import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_lsp.decoding.calibration import (
    CALIBRATION_SAMPLES,
    CALIBRATION_WIDTHS,
    PROMPT_SLICE_TOKENS,
    Calibration,
    CalibrationStep,
    thread_candidates,
)
from spark_lsp.decoding.cost_cache import cost_path, load_costs, save_costs, user_cache_folder
from spark_lsp.decoding.cost_model import (
    HULL_TOLERANCE,
    MOST_PROMPT_TOKENS,
    CostModel,
    SteadyCostModel,
    default_cost_model,
    lower_hull,
)

TIMES = st.dictionaries(st.integers(2, 64), st.floats(0.001, 10.0), max_size=12).flatmap(
    lambda rest: st.floats(0.001, 10.0).map(lambda first: {1: first, **rest})
)
STEPPED = {1: 1.0, 2: 2.0, 3: 2.9, 4: 2.2, 5: 3.2, 8: 3.6, 12: 5.0, 16: 6.2, 24: 9.0, 32: 12.0}
"""A processor that works in groups of four rows."""


def height(hull: list[tuple[int, float]], x: int) -> float:
    for (x0, y0), (x1, y1) in pairwise(hull):
        if x0 <= x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return hull[0][1]


@settings(max_examples=200, deadline=None)
@given(TIMES)
def test_the_hull_is_convex_below_all_points_and_made_of_them(times: Mapping[int, float]) -> None:
    points = sorted(times.items())
    hull = lower_hull(points)
    assert (hull[0], hull[-1]) == (points[0], points[-1])
    assert set(hull) <= set(points)
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(hull)]
    assert all(left < right + 1e-9 for left, right in pairwise(slopes))
    assert all(height(hull, x) <= y + 1e-9 for x, y in points)


@settings(max_examples=200, deadline=None)
@given(TIMES)
def test_the_widths_used_are_the_hull_and_what_is_near_it(times: Mapping[int, float]) -> None:
    model = CostModel(times, 100.0)
    curve = [(width, model.seconds(width)) for width in sorted(times)]
    hull = lower_hull(curve)
    assert {width for width, _ in hull} <= set(model.widths) <= set(times)
    assert model.widths[0] == 1
    for width, seconds in curve:
        distance = seconds / height(hull, width) - 1
        if width in model.widths:
            assert distance <= HULL_TOLERANCE + 1e-9
        else:
            assert distance > HULL_TOLERANCE - 1e-9


@settings(max_examples=200, deadline=None)
@given(TIMES)
def test_a_wider_step_never_costs_less(times: Mapping[int, float]) -> None:
    model = CostModel(times, 100.0)
    seconds = [model.seconds(width) for width in range(100)]
    assert seconds[0] == 0.0
    assert all(left <= right + 1e-9 for left, right in pairwise(seconds))
    assert all(model.seconds(width) <= time + 1e-12 for width, time in times.items())


def test_widths_between_groups_of_rows_are_not_used() -> None:
    model = CostModel(STEPPED, 100.0)
    assert model.widths == (1, 4, 8, 12, 16, 24, 32)
    assert model.seconds(3) == 2.2, "three rows may be four"
    assert model.seconds(10) == pytest.approx(4.3)
    assert model.steps[1] == (4, 2.2)


def test_beyond_the_widest_step_the_whole_curve_goes_on() -> None:
    model = CostModel({1: 1.0, 31: 4.0, 32: 4.0}, 100.0)
    assert model.seconds(63) == pytest.approx(4.0 + 31 * 3 / 31)
    assert CostModel({1: 2.0}, 100.0).seconds(3) == 6.0


def test_before_calibration_the_slowest_known_machine_is_assumed() -> None:
    model = default_cost_model()
    assert model.widths == (1, 4, 8, 16, 32)
    assert model.seconds(16) / model.seconds(1) == pytest.approx(7.3)
    assert model.tokens_within(1.0) == 92


def test_the_prompt_budget_fits_the_time() -> None:
    model = CostModel({1: 1.0}, 92.0)
    cases = {0.5: 46, 0.0: 0, -3.0: 0, math.inf: MOST_PROMPT_TOKENS}
    assert {seconds: model.tokens_within(seconds) for seconds in cases} == cases


@pytest.mark.parametrize(
    ("times", "rate"),
    [
        ({}, 1.0),
        ({2: 1.0}, 1.0),
        ({1: 0.0}, 1.0),
        ({1: -1.0}, 1.0),
        ({1: math.nan}, 1.0),
        ({1: 1.0, 4: math.inf}, 1.0),
        ({0: 1.0, 1: 1.0}, 1.0),
        ({1: 1.0}, 0.0),
        ({1: 1.0}, math.nan),
    ],
)
def test_costs_that_cannot_be_are_refused(times: dict[int, float], rate: float) -> None:
    with pytest.raises(ValueError, match=r"positive|one token"):
        CostModel(times, rate)


def test_it_follows_a_machine_that_got_slower_and_keeps_the_shape() -> None:
    model = CostModel(STEPPED, 100.0)
    for _ in range(40):
        model.observe(1, 2 * STEPPED[1])
        model.observe(4, 2 * STEPPED[4])
    assert model.seconds(1) == pytest.approx(2.0, rel=0.1)
    assert model.seconds(4) / model.seconds(1) == pytest.approx(2.2, rel=0.05)
    assert model.seconds(32) == pytest.approx(24.0, rel=0.2), "a width that was not used meanwhile"


def test_it_follows_one_width_that_was_measured_wrong() -> None:
    model = CostModel(STEPPED, 100.0)
    for _ in range(200):
        model.observe(1, 1.0)
        model.observe(16, 8.0)
    assert model.seconds(16) / model.seconds(1) == pytest.approx(8.0, rel=0.1)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(CALIBRATION_WIDTHS), st.floats(1e-9, 1e9))
def test_one_disturbed_step_has_little_influence(width: int, seconds: float) -> None:
    model = CostModel(STEPPED, 100.0)
    before = {w: model.seconds(w) for w in CALIBRATION_WIDTHS}
    model.observe(width, seconds)
    assert all(abs(model.seconds(w) / before[w] - 1) < 0.03 for w in CALIBRATION_WIDTHS)


def test_times_that_cannot_be_are_ignored() -> None:
    model = CostModel(STEPPED, 100.0)
    for width, seconds in [(1, 0.0), (1, -1.0), (1, math.nan), (1, math.inf), (0, 1.0), (-3, 1.0)]:
        model.observe(width, seconds)
        model.observe_prompt(width, seconds)
    assert (model.step_seconds, model.prompt_tokens_per_second) == (STEPPED, 100.0)


def test_the_prompt_rate_follows_too() -> None:
    model = CostModel(STEPPED, 100.0)
    model.observe_prompt(64, 640.0)
    assert model.prompt_tokens_per_second > 97
    for _ in range(80):
        model.observe_prompt(64, 64 / 200)
    assert model.prompt_tokens_per_second == pytest.approx(200, rel=0.05)


@settings(max_examples=50, deadline=None)
@given(TIMES, st.floats(0.1, 1e6))
def test_what_was_written_is_read_again(times: Mapping[int, float], rate: float) -> None:
    again = CostModel.from_json(CostModel(times, rate).to_json())
    assert again is not None
    assert (again.step_seconds, again.prompt_tokens_per_second) == (dict(sorted(times.items())), rate)


GOOD = json.loads(default_cost_model().to_json())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "3",
        '"text"',
        "[" * 5000,
        json.dumps({**GOOD, "format": 0}),
        json.dumps({key: value for key, value in GOOD.items() if key != "format"}),
        json.dumps({**GOOD, "step_seconds": []}),
        json.dumps({**GOOD, "step_seconds": {"one": 1}}),
        json.dumps({**GOOD, "step_seconds": {"1": None}}),
        json.dumps({**GOOD, "step_seconds": {"1": float("nan")}}),
        json.dumps({**GOOD, "prompt_tokens_per_second": -1}),
        default_cost_model().to_json()[:-20],
    ],
)
def test_anything_else_is_nothing(text: str) -> None:
    assert CostModel.from_json(text) is None


@settings(max_examples=200, deadline=None)
@given(st.recursive(st.none() | st.floats() | st.text(max_size=5), lambda inner: st.dictionaries(
    st.sampled_from(["format", "step_seconds", "prompt_tokens_per_second", "1"]), inner)))  # fmt: skip
def test_no_json_makes_it_fail(data: object) -> None:
    CostModel.from_json(json.dumps(data))


def seconds_of(step: CalibrationStep) -> float:
    return 0.01 * STEPPED[step.tokens] if step.outputs else 0.5


def test_calibration_times_every_width_and_the_prompt_and_takes_the_median() -> None:
    calibration = Calibration()
    asked: list[CalibrationStep] = []
    while (step := calibration.next_step()) is not None:
        assert calibration.result() is None
        asked.append(step)
        disturbed = asked.count(step) == 2
        calibration.record(step, seconds_of(step) * (100 if disturbed else 1))
    assert calibration.fraction == 1.0
    per_round = len(CALIBRATION_WIDTHS) + 1
    assert len(asked) == per_round * CALIBRATION_SAMPLES
    assert [step.tokens for step in asked[:per_round]] == [*CALIBRATION_WIDTHS, PROMPT_SLICE_TOKENS]
    model = calibration.result()
    assert model is not None
    assert model.step_seconds == {width: pytest.approx(0.01 * STEPPED[width]) for width in CALIBRATION_WIDTHS}
    assert model.prompt_tokens_per_second == pytest.approx(PROMPT_SLICE_TOKENS / 0.5)


def test_calibration_can_be_left_after_any_step_and_goes_on_there() -> None:
    calibration = Calibration(widths=(1, 4), samples=1)
    first = calibration.next_step()
    assert first == calibration.next_step(), "a step that was interrupted is asked for again"
    assert first is not None
    calibration.record(first, 0.1)
    assert calibration.next_step() == (4, 4, None)
    assert calibration.fraction == pytest.approx(1 / 3)


def test_calibration_keeps_to_what_the_engine_can_return() -> None:
    calibration = Calibration(samples=1, max_outputs=9)
    widths = []
    while (step := calibration.next_step()) is not None:
        widths.append(step.outputs)
        calibration.record(step, 0.1)
    assert max(widths) == 8


@pytest.mark.parametrize(
    ("cores", "candidates"),
    [(1, ()), (2, (1, 2)), (3, (1, 2, 3)), (4, (2, 3, 4)), (8, (4, 6, 8)), (32, (16, 24, 32))],
)
def test_thread_counts_that_are_compared(cores: int, candidates: tuple[int, ...]) -> None:
    assert thread_candidates(cores) == candidates


def measure(seconds: Mapping[tuple[int, int], float]) -> CostModel | None:
    """Calibrate a machine on which (tokens, threads) take so long."""
    calibration = Calibration(threads=sorted({threads for _, threads in seconds}))
    while (step := calibration.next_step()) is not None:
        compared = step.threads is not None
        assert compared == (calibration.threads is None), "the comparison comes first"
        calibration.record(step, seconds[min(step.tokens, 2), step.threads] if step.threads else 0.1 * step.tokens)
    return calibration.result()


@pytest.mark.parametrize(
    ("seconds", "best"),
    [
        ({(1, 2): 0.10, (1, 4): 0.06, (2, 2): 0.20, (2, 4): 0.10}, (4, 4)),
        ({(1, 2): 0.05, (1, 4): 0.06, (2, 2): 0.20, (2, 4): 0.10}, (2, 4)),
        ({(1, 2): 0.102, (1, 4): 0.10, (2, 2): 0.20, (2, 4): 0.199}, (2, 2)),
    ],
)
def test_one_token_and_several_each_get_the_fewest_threads_that_are_fast(
    seconds: Mapping[tuple[int, int], float], best: tuple[int, int]
) -> None:
    model = measure(seconds)
    assert model is not None
    assert model.threads == best
    again = CostModel.from_json(model.to_json())
    assert again is not None
    assert again.threads == best


def test_the_exact_width_is_kept() -> None:
    model = default_cost_model()
    assert model.exact_width == 1, "until it was found out"
    model.exact_width = 16
    again = CostModel.from_json(model.to_json())
    assert again is not None
    assert again.exact_width == 16


@pytest.mark.parametrize("threads", ["[2]", "[0, 2]", '["a", 2]', "7", "{}"])
def test_damaged_thread_counts_are_not_used(threads: str) -> None:
    text = default_cost_model().to_json().replace("null", threads)
    model = CostModel.from_json(text)
    assert model is None or model.threads is None


def test_each_setting_has_its_own_file() -> None:
    folder = Path("costs")
    cases = [
        ("abc", "0.3.36", (2, 2), "box"),
        ("abd", "0.3.36", (2, 2), "box"),
        ("abc", "0.3.37", (2, 2), "box"),
        ("abc", "0.3.36", (2, 4), "box"),
        ("abc", "0.3.36", (4, 2), "box"),
        ("abc", "0.3.36", (2, 2), "\udcff"),
    ]
    paths = [cost_path(folder, model=m, engine=e, threads=t, host=h) for m, e, t, h in cases]
    assert len(set(paths)) == len(cases)
    assert paths == [cost_path(folder, model=m, engine=e, threads=t, host=h) for m, e, t, h in cases]
    assert all(path.parent == folder for path in paths)
    assert user_cache_folder().is_absolute()


def test_what_was_kept_is_found_again_and_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "costs.json"
    assert load_costs(path) is None
    assert save_costs(path, CostModel({1: 1.0}, 5.0))
    assert save_costs(path, CostModel({1: 2.0}, 5.0))
    again = load_costs(path)
    assert again is not None and again.seconds(1) == 2.0
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"{}", b"x" * 100_000])
def test_a_damaged_file_is_measured_again(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    path = tmp_path / "costs.json"
    path.write_bytes(content)
    assert load_costs(path) is None
    assert "measuring again" in caplog.text


def test_a_place_that_cannot_be_read_is_no_failure(tmp_path: Path) -> None:
    assert load_costs(tmp_path) is None


def test_a_full_disk_is_one_line_in_the_log_and_leaves_the_old_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "costs.json"
    assert save_costs(path, CostModel({1: 1.0}, 5.0))

    def full(self: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert not save_costs(path, CostModel({1: 2.0}, 5.0))
    again = load_costs(path)
    assert again is not None and again.seconds(1) == 1.0
    assert list(tmp_path.iterdir()) == [path], "nothing half-written is left"
    assert "No space left" in caplog.text and len(caplog.records) == 1


def test_a_folder_that_cannot_be_made_is_one_line_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    assert not save_costs(tmp_path / "file" / "costs.json", default_cost_model())
    assert len(caplog.records) == 1


def test_steady_costs_learn_nothing_from_a_busy_machine() -> None:
    cost = SteadyCostModel()
    steps, within = cost.step_seconds, cost.tokens_within(5.0)
    cost.observe(1, 10.0)
    cost.observe_prompt(100, 60.0)
    assert (cost.step_seconds, cost.tokens_within(5.0)) == (steps, within)
    assert within >= 512 + 128 + 150, "every default window is read whole"
