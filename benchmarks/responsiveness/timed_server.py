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

_times: list[float] = []
_did_change, _status_report = SparkServer.did_change, status.status_report


def _timed(server: SparkServer, params: types.DidChangeTextDocumentParams) -> None:
    begin = time.perf_counter()
    _did_change(server, params)
    _times.append(1000 * (time.perf_counter() - begin))


def _report(server: SparkServer) -> dict[str, Any]:
    return {**_status_report(server), "editMilliseconds": _times}


if __name__ == "__main__":
    SparkServer.did_change = _timed  # type: ignore[method-assign, assignment]
    status.status_report = _report
    main()
