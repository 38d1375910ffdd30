"""Which files are private: neither completed nor read as context.

A file is excluded if its name looks like a secret, if it lies in a folder that holds keys, or if the nearest rule that
matches it says so. Rules are written as for git, in `.gitignore` and `.sparkignore` of the file's folder and of those
above it, up to the workspace folder or the repository's root, whichever is further up. As with git, deeper rules win
over higher ones and later over earlier ones, and nothing inside an excluded folder can be taken back in. A matching
rule in a `.sparkignore` beats any `.gitignore`, so it can also let in what git ignores.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from pathspec import GitIgnoreSpec

SECRET_NAMES = (
    ".env*", "*.env", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc", "*.gpg",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.tfvars", "*.tfstate", "*credential*", "*secret*",
    "*password*", ".netrc", "_netrc", ".npmrc", ".pypirc", ".htpasswd", ".pgpass",
)  # fmt: skip
"""Patterns of names, lower case. A source file that is left out for its name costs a few suggestions, nothing else."""
SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store"})
"""Folders whose files hold keys whatever they are called."""
IGNORE_FILES = (".gitignore", ".sparkignore")
"""The latter is asked first; see above."""
IGNORE_FILE_BYTES = 1_000_000
"""Of a larger file only the beginning counts: it is no list of patterns."""
FRESH_SECONDS = 2.0
"""So long the rules of a folder are believed before the disk is asked again; listing a folder asks for each file."""
_FOLDERS_REMEMBERED = 4096


def looks_secret(name: str) -> bool:
    """Whether a file of this name may hold keys or passwords."""
    lowered = name.lower()
    return any(fnmatchcase(lowered, pattern) for pattern in SECRET_NAMES)


def is_secret(path: PurePath) -> bool:
    """Whether the file's name or one of its folders says that it holds keys or passwords."""
    return looks_secret(path.name) or any(part.lower() in SECRET_FOLDERS for part in path.parts[:-1])


@dataclass(frozen=True, slots=True)
class _Folder:
    """What is known of a folder, for a while."""

    rules: tuple[GitIgnoreSpec | None, ...]
    """For each of `IGNORE_FILES`."""
    is_repository: bool
    until: float


class Exclusions:
    """Answers for files below any folder. Reads the disk; may be asked by several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.enabled = True
        self._roots: tuple[Path, ...] = ()
        self._clock = clock
        self._folders: dict[Path, _Folder] = {}

    def use_roots(self, roots: Iterable[Path]) -> None:
        """Set the workspace folders, above which only a repository's own rules are looked for."""
        self._roots = tuple(roots)

    def refresh(self) -> None:
        """Believe nothing that was read before: an ignore file was saved."""
        self._folders.clear()

    def is_excluded(self, path: Path) -> bool:
        """Whether `path`, a file with an absolute path, is private. Rules that cannot be read do not count."""
        if not self.enabled:
            return False
        path = Path(os.path.normpath(path))
        if is_secret(path):
            return True
        levels = self._levels(path)
        for depth in range(len(levels)):
            # From the outermost folder inwards: git looks no further where a folder is excluded.
            component = path if depth == len(levels) - 1 else levels[depth + 1]
            if self._ruled_out(component, levels[: depth + 1], is_folder=component is not path):
                return True
        return False

    def _levels(self, path: Path) -> list[Path]:
        """Return the folders whose rules hold for `path`, the outermost first."""
        folders = list(path.parents)
        root = next((i for i, folder in enumerate(folders) if self._folder(folder).is_repository), 0)
        workspace = max((i for i, folder in enumerate(folders) if folder in self._roots), default=0)
        return folders[max(root, workspace) :: -1]

    def _ruled_out(self, component: Path, levels: Sequence[Path], *, is_folder: bool) -> bool:
        rules = [(folder, self._folder(folder).rules) for folder in reversed(levels)]
        for kind in reversed(range(len(IGNORE_FILES))):
            for folder, specs in rules:
                spec = specs[kind]
                if spec is None:
                    continue
                name = component.relative_to(folder).as_posix() + "/" * is_folder
                matched = spec.check_file(name).include
                if matched is not None:
                    return matched
        return False

    def _folder(self, path: Path) -> _Folder:
        now = self._clock()
        known = self._folders.get(path)
        if known is None or known.until < now:
            if len(self._folders) >= _FOLDERS_REMEMBERED:
                self._folders.clear()
            rules = tuple(_read_rules(path / name) for name in IGNORE_FILES)
            known = self._folders[path] = _Folder(rules, _exists(path / ".git"), now + FRESH_SECONDS)
        return known


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _read_rules(path: Path) -> GitIgnoreSpec | None:
    """Return the rules in an ignore file; None if there is none, or none that can be read."""
    try:
        with path.open("rb") as file:
            lines = file.read(IGNORE_FILE_BYTES).decode("utf-8-sig", "replace").splitlines()
    except (OSError, ValueError):  # ValueError: a URI may decode to a path with a NUL
        return None
    kept = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:  # git too passes over a pattern that it cannot read
            continue
        kept.append(line)
    return GitIgnoreSpec.from_lines(kept) if kept else None
