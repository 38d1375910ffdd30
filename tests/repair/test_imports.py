"""Imports that a model proposes, and where they go."""

from __future__ import annotations

import pytest

from spark_lsp.documents.text import TextSnapshot
from spark_lsp.repair.imports import import_in, place_of_import


@pytest.mark.parametrize(
    ("answer", "name", "statement"),
    [
        ("import csv", "csv", "import csv"),
        ("from collections import Counter", "Counter", "from collections import Counter"),
        ("from collections import Counter, deque", "Counter", None),
        ("import collections as c\nfrom collections import Counter", "Counter", "from collections import Counter"),
        ("import os.path", "os", "import os.path"),
        ("import datetime as dt", "dt", "import datetime as dt"),
        ("from math import lenght", "lenght", None),
        ("import lenght", "lenght", None),
        ("import os.nothing", "os", None),
        ("import numpy as np", "np", None),
        ("from . import csv", "csv", None),
        ("You need `csv`.", "csv", None),
        ("", "csv", None),
    ],
)
def test_only_what_the_standard_library_has_is_taken(answer: str, name: str, statement: str | None) -> None:
    assert import_in(answer, name) == statement


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os\n\nx = 1\n", "import os\nimport csv\n\nx = 1\n"),
        ("import os\r\n\r\nx = 1\r\n", "import os\r\nimport csv\r\n\r\nx = 1\r\n"),
        ('"""Doc."""\n\nx = 1\n', '"""Doc."""\n\nimport csv\n\nx = 1\n'),
        (
            '"""Doc."""\nfrom a import (\n    b,\n)\n\nx = 1\n',
            '"""Doc."""\nfrom a import (\n    b,\n)\nimport csv\n\nx = 1\n',
        ),
        (
            "#!/usr/bin/python\n# -*- coding: utf-8 -*-\nx = 1\n",
            "#!/usr/bin/python\n# -*- coding: utf-8 -*-\nimport csv\n\nx = 1\n",
        ),
        ("x = 1\n", "import csv\n\nx = 1\n"),
    ],
)
def test_it_goes_behind_the_imports_that_are_there(before: str, after: str) -> None:
    place = place_of_import(TextSnapshot.of(before))
    assert place is not None
    offset, lead, behind = place
    assert before[:offset] + lead + "import csv" + behind + before[offset:] == after


def test_it_has_no_place_in_a_text_that_does_not_parse() -> None:
    assert place_of_import(TextSnapshot.of("def f(:\n")) is None
