"""Everything that can go wrong, as one tree.

::

    SparkError                    one sentence for the user, `next_step` says what to do
    ├── SettingsError             a setting has a wrong type or value
    ├── StatisticsError       the file of the counts cannot be changed
    ├── ModelError
    │   ├── UnknownModelError     no such name in the catalogue
    │   ├── ModelNotFoundError    known, but its file is not on this machine
    │   ├── ModelFileError        the file is truncated, altered or not a GGUF
    │   ├── VocabularyMismatchError  a draft model does not write the model's tokens
    │   └── DownloadError         the network, the disk or the source failed
    └── EngineError
        ├── EngineUnavailableError  llama-cpp-python is missing or does not load
        ├── ModelLoadError          llama.cpp refused the file
        ├── ContextFullError        the prompt does not fit the context
        ├── DecodeError             llama.cpp reported a failure while decoding
        └── CancelledError          the caller asked to stop; not a failure

`str(error)` is what a user sees; the log has the cause (`raise ... from`).
"""

from __future__ import annotations


class SparkError(Exception):
    """A failure described by one clear sentence and, where there is one, the next step to take."""

    def __init__(self, sentence: str, *, next_step: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.sentence} {self.next_step}".strip()


class SettingsError(SparkError):
    """A setting has a wrong type or a value out of range."""


class StatisticsError(SparkError):
    """The file of what was counted on this machine cannot be changed."""


class ModelError(SparkError):
    """Something about a model file."""


class UnknownModelError(ModelError):
    """The name is neither in the catalogue nor a file."""


class ModelNotFoundError(ModelError):
    """The model is known but its file is not on this machine."""


class ModelFileError(ModelError):
    """The file is truncated, altered or not a GGUF."""


class VocabularyMismatchError(ModelError):
    """The draft model does not write the tokens of the model that it is to draft for."""


class DownloadError(ModelError):
    """A download could not be finished; nothing half-written is left under the final name."""


class EngineError(SparkError):
    """The model runtime cannot do what was asked."""


class EngineUnavailableError(EngineError):
    """llama-cpp-python is missing or its library does not load."""


class ModelLoadError(EngineError):
    """llama.cpp refused the model file."""


class ContextFullError(EngineError):
    """The tokens do not fit the context that was reserved."""


class DecodeError(EngineError):
    """llama.cpp reported a failure while decoding."""


class CancelledError(EngineError):
    """The caller asked to stop."""

    def __init__(self) -> None:
        super().__init__("The completion was cancelled.")
