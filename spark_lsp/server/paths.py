"""From URIs to files on this machine, and to the names that the model is told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pygls.uris import to_fs_path


def local_path(uri: str) -> Path | None:
    """Return the path of a file on this machine; None for an untitled document, another scheme or another host."""
    try:
        path = to_fs_path(uri) if not urlsplit(uri).netloc else None
    except ValueError:  # not a URI at all
        return None
    return Path(path) if path and Path(path).is_absolute() else None


def shown_name(uri: str, folders: Iterable[Path]) -> str:
    """Return what a document is called before the model: its path within its workspace folder, else its last name."""
    path = local_path(uri)
    if path is None:
        return unquote(uri).rpartition("/")[2] or uri
    return name_within(path, folders)


def name_within(path: Path, folders: Iterable[Path]) -> str:
    """Return the path within the innermost of `folders` that holds it, with slashes; else its last name."""
    folder = home_of(path, folders)
    return path.relative_to(folder).as_posix() if folder is not None else path.name


def home_of(path: Path, folders: Iterable[Path]) -> Path | None:
    """Return the innermost of `folders` that holds `path`."""
    holding = [folder for folder in folders if folder in path.parents]
    return max(holding, key=lambda folder: len(folder.parts), default=None)
