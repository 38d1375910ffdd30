"""The real server, which also tells how long it handled each edit: `python -m benchmarks.responsiveness.timed_server`.

Takes the arguments of `spark-lsp`. The answer to `spark/status` has the wall-clock milliseconds from the moment when a
`didChange` reached its handler to its end, in order, as `editMilliseconds`.
"""

from __future__ import annotations

import time
from typing import Any

from lsprotocol import types

from spark_lsp.cli import main
from spark_lsp.server import status
from spark_lsp.server.app import SparkServer
from spark_lsp.server.document_events import DocumentEvents

_times: list[float] = []
_change, _status_report = DocumentEvents.change, status.status_report


def _timed(events: DocumentEvents, params: types.DidChangeTextDocumentParams) -> None:
    begin = time.perf_counter()
    _change(events, params)
    _times.append(1000 * (time.perf_counter() - begin))


def _report(server: SparkServer) -> dict[str, Any]:
    return {**_status_report(server), "editMilliseconds": _times}


if __name__ == "__main__":
    DocumentEvents.change = _timed  # type: ignore[method-assign, assignment]
    status.status_report = _report
    main()
