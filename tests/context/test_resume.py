"""A document is taken up where the last server left it, and saving it is never in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_lsp.context import resume
from spark_lsp.decoding.cost_model import CostModel, default_cost_model
from spark_lsp.decoding.snapshots import SnapshotStore
from spark_lsp.documents.text import TextSnapshot
from spark_lsp.errors import CancelledError
from spark_lsp.pipeline import Completion, CompletionRequest, Pipeline
from spark_lsp.settings import CompletionSettings
from spark_lsp.syntax.languages import language_for
from tests.scripted_engine import ScriptedEngine

PYTHON = language_for("python", "")
ABOVE = "".join(f"name_{number} = {number}\n" for number in range(60))
TEXT = ABOVE + "x = "
BELOW = "\nprint(x)\n"
FAST = CostModel({1: 0.001}, 1_000_000.0)
"""A machine on which the first window of a place is the full one."""


def text_of(document: str) -> str:
    """Return a text that has next to nothing in common with that of another document."""
    return TEXT.replace("name_", f"{document}_")


class Machine:
    """One disk, on which servers start and end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.start()

    def start(
        self,
        *,
        model: str = "model",
        settings: CompletionSettings | None = None,
        rolls_back: bool = True,
        cost: CostModel = FAST,
    ) -> None:
        self.engine = ScriptedEngine(["x = 42"], rolls_back=rolls_back)
        self.pipeline = Pipeline(
            self.engine,
            settings or CompletionSettings(),
            cost=cost,
            snapshots=SnapshotStore(self.folder, model),
        )

    def complete(self, text: str = TEXT, below: str = BELOW, document: str = "a") -> Completion:
        request = CompletionRequest(document, TextSnapshot.of(text + below), len(text), PYTHON)
        return self.pipeline.complete(request)

    def computed(self, text: str = TEXT, below: str = BELOW, document: str = "a") -> int:
        """Prompt tokens that a completion at the end of `text` has to compute."""
        completion = self.complete(text, below, document)
        assert completion.text == "42"
        assert completion.generation is not None
        return completion.generation.prompt_tokens

    def idle(self) -> int:
        """Do all background work and return how many pieces there were."""
        pieces = 0
        while self.pipeline.idle(lambda: False):
            pieces += 1
            assert pieces < 100, "it never ends"
        return pieces

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.iterdir()) if self.folder.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "snapshots")


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resume, "MIN_SECONDS", 0.0)


def test_after_a_restart_the_first_completion_computes_one_token(machine: Machine) -> None:
    assert machine.computed() > 300
    machine.pipeline.leave()
    machine.start()
    assert machine.computed() == 1


def test_the_frozen_window_comes_back_wherever_the_cursor_was_before(machine: Machine) -> None:
    machine.computed(ABOVE + "y = 1\nx = ")
    for lines in range(1, 20):  # the anchor stays where it was chosen first, so a window made anew would differ
        text = ABOVE + "y = 1\n" * lines + "x = "
        machine.computed(text)
    machine.pipeline.leave()
    machine.start()
    assert machine.computed(text) == 1


def test_what_was_typed_into_another_place_meanwhile_costs_what_it_does_without_a_restart(machine: Machine) -> None:
    machine.computed()
    machine.pipeline.leave()
    machine.start()
    changed = TEXT.replace("name_59 = 59", "name_59 = 60")
    assert 1 < machine.computed(changed) < 20


def test_a_text_that_is_another_one_is_computed_and_right(machine: Machine) -> None:
    machine.computed()
    machine.pipeline.leave()
    machine.start()
    assert machine.computed("import os\n" * 50 + "x = ", below="") > 300


def test_a_closed_document_is_saved_and_taken_up_when_it_is_opened_again(machine: Machine) -> None:
    machine.computed()
    machine.pipeline.forget("a")
    assert machine.engine.cells == [[]] * len(machine.engine.cells)
    assert machine.computed() == 1


def test_a_document_that_others_pushed_out_of_the_cache_is_taken_up_from_the_disk(
    machine: Machine, hurried: None
) -> None:
    machine.computed()
    machine.idle()
    for document in "bcde":
        machine.computed(text_of(document), document=document)
    assert machine.pipeline.cache.tokens(("a", 0)) == ()
    assert machine.computed() == 1


def test_several_documents_are_saved_the_latest_first_until_the_time_is_over(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for document in "ab":
        machine.computed(text_of(document), document=document)
    times = iter([0.0, 0.1, 0.2, 0.3])
    monkeypatch.setattr(machine.pipeline._resumption, "_clock", lambda: next(times, 9.0))
    monkeypatch.setattr(resume, "LEAVE_SECONDS", 0.15)
    machine.pipeline.leave()
    machine.start()
    assert machine.computed(text_of("b"), document="b") == 1
    assert machine.computed(text_of("a"), document="a") > 300


def test_a_save_that_is_not_due_is_no_idle_work(machine: Machine) -> None:
    machine.computed()
    assert machine.idle() == 0
    assert machine.files == []


def test_a_save_that_is_due_is_one_piece_of_idle_work(machine: Machine, hurried: None) -> None:
    machine.computed()
    assert machine.idle() == 1
    assert len(machine.files) == 1
    assert machine.idle() == 0


def test_a_better_window_that_was_made_in_idle_time_is_saved_without_another_request(
    machine: Machine, hurried: None
) -> None:
    machine.start(cost=default_cost_model())
    machine.computed()
    machine.idle()
    machine.start(cost=default_cost_model())  # as after a kill: nothing was left at the end
    assert machine.computed() == 1


def test_typing_is_no_reason_to_save_again_but_another_text_after_the_cursor_is(
    machine: Machine, hurried: None
) -> None:
    machine.computed()
    machine.idle()
    machine.complete(TEXT + "41 + ")
    assert machine.idle() == 0
    machine.complete(TEXT, below="\nprint(1)\n")
    assert machine.idle() == 1


def test_the_time_counts_from_the_last_save(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(machine.pipeline._resumption, "_clock", lambda: now[0])
    saves = []
    for second in range(0, 200, 10):
        now[0] = float(second)
        machine.computed(below=f"\nprint({second})\n")
        if machine.idle():
            saves.append(second)
    assert saves == [60, 120, 180]


def test_what_is_on_disk_already_is_not_written_again(machine: Machine) -> None:
    machine.computed()
    machine.pipeline.forget("a")
    before = [file.stat().st_ino for file in machine.files]
    machine.start()
    machine.computed()
    machine.pipeline.leave()
    assert [file.stat().st_ino for file in machine.files] == before
    machine.pipeline.cache.rewind(("a", 0), 0)  # as a cancelled prefill may leave it
    machine.pipeline.leave()
    assert [file.stat().st_ino for file in machine.files] == before


def test_an_interrupted_save_leaves_nothing_and_is_still_due(machine: Machine, hurried: None) -> None:
    machine.computed()
    machine.engine.interrupt.set()
    with pytest.raises(CancelledError):
        machine.pipeline.idle(lambda: False)
    machine.engine.interrupt.clear()
    with pytest.raises(CancelledError):
        machine.pipeline.idle(lambda: True)
    assert machine.files == []
    assert machine.idle() == 1


def test_a_disk_that_refuses_is_not_asked_in_a_loop(machine: Machine, hurried: None) -> None:
    machine.folder.write_text("a file where the folder should be")
    machine.computed()
    machine.idle()
    machine.pipeline.leave()
    machine.start()
    assert machine.computed() > 300


def test_a_sequence_cut_short_by_a_cancel_does_not_count_as_the_new_text(machine: Machine, hurried: None) -> None:
    machine.computed()
    machine.pipeline.leave()
    calls = iter([False] * 3)
    request = CompletionRequest("a", TextSnapshot.of("import os\n" * 300 + "x = "), 3004, PYTHON)
    with pytest.raises(CancelledError):
        machine.pipeline.complete(request, cancelled=lambda: next(calls, True))
    assert not machine.pipeline._resumption.save_due(machine.pipeline._documents.items())


@pytest.mark.parametrize("damage", ["cut", "flipped", "nonsense"])
def test_a_damaged_snapshot_is_as_good_as_none(machine: Machine, damage: str) -> None:
    machine.computed()
    machine.pipeline.leave()
    (file,) = machine.files
    content = bytearray(file.read_bytes())
    if damage == "cut":
        del content[len(content) // 2 :]
    elif damage == "flipped":
        content[len(content) // 2] ^= 1
    else:
        content = bytearray(b"x = 42")
    file.write_bytes(content)
    machine.start()
    assert machine.computed() > 300
    assert machine.files == []


def test_a_note_of_another_version_is_as_good_as_no_snapshot(machine: Machine) -> None:
    store = SnapshotStore(machine.folder, "model")
    store.keep("a", [1, 2], {"field": "of the future"}, bytearray(b"[1, 2]"))
    assert machine.computed() > 300


def test_a_state_that_the_engine_refuses_is_removed(machine: Machine) -> None:
    machine.computed()
    machine.pipeline.leave()
    found = SnapshotStore(machine.folder, "model").find("a")
    assert found is not None
    SnapshotStore(machine.folder, "model").keep("a", found.tokens[1:], found.note, found.state)
    machine.start()
    assert machine.computed() > 300
    assert machine.files == []


def test_another_model_or_document_computes_everything(machine: Machine) -> None:
    machine.computed()
    machine.pipeline.leave()
    machine.start()
    assert machine.computed(document="b") > 300
    machine.start(model="another")
    assert machine.computed() > 300


def test_with_snapshots_off_nothing_is_written_or_read(machine: Machine, hurried: None) -> None:
    off = CompletionSettings(snapshots=False)
    machine.start(settings=off)
    machine.computed()
    assert machine.idle() == 0
    machine.pipeline.forget("a")
    machine.computed()
    machine.pipeline.leave()
    assert machine.files == []
    machine.start()
    machine.computed()
    machine.pipeline.leave()
    machine.start(settings=off)
    assert machine.computed() > 300


def test_a_few_tokens_are_not_worth_a_file(machine: Machine, hurried: None) -> None:
    machine.computed("x = ", below="")
    machine.idle()
    machine.pipeline.leave()
    assert machine.files == []


def test_a_model_that_cannot_take_tokens_back_has_no_snapshots(machine: Machine, hurried: None) -> None:
    machine.start(rolls_back=False)
    machine.computed()
    machine.idle()
    machine.pipeline.leave()
    assert machine.files == []
