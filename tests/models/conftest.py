from __future__ import annotations

import contextlib
import hashlib
import http.server
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spark_lsp.models import hub, mirror

from .stand_ins import Hub, HubHandler, InstantPip, Wheelhouse


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The models directory, not yet there."""
    path = tmp_path / "models"
    monkeypatch.setenv("SPARK_LSP_MODELS", str(path))
    return path


@pytest.fixture
def wheelhouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheelhouse:
    """A folder of wheels that is the only index pip knows."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for variable in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return Wheelhouse(folder)


@pytest.fixture
def instant_pip(wheelhouse: Wheelhouse, monkeypatch: pytest.MonkeyPatch) -> InstantPip:
    """Wheels come from the folder at once; `asked` tells which."""
    pip = InstantPip(wheelhouse)
    monkeypatch.setattr(mirror, "_run_pip", pip)
    return pip


@pytest.fixture
def serve_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], Hub]]:
    """Start a hub for a file; HF_ENDPOINT points at it."""
    import huggingface_hub.constants
    import huggingface_hub.utils

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "READ_BYTES", 1024)  # so that a small file comes in many blocks
    monkeypatch.setattr(hub, "RETRY_PAUSE_S", 0.0)
    with contextlib.ExitStack() as stack:

        def start(content: bytes) -> Hub:
            served = Hub(content, etag=hashlib.sha256(content).hexdigest())
            handler = type("Handler", (HubHandler,), {"hub": served})
            server = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
            return served

        yield start
        if hasattr(huggingface_hub.utils, "close_session"):
            huggingface_hub.utils.close_session()


@pytest.fixture
def dead_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """HF_ENDPOINT points at a port where nobody listens."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")


@pytest.fixture
def silent_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """HF_ENDPOINT points at a port that takes connections and never answers."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{listener.getsockname()[1]}")
        yield
