"""`python -m tests.lsp.fuzz --messages N --seed S`: run the fuzz, and print what was sent."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import tempfile

from spark_lsp.decoding.cost_cache import DIRECTORY_VARIABLE
from tests.lsp.fuzz.runner import ENCODINGS, FuzzFailure, run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.lsp.fuzz", description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000, help="in each encoding (default 20000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--encoding", choices=ENCODINGS, help="one of the three; all of them unless given")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    for encoding in (options.encoding,) if options.encoding else ENCODINGS:
        with tempfile.TemporaryDirectory() as folder:
            os.environ[DIRECTORY_VARIABLE] = folder
            try:
                counts = asyncio.run(run(options.messages, options.seed, encoding))
            except FuzzFailure as failure:
                raise SystemExit(f"{failure}") from failure
        print(f"{encoding}, seed {options.seed}: {counts.total()} messages, no fault")
        for name, count in counts.most_common():
            print(f"  {count:6} {name}")


if __name__ == "__main__":
    main()
