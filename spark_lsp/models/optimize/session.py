"""One call of `spark-lsp optimize`: from a model file and options to an outcome."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_lsp.errors import ModelError
from spark_lsp.models.optimize.bench import Bench, Load, load_engine
from spark_lsp.models.optimize.better_source import better_card, installed_better, is_same_model
from spark_lsp.models.optimize.build import Ingredients
from spark_lsp.models.optimize.events import Report
from spark_lsp.models.optimize.gguf_source import open_source, require_packages
from spark_lsp.models.optimize.host import cpu_name, runtime_version
from spark_lsp.models.optimize.importance import FILE, importance_file
from spark_lsp.models.optimize.journal import Journal
from spark_lsp.models.optimize.quality import CONTEXT_TOKENS
from spark_lsp.models.optimize.recipes import Recipe, applicable, standard_recipes
from spark_lsp.models.optimize.run import Outcome, Plan, optimize
from spark_lsp.models.optimize.sample import CUTS, Sample, find_sample
from spark_lsp.models.optimize.variants import source_facts
from spark_lsp.models.optimize.work_folder import work_folder
from spark_lsp.models.progress import Notice


@dataclass(frozen=True, slots=True)
class Amount:
    """How much is measured."""

    tasks: int
    """Infilling tasks of the whole sample."""
    texts: int
    """Held-out texts, about 300 next tokens each."""
    rounds: int
    """Timed rounds of each variant."""


MEASURES = 5
"""Raised whenever the same file would give other figures.

2: bfloat16 KV cells. 3: stopping and post-processing by ordered rules. 4: whatever the load, the
same window is read. 5: weights are rounded by their importance.
"""
DEFAULT = Amount(tasks=1800, texts=6, rounds=7)
QUICK = Amount(tasks=120, texts=2, rounds=3)


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for."""

    amount: Amount = DEFAULT
    max_loss: float = 1.5
    recipes: tuple[str, ...] = ()
    """Names; none means all."""
    sources: tuple[Path, ...] = ()
    keep_all: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a session has to show."""

    plan: Plan
    skipped: Mapping[str, str]
    """Recipes that do not apply to this model, with the reason."""
    outcome: Outcome


def run_session(
    model: Path,
    options: Options,
    report: Report,
    *,
    known: Sequence[Recipe] | None = None,
    load: Load = load_engine,
) -> Result:
    """Return what came of optimizing the file `model`, which is a complete GGUF.

    New types are made from the Q8_0 file of the same catalogue model where that is installed.
    An interrupted session is continued by the next one with the same model. Raises ModelError or EngineError.
    """
    require_packages()
    wanted = _named(options.recipes, standard_recipes() if known is None else known)
    report(Notice("Reading the model and the sources."))
    ingredients = _ingredients(model, report)
    recipes, skipped = applicable(wanted, ingredients.traits)
    if not recipes:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in skipped.items())
        raise ModelError(f"No recipe applies to {model.name} ({reasons}).")
    for name, reason in skipped.items():
        report(Notice(f"{name} is skipped: {reason}."))
    sample = find_sample(options.sources)
    plan = Plan(
        recipes=recipes,
        lines=math.ceil(options.amount.tasks / CUTS),
        texts=options.amount.texts,
        rounds=options.amount.rounds,
        max_loss=options.max_loss,
        keep_all=options.keep_all,
    )
    with work_folder(model) as folder:
        journal = Journal.open(folder, _fingerprint(ingredients, sample))
        if journal.records:
            report(Notice("Going on with what an earlier run has measured."))
        else:
            for file in (*folder.glob("*.gguf"), *folder.glob(FILE)):  # of another model file, processor or runtime
                file.unlink()
        if any(recipe.body is not None for recipe in recipes):
            weights = importance_file(model, sample, DEFAULT.texts, folder, report)
            ingredients = dataclasses.replace(ingredients, importance=weights)
        outcome = optimize(ingredients, plan, folder, Bench(journal, sample, report, load))
    return Result(plan, skipped, outcome)


def _named(names: Sequence[str], known: Sequence[Recipe]) -> tuple[Recipe, ...]:
    unknown = [name for name in names if name not in {recipe.name for recipe in known}]
    if unknown:
        listed = ", ".join(recipe.name for recipe in known)
        raise ModelError(f"There is no recipe called '{unknown[0]}'.", next_step=f"There are: {listed}.")
    return tuple(recipe for recipe in known if not names or recipe.name in names)


def _ingredients(model: Path, report: Report) -> Ingredients:
    traits = open_source(model).traits
    better = installed_better(model)
    if better is None:
        card = better_card(model)
        if card is not None:
            report(Notice(f"New types would lose less when made from {card.name}: `--better-source` downloads it."))
        return Ingredients(model, traits)
    better_traits = open_source(better).traits
    if not is_same_model(better_traits, traits):
        report(Notice(f"{better.name} is laid out differently; starting from the given file."))
        return Ingredients(model, traits)
    return Ingredients(model, traits, better, better_traits)


def _fingerprint(ingredients: Ingredients, sample: Sample) -> dict[str, Any]:
    """Return all that a measurement depends on, in a form that survives JSON."""
    facts = source_facts(ingredients.original)
    better = source_facts(ingredients.better)["source_sha256"] if ingredients.better is not None else None
    return {
        "source_size": facts["source_size"],
        "source_sha256": facts["source_sha256"],
        "better_sha256": better,
        "cpu": cpu_name(),
        "runtime": runtime_version(),
        "sample": sample.digest,
        "context": CONTEXT_TOKENS,
        "measures": MEASURES,
    }
