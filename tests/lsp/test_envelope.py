"""What the converter makes of values: the types of the protocol, and no others that merely could become them."""

from __future__ import annotations

from typing import Any

import pytest
from cattrs.errors import ClassValidationError
from lsprotocol import types
from pygls.protocol import default_converter

from spark_lsp.server.envelope import be_strict


def structured(value: Any, wanted: type) -> Any:
    converter = default_converter()
    be_strict(converter)
    return converter.structure(value, wanted)


@pytest.mark.parametrize("value", [1, 1.0])
def test_a_number_becomes_the_member_of_an_enumeration(value: float) -> None:
    context = structured({"triggerKind": value}, types.InlineCompletionContext)
    assert context.trigger_kind is types.InlineCompletionTriggerKind.Invoked


@pytest.mark.parametrize("value", [True, "1", None, 7, 1.5])
def test_what_is_no_member_is_refused(value: Any) -> None:
    with pytest.raises(ClassValidationError):
        structured({"triggerKind": value}, types.InlineCompletionContext)


@pytest.mark.parametrize("value", [True, "3", None, 0.5])
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(ClassValidationError):
        structured({"line": value, "character": 0}, types.Position)


def test_numbers_may_be_written_with_a_fraction_of_zero() -> None:
    assert structured({"line": 4.0, "character": 0}, types.Position) == types.Position(4, 0)
