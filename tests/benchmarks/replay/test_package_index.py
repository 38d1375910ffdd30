"""The package index client against a server on the loopback interface; nothing leaves the machine."""

from __future__ import annotations

import hashlib
import http.server
import io
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.replay.archives import LARGEST_BYTES, fetch_npm, read_sources
from benchmarks.replay.package_index import archive_names, fetch_source, index_address, parse_page
from benchmarks.replay.releases import ENDINGS, PAIRS, languages
from benchmarks.replay.typist import OPENERS
from spark_lsp.errors import DownloadError

ARCHIVE = b"an archive"


class Index:
    """Pages and files by path, and what was asked for."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.address = ""


@pytest.fixture
def index() -> Iterator[Index]:
    served = Index()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            data = served.pages.get(self.path)
            self.send_response(200 if data is not None else 404)
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    served.address = f"http://127.0.0.1:{server.server_address[1]}"
    yield served
    server.shutdown()
    thread.join()
    server.server_close()


FILE = "/files/my_package-1.0.tar.gz"


def page(digest: str) -> bytes:
    return f'<a href="x/other.whl">w</a><a href="../../files/my_package-1.0.tar.gz#sha256={digest}">s</a>'.encode()


def test_a_source_archive_is_downloaded_once(index: Index, tmp_path: Path) -> None:
    index.pages = {"/simple/my-package/": page(hashlib.sha256(ARCHIVE).hexdigest()), FILE: ARCHIVE}
    simple = f"{index.address}/simple"
    first = fetch_source("My.Package", "1.0", tmp_path / "cache", simple)
    assert first.read_bytes() == ARCHIVE
    assert fetch_source("My.Package", "1.0", tmp_path / "cache", simple) == first
    assert index.asked == ["/simple/my-package/", FILE]


def test_a_damaged_archive_is_not_kept(index: Index, tmp_path: Path) -> None:
    index.pages = {"/simple/my-package/": page("0" * 64), FILE: ARCHIVE}
    with pytest.raises(DownloadError, match="arrived damaged"):
        fetch_source("my-package", "1.0", tmp_path, f"{index.address}/simple")
    assert not list(tmp_path.iterdir())


def test_a_version_without_a_source_archive_is_one_sentence(index: Index, tmp_path: Path) -> None:
    index.pages = {"/simple/my-package/": page("")}
    with pytest.raises(DownloadError, match=r"no source archive of my-package 2\.0"):
        fetch_source("my-package", "2.0", tmp_path, f"{index.address}/simple")


def test_an_index_that_does_not_answer_is_one_sentence(index: Index, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="cannot be read"):
        fetch_source("other", "1.0", tmp_path, f"{index.address}/simple")


def test_the_index_is_the_one_that_pip_is_set_up_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/environment/")
    assert index_address() == "http://127.0.0.1:9/environment"
    monkeypatch.delenv("PIP_INDEX_URL")
    configuration = tmp_path / "pip.conf"
    configuration.write_text("[global]\nindex-url = http://127.0.0.1:9/configured\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    assert index_address() == "http://127.0.0.1:9/configured"


def test_an_index_with_a_password_must_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    configuration = tmp_path / "pip.conf"
    configuration.write_text("[global]\nindex-url = http://name:word@127.0.0.1:9/configured\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    with pytest.raises(DownloadError, match="Set PIP_INDEX_URL"):
        index_address()


def test_names_of_archives_are_normalized_or_as_written() -> None:
    assert archive_names("Pydantic-Core", "2.0") == ("pydantic_core-2.0.tar.gz", "Pydantic-Core-2.0.tar.gz")
    assert parse_page("<html></html>", "http://127.0.0.1/") == {}


def archive(folder: Path, files: dict[str, bytes]) -> Path:
    path = folder / "package-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as target:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"package-1.0/{name}")
            entry.size = len(data)
            target.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo("package-1.0/src/link.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        target.addfile(link)
    return path


def test_only_the_packages_own_sources_of_the_language_are_read(tmp_path: Path) -> None:
    path = archive(
        tmp_path,
        {
            "src/a.py": b"x = 1\n",
            "src/b.rs": b"fn a() {}\n",
            "tests/c.py": b"",
            "src/_tests/c.py": b"",
            "src/test_d.py": b"",
            "docs/conf.py": b"",
            "src/latin.py": b"# \xe9\n",
            "src/carriage.py": b"x\r\n",
            "src/large.py": b"#" * (LARGEST_BYTES + 1),
        },
    )
    assert read_sources(path, "python") == {"src/a.py": "x = 1\n"}
    assert read_sources(path, "rust") == {"src/b.rs": "fn a() {}\n"}
    assert not list(tmp_path.glob("package-1.0/*")), "nothing is unpacked"


def test_a_file_that_is_no_archive_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(ARCHIVE)
    with pytest.raises(DownloadError, match="cannot be read"):
        read_sources(tmp_path / "a.tar.gz", "python")


def test_without_npm_typescript_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(DownloadError, match="npm is not installed"):
        fetch_npm("@scope/name", "1.0", tmp_path)
    (tmp_path / "scope-name-1.0.tgz").write_bytes(ARCHIVE)
    assert fetch_npm("@scope/name", "1.0", tmp_path) == tmp_path / "scope-name-1.0.tgz", "what is there is used"


def test_every_language_of_the_table_can_be_read_and_typed() -> None:
    assert languages() == ("python", "rust", "c", "typescript")
    assert set(languages()) == set(ENDINGS) == set(OPENERS)
    assert all(pair.old != pair.new for pair in PAIRS)
