"""The engine on llama.cpp, through the low-level calls of llama-cpp-python.

This package is the only place that imports `llama_cpp`. Its `Llama` class is not used: it redirects file descriptor 1
while loading, knows no cancel and passes wrong FIM ids. What is binding here:

* A failed assertion in llama.cpp kills the process, so `decode` checks every bound that llama.cpp asserts.
* The abort callback is native code (libc's `strlen` over a two-byte buffer): a Python callback would be called after
  each of several hundred graph nodes and need the GIL each time.
* llama.cpp writes to its log callback from its own threads; after loading, the callback is native as well.
"""

from spark_lsp.decoding.llama.engine import LlamaEngine
from spark_lsp.decoding.llama.loading import MAX_OUTPUTS, SEQUENCES, default_threads, usable_cores

__all__ = ["MAX_OUTPUTS", "SEQUENCES", "LlamaEngine", "default_threads", "usable_cores"]
