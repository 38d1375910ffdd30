"""A file against its catalogue entry."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spark_lsp.errors import ModelFileError, ModelNotFoundError
from spark_lsp.models.catalogue import CATALOGUE, ModelCard
from spark_lsp.models.checksum import sha256_of, stamped_sha256
from spark_lsp.models.gguf_header import check_gguf


@dataclass(frozen=True, slots=True)
class Verification:
    """A file that was read to its end and found good.

    `card` is the catalogue entry it belongs to, if any; `published` says whether a published checksum was compared.
    """

    path: Path
    bytes: int
    sha256: str
    card: ModelCard | None
    published: bool


def check_file(card: ModelCard, file: Path, *, fresh: bool = False) -> str | None:
    """Return the sha256 of `file` when it is the file that `card` describes.

    Where no checksum was published the file must be a complete GGUF, and None is returned.

    The checksum comes from the stamp of an unchanged file; `fresh` reads the file in any case.
    Raises ModelNotFoundError when there is none, and ModelFileError, which says what differs.
    """
    pull_again = f"Run `spark-lsp models pull {card.name}` to get it again."
    try:
        size = file.stat().st_size
        if card.bytes is not None and size != card.bytes:
            difference = f"it has {size:,} bytes, not {card.bytes:,}"
            raise ModelFileError(f"{file} is not the published {card.name}: {difference}.", next_step=pull_again)
        if card.sha256 is None:
            check_gguf(file)
            return None
        if (sha256 := stamped_sha256(file, fresh=fresh)) != card.sha256:
            difference = f"its sha256 is {sha256[:12]}…, not {card.sha256[:12]}…"
            raise ModelFileError(f"{file} is not the published {card.name}: {difference}.", next_step=pull_again)
        return sha256
    except FileNotFoundError as error:
        raise ModelNotFoundError(
            f"The model {card.name} is not on this machine.", next_step=f"Run `spark-lsp models pull {card.name}`."
        ) from error
    except OSError as error:
        raise ModelFileError(f"{file} cannot be read: {error.strerror or error}.", next_step=pull_again) from error


def verify_file(file: Path, card: ModelCard | None = None) -> Verification:
    """Return what `file` is after reading all of it, comparing it with `card` when one is given.

    Without a card the file must be a complete GGUF; its checksum then tells whether the catalogue knows it.
    Raises like `check_file` and `check_gguf`.
    """
    sha256 = None
    if card is not None:
        sha256 = check_file(card, file, fresh=True)
    else:
        check_gguf(file)
    try:
        sha256 = sha256 or sha256_of(file)  # a file of the user's own gets no stamp beside it
        size = file.stat().st_size
    except OSError as error:
        raise ModelFileError(f"{file} cannot be read: {error.strerror or error}.") from error
    known = card or next((entry for entry in CATALOGUE if entry.sha256 == sha256), None)
    return Verification(file, size, sha256, known, published=known is not None and known.sha256 is not None)
