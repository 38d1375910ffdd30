from __future__ import annotations

from pathlib import Path

import pytest

from spark_lsp.models import disk
from spark_lsp.models.disk import NotEnoughRoomError, require_room, size_text


@pytest.mark.parametrize(
    ("count", "text"),
    [(None, "-"), (0, "0.0 MB"), (98_362_432, "98 MB"), (491_400_064, "491 MB"), (8_098_525_600, "8.1 GB")],
)
def test_sizes_are_written_as_people_read_them(count: int | None, text: str) -> None:
    assert size_text(count) == text


def test_room_is_required_beyond_the_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1000})())
    monkeypatch.setattr(disk, "SPARE_BYTES", 100)
    require_room(tmp_path, 900)
    with pytest.raises(NotEnoughRoomError):
        require_room(tmp_path, 901)
