"""The real server over stdio with the scripted engine: `python -m tests.lsp.scripted_server FILE.json`.

FILE.json holds {"script": [...], "seconds_per_token": 0.0, "fim": true, "fail": "", "load_seconds": 0.0, "logits": {},
"second": [], "trace": false, "models": {}, "flags": {}, "kept_seconds": 30.0}. `models` has plans of models by name,
for what is not "scripted"; `flags` is what the command line says; after `kept_seconds` an accepted text is judged.
"load_until" names a file for which loading waits. With "trace" the request `test/memory` tells what Python holds:
{"objects": number, "bytes": number}.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from spark_lsp.decoding.cost_model import default_cost_model
from spark_lsp.errors import ModelNotFoundError
from spark_lsp.pipeline import Pipeline
from spark_lsp.scheduler import Loader
from spark_lsp.server.app import SparkServer
from spark_lsp.server.transport import protocol_stdout, serve_stdio
from spark_lsp.settings import BackgroundSettings, Settings
from spark_lsp.statistics.offers import KEPT_SECONDS
from tests.scripted_engine import ScriptedEngine


def scripted_loader(plan: dict[str, Any]) -> Callable[[Settings, Callable[[float], None]], Loader]:
    models = plan.get("models", {})

    def make(settings: Settings, on_fraction: Callable[[float], None]) -> Loader:
        name = settings.model.name
        own = {**plan, **models.get(name, {})}
        shown = name if name in models else "scripted"

        def load(cancelled: Callable[[], bool]) -> Pipeline:
            on_fraction(0.5)
            time.sleep(own.get("load_seconds", 0.0))
            while own.get("load_until") and not Path(own["load_until"]).exists() and not cancelled():
                time.sleep(0.01)
            if own.get("fail"):
                raise ModelNotFoundError(own["fail"], next_step="Run `spark-lsp models pull`.")
            engine = ScriptedEngine(
                own.get("script", []),
                seconds_per_token=own.get("seconds_per_token", 0.0),
                fim=own.get("fim", True),
                logits=own.get("logits"),
                second=own.get("second", []),
            )
            engine.info = replace(engine.info, name=shown)
            return Pipeline(engine, settings.completion, cost=default_cost_model(), context=settings.context)

        return Loader(shown, load, lambda: 1)

    return make


def main() -> None:
    plan = json.loads(Path(sys.argv[1]).read_text())
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # as `cli/serve.py` does
    # A laptop that runs the tests may be on battery.
    base = Settings(background=BackgroundSettings(on_battery=True))
    server = SparkServer(scripted_loader(plan), base, plan.get("flags"))
    server.metrics.offers.kept_seconds = plan.get("kept_seconds", KEPT_SECONDS)
    if plan.get("trace"):
        tracemalloc.start()

        @server.feature("test/memory")
        def memory(ls: SparkServer, _params: Any) -> dict[str, int]:
            gc.collect()
            return {"objects": len(gc.get_objects()), "bytes": tracemalloc.get_traced_memory()[0]}

    code = serve_stdio(server, sys.stdin.buffer, protocol_stdout())
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
