"""The variant that was kept of a model: beside it, as `NAME.optimized.gguf` with a manifest."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from spark_lsp.models.checksum import remembered_sha256, sha256_of, stamp_path, stamped_sha256

FORMAT = 1
SUFFIX = ".optimized.gguf"
MANIFEST_SUFFIX = ".optimized.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the JSON file beside a variant says. Loss and interval are points of exact match."""

    source_size: int
    source_mtime_ns: int
    source_sha256: str
    variant_size: int
    variant_sha256: str
    recipe: str
    gains: Mapping[str, float]
    """How many times as fast as the original: `prompt`, and steps of 1, 4 and 16 tokens."""
    loss: float
    loss_low: float
    loss_high: float
    tasks: int
    max_loss: float
    agreement: float
    resident: int | None
    cpu: str
    llama_cpp: str
    made: str
    """Date, as in 2025-01-31."""
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant whose files are as they were when it was kept."""

    path: Path
    source: Path
    manifest: Manifest

    def summary(self) -> str:
        """Return one line for a log or a status page."""
        m = self.manifest
        return (
            f"{m.recipe}: prompt {m.gains.get('prompt', 1.0):.2f}x, step {m.gains.get('1', 1.0):.2f}x as fast, "
            f"loss {m.loss:.1f} points of exact match ({m.loss_low:.1f} to {m.loss_high:.1f}, {m.tasks} tasks)"
        )


def variant_file(model: Path) -> Path:
    """Where the variant of `model` is, or would be."""
    return model.with_name(model.name.removesuffix(".gguf") + SUFFIX)


def manifest_file(model: Path) -> Path:
    """Where the manifest of that variant is, or would be."""
    return model.with_name(model.name.removesuffix(".gguf") + MANIFEST_SUFFIX)


def kept_variant(model: Path) -> Variant | None:
    """Return the variant to load in place of the file `model`, None where there is none that belongs to it.

    Model and variant have to be the very files that the manifest names, by size and sha256. Neither is read while it
    is unchanged since it was last checked. Never raises for what is on the disk.
    """
    manifest = read_manifest(model)
    file = variant_file(model)
    try:
        if manifest is None or not _is_source(model, manifest):
            return None
        if file.stat().st_size != manifest.variant_size or stamped_sha256(file) != manifest.variant_sha256:
            return None
    except OSError:
        return None
    return Variant(file, model, manifest)


def read_manifest(model: Path) -> Manifest | None:
    """Return the manifest beside `model`, unchecked; None where there is none that can be read."""
    try:
        data = json.loads(manifest_file(model).read_text("utf-8"))
        if data["format"] != FORMAT:
            return None
        manifest = Manifest(**{f.name: data[f.name] for f in fields(Manifest)})
        if not isinstance(manifest.gains, dict):
            return None
        numbers = [manifest.loss, manifest.loss_low, manifest.loss_high, manifest.tasks, *manifest.gains.values()]
        return manifest if all(isinstance(number, (int, float)) for number in numbers) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def keep(file: Path, model: Path, manifest: Manifest) -> Variant:
    """Move the finished variant `file` beside `model` with its manifest, in place of an earlier one. Raises OSError."""
    target = variant_file(model)
    manifest_file(model).unlink(missing_ok=True)  # so that no moment has the manifest of another file
    stamp_path(target).unlink(missing_ok=True)
    file.replace(target)
    stamped_sha256(target)
    draft = manifest_file(model).with_name(f"{manifest_file(model).name}.{os.getpid()}")
    draft.write_text(json.dumps(asdict(manifest), indent=2) + "\n", "utf-8")
    draft.replace(manifest_file(model))
    return Variant(target, model, manifest)


def remove_variant(model: Path) -> bool:
    """Delete the variant of `model`, its manifest and its stamp; return whether there was one. Raises OSError."""
    files: list[Path] = [manifest_file(model), variant_file(model), stamp_path(variant_file(model))]
    there = any(file.exists() for file in files[:2])
    for file in files:
        file.unlink(missing_ok=True)
    return there


def source_facts(model: Path) -> dict[str, Any]:
    """Return size, time and sha256 of `model` as `Manifest` names them. Raises OSError."""
    state = model.stat()
    return {
        "source_size": state.st_size,
        "source_mtime_ns": state.st_mtime_ns,
        "source_sha256": remembered_sha256(model) or sha256_of(model),
    }


def _is_source(model: Path, manifest: Manifest) -> bool:
    state = model.stat()
    if state.st_size != manifest.source_size:
        return False
    if state.st_mtime_ns == manifest.source_mtime_ns:
        return True
    # Copied or touched: only the content counts. A file of the user's own gets no stamp beside it.
    return (remembered_sha256(model) or sha256_of(model)) == manifest.source_sha256
