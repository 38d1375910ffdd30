"""`spark-lsp stats` and `spark-lsp settings`."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from spark_lsp.cli.settings import settings
from spark_lsp.cli.stats import stats
from spark_lsp.settings_files import tomllib
from spark_lsp.statistics import store
from spark_lsp.statistics.counts import Counts, Row


def test_the_counts_are_shown_and_deleted(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert run(stats).output == "Nothing was counted yet.\n"
    store.add(store.statistics_path(), {Row("python", "document"): Counts(shown=4, accepted=1)})
    assert store.statistics_path().is_relative_to(tmp_path), "the tests have a state directory of their own"
    assert "1 (25 %)" in run(stats).output
    assert json.loads(run(stats, ["--json"]).output)["rows"][0]["shown"] == 4
    assert run(stats, ["--reset"]).output == "The counts are deleted.\n"
    assert run(stats, ["--reset"]).output == "There was nothing to delete.\n"
    assert run(stats).output == "Nothing was counted yet.\n"


def test_the_settings_are_printed_as_a_file_a_schema_and_a_table() -> None:
    run = CliRunner().invoke
    plain = run(settings).output
    assert "spark-lsp.toml" in plain.splitlines()[0]
    assert tomllib.loads(plain)["completion"] == {}
    assert json.loads(run(settings, ["--json-schema"]).output)["properties"]["completion"]["properties"]["maxLines"]
    assert run(settings, ["--markdown"]).output.startswith("| setting | default | meaning |\n")
