"""The source files of a published version, read out of its archive; nothing is unpacked to the disk and nothing run."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from benchmarks.replay.package_index import fetch_source
from benchmarks.replay.releases import ENDINGS, Registry
from spark_lsp.errors import DownloadError

LARGEST_BYTES = 150_000
"""A larger file is generated, or no place where anybody types."""
LEFT_OUT = re.compile(
    r"(^|/)(\w*tests?|testing|docs?|examples?|bench\w*|vendor(ed)?|_vendor|dist|build)/|\.d\.ts$|(^|/)test_"
)
"""What is not the package's own source. Tests are left out because they repeat each other."""
NPM_SECONDS = 180.0


def fetch_npm(package: str, version: str, folder: Path) -> Path:
    """Return the archive of an npm package in `folder`, downloaded unless it is there. Raises DownloadError.

    `npm pack` of a published version only downloads; `--ignore-scripts` makes sure of it.
    """
    file = folder / f"{package.removeprefix('@').replace('/', '-')}-{version}.tgz"
    if file.is_file():
        return file
    npm = shutil.which("npm")
    if npm is None:
        raise DownloadError("npm is not installed.", next_step="Install it, or leave typescript out with --languages.")
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "pack", f"{package}@{version}", "--ignore-scripts", "--silent", "--pack-destination", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=NPM_SECONDS, cwd=folder, check=False)
    except subprocess.TimeoutExpired as error:
        raise DownloadError(f"npm did not deliver {package} {version} in {NPM_SECONDS:.0f} s.") from error
    if done.returncode or not file.is_file():
        raise DownloadError(f"npm could not download {package} {version}.", next_step="Check the network.")
    return file


def fetch(registry: Registry, package: str, version: str, folder: Path, index: str) -> Path:
    """Return the archive of a version in `folder`. Raises DownloadError."""
    if registry is Registry.NPM:
        return fetch_npm(package, version, folder)
    return fetch_source(package, version, folder, index)


def read_sources(archive: Path, language: str) -> dict[str, str]:
    """Return the texts of the package's own files of a language by path, the archive's top folder left out.

    Files that are large, not UTF-8, or have line ends other than LF are left out. Raises DownloadError.
    """
    texts = {}
    try:
        with tarfile.open(archive) as files:
            for member in files:
                path = member.name.partition("/")[2]
                if not member.isfile() or not path.endswith(ENDINGS[language]) or LEFT_OUT.search(path):
                    continue
                stream = files.extractfile(member)
                if stream is None or member.size > LARGEST_BYTES:
                    continue
                try:
                    text = stream.read().decode("utf-8")
                except UnicodeDecodeError:
                    continue
                if "\r" not in text:
                    texts[path] = text
    except (tarfile.TarError, OSError, EOFError) as error:
        raise DownloadError(
            f"The archive {archive.name} cannot be read.", next_step="Delete it and run again."
        ) from error
    return texts
