"""spark-lsp: inline code completions from a model on the user's own machine.

The stages in order, each handing a frozen dataclass to the next; `pipeline` calls them one after the other:

1. `documents`    the open buffer                    TextSnapshot
2. `syntax`       tree-sitter                        SyntaxTree
3. `context`      the window around the cursor       CompletionContext
4. `prompt`       token ids, healed at the cursor    Prompt
5. `decoding`     draft, verify, stop                Generation
6. `postprocess`  what fits the place                str
7. `gate`         what is sure enough to be shown    Completion

Around them: `scheduler` (the engine's thread) with `jobs` (one request each), `debounce` (when to start one) and `idle`
(what is done while nobody asks: `background`, and `ahead` with `foresight`, as far as `governor` allows); `cache`
(completions by place), `server` (LSP), `cli`, `models` (files), `settings` (`settings_layers`: where they come from,
`settings_schema`: what is written about them), `statistics` (what became of suggestions), `explanations` (of answers).
"""

__version__ = "0.1.0"
