"""Source archives from the Python package index that pip is set up for, without letting pip build anything.

`pip download` of a source archive runs the package's build backend for its metadata. So the index is read here: its
address is the one that pip's help names as the default, which takes pip's configuration and environment into account.
Nothing that is downloaded is ever run.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag, urljoin

from spark_lsp.errors import DownloadError

ACCEPTED = "text/html"
"""The form of the simple repository API that every index has (PEP 503)."""
REQUEST_SECONDS = 60.0
_HELP_COLUMNS = "1000"
"""Wide enough that pip's help does not wrap an address."""
_ADDRESS = re.compile(r"--index-url <url>.*?\(default:? (\S+?)\)", re.DOTALL)


def index_address() -> str:
    """Return the address of pip's index, without a slash at its end. Raises DownloadError."""
    given = os.environ.get("PIP_INDEX_URL")
    if given:
        return given.rstrip("/")
    environment = {**os.environ, "COLUMNS": _HELP_COLUMNS}
    command = [sys.executable, "-m", "pip", "download", "--help"]
    text = subprocess.run(command, capture_output=True, text=True, env=environment, check=False).stdout
    found = _ADDRESS.search(text)
    if found is None or "****" in found[1]:
        raise DownloadError(
            "pip does not say which package index it uses.", next_step="Set PIP_INDEX_URL to its address."
        )
    return found[1].rstrip("/")


def fetch_source(package: str, version: str, folder: Path, index: str) -> Path:
    """Return the source archive of a version in `folder`; it is downloaded unless it is there. Raises DownloadError."""
    names = archive_names(package, version)
    for name in names:
        if (folder / name).is_file():
            return folder / name
    page = f"{index}/{_normalized(package)}/"
    files = parse_page(_read(page).decode("utf-8", "replace"), page)
    name = next((name for name in names if name in files), "")
    if not name:
        raise DownloadError(f"The package index has no source archive of {package} {version}.")
    address, digest = files[name]
    data = _read(address)
    if digest and hashlib.sha256(data).hexdigest() != digest:
        raise DownloadError(f"The archive {name} arrived damaged.", next_step="Run the same command again.")
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{name}.part"
    draft.write_bytes(data)
    draft.replace(folder / name)
    return folder / name


def archive_names(package: str, version: str) -> tuple[str, ...]:
    """Return what the source archive of a version may be called: with the normalized name or the written one."""
    stems = dict.fromkeys((_normalized(package).replace("-", "_"), package))
    return tuple(f"{stem}-{version}.tar.gz" for stem in stems)


def parse_page(text: str, address: str) -> dict[str, tuple[str, str]]:
    """Return the address and the sha256 (or an empty string) of every file of a page of the simple API."""
    links: list[str] = []

    class Links(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            links.extend(value for name, value in attrs if tag == "a" and name == "href" and value)

    Links().feed(text)
    files = {}
    for link in links:
        target, fragment = urldefrag(urljoin(address, link))
        digest = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""
        files[target.rpartition("/")[2]] = (target, digest)
    return files


def _normalized(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def _read(address: str) -> bytes:
    request = urllib.request.Request(address, headers={"Accept": ACCEPTED})
    try:
        with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as response:
            return bytes(response.read())
    except (OSError, urllib.error.URLError) as error:
        raise DownloadError(f"{address} cannot be read: {error}.", next_step="Check the network.") from error
