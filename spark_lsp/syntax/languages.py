"""The languages: their grammar, their comments, and how a document is recognised as one of them.

The table holds facts only. A language needs no entry to be served: without one it is `PLAIN`, and the rules by
indentation apply.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote


@dataclass(frozen=True, slots=True)
class Language:
    """What the syntax stage has to know about a language."""

    name: str
    grammar: str | None
    """Its name in the bundle of grammars; None when there is none."""
    line_comment: str | None
    block_comment: tuple[str, str] | None
    extensions: tuple[str, ...]
    """Endings of file names, lower case, with the dot."""
    filenames: tuple[str, ...]
    """Whole file names, lower case."""
    language_ids: tuple[str, ...]
    """The `languageId`s that editors send for it."""
    indent_blocks: bool
    """Whether a block is what is indented deeper, rather than what stands between two delimiters."""


PLAIN = Language("plaintext", None, None, None, (), (), (), False)
"""Any document whose language is not known."""

_C_BLOCK = ("/*", "*/")
_MARKUP = ("<!--", "-->")
_INDENTED = frozenset({"python", "yaml", "nim", "gdscript", "starlark", "haskell", "fsharp", "elm", "rst"})


def _row(
    name: str,
    extensions: str,
    line: str | None = None,
    block: tuple[str, str] | None = None,
    *,
    ids: str = "",
    files: str = "",
    grammar: str | None = None,
) -> Language:
    """A row of the table: lists are separated by spaces, grammar and id are the name unless given."""
    return Language(
        name=name,
        grammar=grammar or name,
        line_comment=line,
        block_comment=block,
        extensions=tuple(extensions.split()),
        filenames=tuple(files.split()),
        language_ids=(name, *ids.split()),
        indent_blocks=name in _INDENTED,
    )


LANGUAGES: tuple[Language, ...] = (
    _row("python", ".py .pyi .pyw", "#", files="sconstruct sconscript wscript"),
    _row("javascript", ".js .mjs .cjs .jsx", "//", _C_BLOCK, ids="javascriptreact"),
    _row("typescript", ".ts .mts .cts", "//", _C_BLOCK),
    _row("typescriptreact", ".tsx", "//", _C_BLOCK, ids="tsx", grammar="tsx"),
    _row("java", ".java", "//", _C_BLOCK),
    _row("c", ".c .h", "//", _C_BLOCK),
    _row("cpp", ".cpp .cc .cxx .hpp .hh .hxx .ipp .inl .tpp", "//", _C_BLOCK, ids="c++"),
    _row("csharp", ".cs .csx", "//", _C_BLOCK, ids="c_sharp cs"),
    _row("go", ".go", "//", _C_BLOCK),
    _row("rust", ".rs", "//", _C_BLOCK),
    _row("ruby", ".rb .rake .gemspec .ru", "#", ("=begin", "=end"), files="rakefile gemfile podfile vagrantfile"),
    _row("php", ".php .phtml", "//", _C_BLOCK),
    _row("swift", ".swift", "//", _C_BLOCK),
    _row("kotlin", ".kt .kts", "//", _C_BLOCK),
    _row("scala", ".scala .sc .sbt", "//", _C_BLOCK),
    _row("groovy", ".groovy .gradle", "//", _C_BLOCK, files="jenkinsfile"),
    _row("dart", ".dart", "//", _C_BLOCK),
    _row("objective-c", ".m", "//", _C_BLOCK, ids="objc objectivec", grammar="objc"),
    _row("cuda", ".cu .cuh", "//", _C_BLOCK, ids="cuda-cpp"),
    _row("zig", ".zig .zon", "//"),
    _row("d", ".d .di", "//", _C_BLOCK),
    _row("odin", ".odin", "//", _C_BLOCK),
    _row("nim", ".nim .nims .nimble", "#", ("#[", "]#")),
    _row("lua", ".lua .rockspec", "--", ("--[[", "]]")),
    _row("luau", ".luau", "--", ("--[[", "]]")),
    _row("perl", ".pl .pm .t", "#"),
    _row("r", ".r", "#", files=".rprofile"),
    _row("julia", ".jl", "#", ("#=", "=#")),
    _row("matlab", ".mlx", "%", ("%{", "%}")),
    _row("fortran", ".f90 .f95 .f03 .f08", "!", ids="fortran90 fortran-modern fortranfreeform"),
    _row("ada", ".adb .ads", "--"),
    _row("pascal", ".pas .pp .dpr .lpr", "//", ("{", "}"), ids="objectpascal delphi"),
    _row("haskell", ".hs", "--", ("{-", "-}")),
    _row("ocaml", ".ml", None, ("(*", "*)")),
    _row("fsharp", ".fs .fsx", "//", ("(*", "*)")),
    _row("elm", ".elm", "--", ("{-", "-}")),
    _row("elixir", ".ex .exs", "#"),
    _row("erlang", ".erl .hrl", "%"),
    _row("gleam", ".gleam", "//"),
    _row("clojure", ".clj .cljs .cljc .edn", ";"),
    _row("commonlisp", ".lisp .lsp", ";", ("#|", "|#"), ids="lisp"),
    _row("emacs-lisp", ".el", ";", ids="elisp", grammar="elisp", files=".emacs"),
    _row("scheme", ".scm .ss .sld", ";", ("#|", "|#")),
    _row("racket", ".rkt", ";", ("#|", "|#")),
    _row("shellscript", ".sh .bash .zsh .ksh .bats", "#", ids="bash sh zsh shell", grammar="bash",
         files=".bashrc .bash_profile .profile .zshrc .zshenv pkgbuild"),
    _row("fish", ".fish", "#"),
    _row("powershell", ".ps1 .psm1 .psd1", "#", ("<#", "#>")),
    _row("viml", ".vim", '"', ids="vim vimscript", grammar="vim", files=".vimrc"),
    _row("tcl", ".tcl", "#"),
    _row("sql", ".sql", "--", _C_BLOCK, ids="mysql pgsql plsql sqlite"),
    _row("html", ".html .htm .xhtml", None, _MARKUP),
    _row("xml", ".xml .xsd .xsl .xslt .svg .plist .csproj .fsproj .props", None, _MARKUP, ids="xsl svg"),
    _row("vue", ".vue", "//", _MARKUP),
    _row("svelte", ".svelte", "//", _MARKUP),
    _row("astro", ".astro", "//", _MARKUP),
    _row("css", ".css", None, _C_BLOCK),
    _row("scss", ".scss", "//", _C_BLOCK),
    _row("json", ".json .webmanifest", ids="jsonl", files=".prettierrc .babelrc pipfile.lock composer.lock"),
    _row("jsonc", ".jsonc .code-workspace", "//", _C_BLOCK, ids="json5", grammar="json"),
    _row("yaml", ".yaml .yml", "#", ids="yml dockercompose github-actions-workflow", files=".clang-format"),
    _row("toml", ".toml", "#", files="pipfile cargo.lock poetry.lock"),
    _row("ini", ".ini .cfg .conf .editorconfig", ";", files=".gitconfig .editorconfig"),
    _row("properties", ".properties", "#", ids="java-properties"),
    _row("markdown", ".md .markdown", None, _MARKUP, ids="quarto"),
    _row("rst", ".rst", "..", ids="restructuredtext"),
    _row("latex", ".tex .sty", "%", ids="tex"),
    _row("typst", ".typ", "//", _C_BLOCK),
    _row("dockerfile", ".dockerfile .containerfile", "#", ids="containerfile", files="dockerfile containerfile"),
    _row("makefile", ".mk .mak", "#", ids="make", grammar="make", files="makefile gnumakefile"),
    _row("cmake", ".cmake", "#", ("#[[", "]]"), files="cmakelists.txt"),
    _row("meson", "", "#", files="meson.build meson_options.txt meson.options"),
    _row("ninja", ".ninja", "#"),
    _row("starlark", ".bzl .star", "#", ids="bazel", files="build build.bazel workspace tiltfile"),
    _row("terraform", ".tf .tfvars", "#", _C_BLOCK, ids="terraform-vars opentofu"),
    _row("hcl", ".hcl .nomad", "#", _C_BLOCK),
    _row("nix", ".nix", "#", _C_BLOCK),
    _row("bicep", ".bicep", "//", _C_BLOCK),
    _row("proto", ".proto", "//", _C_BLOCK, ids="proto3 protobuf"),
    _row("graphql", ".graphql .gql", "#"),
    _row("prisma", ".prisma", "//"),
    _row("solidity", ".sol", "//", _C_BLOCK),
    _row("glsl", ".glsl .vert .frag .comp .geom", "//", _C_BLOCK),
    _row("hlsl", ".hlsl .fx", "//", _C_BLOCK),
    _row("wgsl", ".wgsl", "//", _C_BLOCK),
    _row("verilog", ".v .vh .sv .svh", "//", _C_BLOCK, ids="systemverilog"),
    _row("vhdl", ".vhd .vhdl", "--", _C_BLOCK),
    _row("gdscript", ".gd", "#"),
)  # fmt: skip


def language_for(language_id: str, uri_or_path: str) -> Language:
    """The language of a document; `PLAIN` when neither its `languageId` nor its file name says.

    A known `languageId` wins, then the file name, then its longest known ending. Editors send ``plaintext`` for
    whatever they do not know, so that id decides nothing.
    """
    by_id, by_file, by_extension = _lookups()
    found = by_id.get(language_id.strip().lower())
    if found is not None:
        return found
    path = unquote(uri_or_path.partition("#")[0].partition("?")[0]) if "://" in uri_or_path else uri_or_path
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    if name in by_file:
        return by_file[name]
    dot = name.find(".")
    while dot != -1:
        if name[dot:] in by_extension:
            return by_extension[name[dot:]]
        dot = name.find(".", dot + 1)
    stem = name.partition(".")[0]
    return by_file.get(stem, PLAIN) if stem.endswith("file") else PLAIN  # Dockerfile.dev, Makefile.am


@cache
def _lookups() -> tuple[dict[str, Language], dict[str, Language], dict[str, Language]]:
    return (
        {language_id: language for language in LANGUAGES for language_id in language.language_ids},
        {name: language for language in LANGUAGES for name in language.filenames},
        {extension: language for language in LANGUAGES for extension in language.extensions},
    )
