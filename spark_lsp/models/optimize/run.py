"""The run: build every recipe, measure it, keep the fastest that is within the bound.

Two passes. The first measures the speed of every variant and its loss on a part of the sample, and gives up the ones
that lose too much for certain. The second takes the rest, fastest first, through the whole sample, as long as it may
still show the loss to be within the bound, and ends at the first one for which it does. Stopping early is only ever a
refusal, so it makes no variant look better than it is.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from spark_lsp.decoding.engine import Engine
from spark_lsp.errors import EngineError, ModelError
from spark_lsp.models.disk import NotEnoughRoomError, require_room
from spark_lsp.models.optimize.bench import CHUNK_LINES, Bench
from spark_lsp.models.optimize.build import ENDING, Ingredients, build, discard_drafts, missing_bytes, variant_path
from spark_lsp.models.optimize.choose import SMALLEST_GAIN, Measured, choose, in_order, is_hopeless, loses_too_much
from spark_lsp.models.optimize.host import cpu_name, runtime_version
from spark_lsp.models.optimize.journal import ORIGINAL, Record
from spark_lsp.models.optimize.recipes import Recipe
from spark_lsp.models.optimize.sample import CUTS
from spark_lsp.models.optimize.speed import Speed
from spark_lsp.models.optimize.statistics import PairedLoss, paired_loss
from spark_lsp.models.optimize.variants import Manifest, Variant, keep, source_facts
from spark_lsp.models.progress import Notice

SCREENING_SHARE = 6
"""The first pass takes one in so many of the lines."""
SCREENING_LINES = 20
"""But at least so many: fewer refuse nothing."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to try, how much to measure, and what is good enough."""

    recipes: tuple[Recipe, ...]
    lines: int
    """Lines of the sample; each gives up to `sample.CUTS` tasks."""
    texts: int
    """Held-out texts for the agreement."""
    rounds: int
    """Timed rounds of each variant."""
    max_loss: float
    """Points of exact match."""
    keep_all: bool = False

    @property
    def screening_lines(self) -> int:
        """Lines of the first pass."""
        return min(self.lines, max(SCREENING_LINES, self.lines // SCREENING_SHARE))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured, and what became of it."""

    original: Record
    original_speed: Speed | None
    """Medians over the turns that it had beside each variant."""
    measured: tuple[Measured, ...]
    failed: Mapping[str, str]
    """Why a recipe gave nothing, by name."""
    variant: Variant | None
    """The variant that this run kept."""


def optimize(ingredients: Ingredients, plan: Plan, folder: Path, bench: Bench) -> Outcome:
    """Return the outcome, the kept variant being in its place beside the model.

    Everything else is made in `folder`, and removed at the end unless the plan keeps it; the journal stays. Raises
    ModelError, EngineError or OSError.
    """
    discard_drafts(folder)
    for name, record in list(bench.journal.records.items()):
        if record.failed:  # perhaps for want of memory: tried again
            bench.journal.update(name, failed="")
    _require_room(plan, ingredients, folder, bench)
    model = ingredients.original
    bench.memory(ORIGINAL, model)
    with bench.loaded(model) as original:
        bench.predict(original, plan.texts)
        bench.infill(ORIGINAL, original, plan.screening_lines)
        for number, recipe in enumerate(plan.recipes, start=1):
            bench.place = number, len(plan.recipes)
            _screen(recipe, ingredients, plan, folder, bench, original)
        _decide(ingredients, plan, folder, bench, original)
    found = measured(plan, bench)
    chosen = choose(found, plan.max_loss)
    variant = None
    if chosen is not None:
        recipe = next(recipe for recipe in plan.recipes if recipe.name == chosen.recipe)
        file = build(recipe, ingredients, folder, plan.recipes)
        variant = keep(file, model, _manifest(chosen, model, file, plan))
    if not plan.keep_all:
        for file in folder.glob(f"*{ENDING}"):
            file.unlink(missing_ok=True)
    records = {recipe.name: bench.journal.of(recipe.name) for recipe in plan.recipes}
    failed = {name: record.failed for name, record in records.items() if record.failed}
    return Outcome(bench.journal.of(ORIGINAL), _original_speed(records.values()), tuple(found), failed, variant)


def measured(plan: Plan, bench: Bench) -> list[Measured]:
    """Return what the journal has on every recipe of the plan that could be measured."""
    original = bench.journal.of(ORIGINAL)
    found = []
    for recipe in plan.recipes:
        record = bench.journal.of(recipe.name)
        if record.failed or record.speed is None or record.original_speed is None or not record.hits:
            continue
        found.append(
            Measured(
                recipe=recipe.name,
                bytes=record.bytes or 0,
                resident=record.resident,
                gains=record.speed.gains(record.original_speed),
                agreement=100.0 * record.agreed / record.predicted if record.predicted else 0.0,
                loss=_loss(original, record),
                complete=len(record.hits) >= plan.lines,
            )
        )
    return found


def _original_speed(records: Iterable[Record]) -> Speed | None:
    speeds = [record.original_speed for record in records if record.original_speed is not None]
    if not speeds:
        return None
    steps = {width: median(speed.step_seconds[width] for speed in speeds) for width in speeds[0].step_seconds}
    return Speed(median(speed.prompt_tokens_per_second for speed in speeds), steps)


def _loss(original: Record, record: Record) -> PairedLoss:
    lines = min(len(original.hits), len(record.hits))
    return paired_loss(original.hits[:lines], record.hits[:lines])


def _screen(recipe: Recipe, ingredients: Ingredients, plan: Plan, folder: Path, bench: Bench, original: Engine) -> None:
    """Measure one variant on a part of the sample, and remove its file when it is refused."""
    record = bench.journal.of(recipe.name)
    measured_before = record.rounds >= plan.rounds and record.texts >= plan.texts and record.resident is not None
    if record.failed or (measured_before and len(record.hits) >= plan.screening_lines):
        return
    if measured_before and _is_refused(recipe, plan, bench):
        return
    try:
        bench.tell(recipe.name, "building")
        file = build(recipe, ingredients, folder, plan.recipes)
        bench.memory(recipe.name, file)
        with bench.loaded(file) as engine:
            bench.speed(recipe.name, engine, original, plan.rounds)
            bench.agree(recipe.name, engine, plan.texts)
            _infill_until_refused(recipe, plan, bench, engine, original, plan.screening_lines)
    except (EngineError, ModelError) as error:
        bench.journal.update(recipe.name, failed=error.sentence)
        bench.report(Notice(f"{recipe.name}: {error.sentence}"))
    if _is_refused(recipe, plan, bench) and not plan.keep_all and recipe.body is not None:
        variant_path(recipe, folder).unlink(missing_ok=True)


def _decide(ingredients: Ingredients, plan: Plan, folder: Path, bench: Bench, original: Engine) -> None:
    """Take variants through the whole sample, fastest first, until one is within the bound."""
    numbers = {recipe.name: number for number, recipe in enumerate(plan.recipes, start=1)}
    for candidate in in_order(measured(plan, bench)):
        recipe = plan.recipes[numbers[candidate.recipe] - 1]
        if candidate.speed < SMALLEST_GAIN or _is_refused(recipe, plan, bench) or _is_hopeless(recipe, plan, bench):
            continue
        if not candidate.complete:
            bench.place = numbers[recipe.name], len(plan.recipes)
            with bench.loaded(build(recipe, ingredients, folder, plan.recipes)) as engine:
                _infill_until_refused(recipe, plan, bench, engine, original, plan.lines)
        if choose(measured(plan, bench), plan.max_loss) is not None:
            return


def _infill_until_refused(
    recipe: Recipe, plan: Plan, bench: Bench, engine: Engine, original: Engine, lines: int
) -> None:
    done = len(bench.journal.of(recipe.name).hits)
    while done < lines and not (done and _is_refused(recipe, plan, bench)):
        if done >= plan.screening_lines and _is_hopeless(recipe, plan, bench):
            return
        done = min(done + CHUNK_LINES, lines)
        bench.infill(ORIGINAL, original, done, lines)
        bench.infill(recipe.name, engine, done, lines)


def _is_refused(recipe: Recipe, plan: Plan, bench: Bench) -> bool:
    record = bench.journal.of(recipe.name)
    return bool(record.failed) or loses_too_much(_loss(bench.journal.of(ORIGINAL), record), plan.max_loss)


def _is_hopeless(recipe: Recipe, plan: Plan, bench: Bench) -> bool:
    record = bench.journal.of(recipe.name)
    return is_hopeless(_loss(bench.journal.of(ORIGINAL), record), plan.max_loss, plan.lines * CUTS)


def _require_room(plan: Plan, ingredients: Ingredients, folder: Path, bench: Bench) -> None:
    pending = [recipe for recipe in plan.recipes if not bench.journal.of(recipe.name).hits]
    try:
        require_room(folder, missing_bytes(pending, ingredients, folder))
    except NotEnoughRoomError as error:
        raise ModelError(
            f"There is not enough room in {folder.parent} to try {len(pending)} variants: {error.strerror}.",
            next_step="Free some, or name fewer recipes with `--recipe`.",
        ) from error


def _manifest(chosen: Measured, model: Path, file: Path, plan: Plan) -> Manifest:
    from spark_lsp.models.checksum import sha256_of

    return Manifest(
        **source_facts(model),
        variant_size=file.stat().st_size,
        variant_sha256=sha256_of(file),
        recipe=chosen.recipe,
        gains={kind: round(gain, 3) for kind, gain in chosen.gains.items()},
        loss=round(chosen.loss.loss, 3),
        loss_low=round(chosen.loss.low, 3),
        loss_high=round(chosen.loss.high, 3),
        tasks=chosen.loss.tasks,
        max_loss=plan.max_loss,
        agreement=round(chosen.agreement, 2),
        resident=chosen.resident,
        cpu=cpu_name(),
        llama_cpp=runtime_version(),
        made=datetime.date.today().isoformat(),
    )
