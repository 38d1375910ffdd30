"""The Hugging Face hub as a source.

huggingface_hub supplies addresses, token, HF_ENDPOINT, HF_HUB_OFFLINE, proxies and the HTTP client. The transfer is
written here, because recent versions of that library start an interrupted file anew.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from spark_lsp.errors import DownloadError
from spark_lsp.models.catalogue import ModelCard
from spark_lsp.models.checksum import READ_BYTES, stamp_path
from spark_lsp.models.disk import flush_to_disk, require_room
from spark_lsp.models.progress import Progress, Transferred

log = logging.getLogger(__name__)

PROBE_S = 3.0  # seconds until a silent hub counts as unreachable when another source can be tried
PATIENT_PROBE_S = 15.0  # seconds, when the hub is the only source
GRACE_S = 1.0  # seconds beyond a probe's own time-out, for name look-ups, which it does not bound

RETRIES = 5  # attempts in a row that bring no byte, before the transfer is given up
RETRY_PAUSE_S = 1.0  # seconds between two attempts

SHA256 = re.compile(r"[0-9a-f]{64}")
PARTIAL = "hub.partial"
JOURNAL = "hub.json"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as the hub describes it now; the etag of a large file is its sha256."""

    url: str
    size: int | None
    etag: str | None


def cached_copy(card: ModelCard) -> Path | None:
    """Return the file of `card` in huggingface_hub's own cache, unchecked, or None. No network is used."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(card.repository, card.file)
    return Path(found) if isinstance(found, str) and Path(found).is_file() else None


def locate(card: ModelCard, timeout_s: float) -> RemoteFile:
    """Return where the hub has the file, after at most `timeout_s` and a second.

    Raises DownloadError when the hub cannot be reached, refuses, or holds another file than the published one.
    """
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url

    if constants.HF_HUB_OFFLINE:
        raise DownloadError("The hub is switched off by HF_HUB_OFFLINE.", next_step="Unset it to download.")
    url = hf_hub_url(card.repository, card.file, endpoint=os.environ.get("HF_ENDPOINT", "").rstrip("/") or None)
    try:
        metadata = _within(timeout_s + GRACE_S, lambda: get_hf_file_metadata(url, timeout=timeout_s))
    except Exception as error:
        raise _explained(card, error) from error
    remote = RemoteFile(url, metadata.size, metadata.etag)
    other_size = card.bytes is not None and remote.size is not None and remote.size != card.bytes
    other_sum = card.sha256 is not None and bool(SHA256.fullmatch(remote.etag or "")) and remote.etag != card.sha256
    if other_size or other_sum:
        raise DownloadError(
            f"The hub now holds another file as {card.repository}/{card.file}.",
            next_step="Update spark-lsp, or give a file that you have with `--from PATH`.",
        )
    return remote


def fetch(card: ModelCard, staging: Path, progress: Progress, *, probe_s: float = PATIENT_PROBE_S) -> Path:
    """Download the file into `staging`, going on where an earlier call stopped, and return it, unchecked.

    Raises DownloadError when the hub fails, and OSError when the disk does.
    """
    remote = locate(card, probe_s)
    partial = staging / PARTIAL
    done = _resumable_bytes(remote, staging)
    if remote.size is not None:
        require_room(staging, remote.size - done)
    with partial.open("r+b" if partial.exists() else "w+b") as target:
        target.truncate(done)
        target.seek(done)
        progress(Transferred(done, remote.size))
        fruitless = 0
        while remote.size is None or target.tell() < remote.size:
            before = target.tell()
            try:
                with contextlib.closing(_blocks(remote, before)) as blocks:
                    for offset, block in blocks:
                        _write_at(target, offset, block)
                        progress(Transferred(target.tell(), remote.size))
                break
            except _TransferError as error:
                fruitless = 0 if target.tell() > before else fruitless + 1
                if error.final or fruitless > RETRIES:
                    raise _explained(card, error.cause, "The connection to the hub broke off") from error.cause
                log.info("the transfer broke off at byte %d: %s", target.tell(), error.cause)
                time.sleep(RETRY_PAUSE_S)
        flush_to_disk(target)
    return partial


def discard(staging: Path) -> None:
    """Forget what `fetch` has left in `staging`."""
    for file in (staging / PARTIAL, stamp_path(staging / PARTIAL), staging / JOURNAL):
        file.unlink(missing_ok=True)


def published_sha256(staging: Path) -> str | None:
    """Return the checksum that the hub stated for the file in `staging`, if it stated one."""
    etag = _journal(staging).get("etag")
    return etag if isinstance(etag, str) and SHA256.fullmatch(etag) else None


class _TransferError(Exception):
    """The network failed, not the disk and not the caller; `final` says that trying again is useless."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause
        status = getattr(getattr(cause, "response", None), "status_code", None)
        self.final = status is not None and status < 500


def _blocks(remote: RemoteFile, start: int) -> Generator[tuple[int, bytes], None, None]:
    """Yield the file from byte `start` on, each block with its offset; from 0 when the server ignores the request.

    Raises _TransferError for whatever the network does. What the consumer raises never passes through here.
    """
    from huggingface_hub import constants
    from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status  # type: ignore[attr-defined]

    headers = {**build_hf_headers(), "Accept-Encoding": "identity"}  # of a compressed body a range means nothing
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        timeout_s = constants.HF_HUB_DOWNLOAD_TIMEOUT
        with get_session().stream(
            "GET", remote.url, headers=headers, timeout=timeout_s, follow_redirects=True
        ) as answer:
            hf_raise_for_status(answer)
            continued = answer.headers.get("Content-Range", "").startswith(f"bytes {start}-")
            at = start if continued else 0
            for block in answer.iter_bytes(READ_BYTES):
                yield at, block
                at += len(block)
        if remote.size is not None and at < remote.size:
            raise EOFError(f"{at} of {remote.size} bytes")
    except Exception as error:
        raise _TransferError(error) from error


def _write_at(target: IO[bytes], offset: int, block: bytes) -> None:
    if target.tell() != offset:
        target.seek(offset)
        target.truncate()
    target.write(block)


def _resumable_bytes(remote: RemoteFile, staging: Path) -> int:
    """Return how much of the partial file belongs to `remote`, and note `remote` for the next time."""
    partial = staging / PARTIAL
    here = partial.stat().st_size if partial.exists() else 0
    before = _journal(staging)  # the address may change with HF_ENDPOINT, the file is still the same
    same = remote.etag is not None and (before.get("etag"), before.get("size")) == (remote.etag, remote.size)
    (staging / JOURNAL).write_text(json.dumps(asdict(remote)) + "\n", "utf-8")
    return here if same and (remote.size is None or here <= remote.size) else 0


def _journal(staging: Path) -> dict[str, Any]:
    try:
        fields = json.loads((staging / JOURNAL).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _within(limit_s: float, call: Callable[[], T]) -> T:
    """Return what `call` returns. Raises TimeoutError after `limit_s`, leaving the call to end by itself."""
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(call())
        except BaseException as error:  # handed to the waiting thread
            failure.append(error)

    thread = threading.Thread(target=run, name="hub-probe", daemon=True)
    thread.start()
    thread.join(limit_s)
    if failure:
        raise failure[0]
    if not outcome:
        raise TimeoutError(f"no answer within {limit_s:g} s")
    return outcome[0]


def _explained(card: ModelCard, error: Exception, otherwise: str = "The hub cannot be reached") -> DownloadError:
    from huggingface_hub.errors import EntryNotFoundError, GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

    log.debug("the hub failed", exc_info=error)
    where = f"{card.repository}/{card.file}"
    if isinstance(error, GatedRepoError):
        return DownloadError(f"The hub asks you to accept the terms of {card.repository} first.", next_step=LOG_IN)
    if isinstance(error, RepositoryNotFoundError):
        return DownloadError(f"The hub does not show {card.repository} to you.", next_step=LOG_IN)
    if isinstance(error, EntryNotFoundError):
        return DownloadError(f"The hub has no file {where}.", next_step="Update spark-lsp, or use `--from PATH`.")
    if isinstance(error, HfHubHTTPError):
        status = getattr(error.response, "status_code", "an error")
        return DownloadError(f"The hub answered {status} for {where}.", next_step="Try again later.")
    return DownloadError(
        f"{otherwise} ({type(error).__name__}).",
        next_step="Check the network and HF_ENDPOINT, then run the same command again; what has arrived is kept.",
    )


LOG_IN = "Set HF_TOKEN to a token that may read it."
