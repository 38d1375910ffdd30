"""`spark-lsp optimize`: variants of a model that are made for one machine, measured there, and the best one kept.

::

    session      options -> plan, sample, journal -> run
    run          build and measure every recipe, then the fastest ones in full, keep one
      recipes    what to try; which tensor gets which type (pure)
      build      recipe -> file: vocabulary cut (vocabulary), new types (requantize), in a process of its own (isolated)
      bench      measurements kept in the journal: speed, quality on a sample, memory
      statistics, choose   loss with its interval, Pareto front, the choice (pure)
    variants     the kept file with its manifest; `kept_variant` is what the server asks
"""
