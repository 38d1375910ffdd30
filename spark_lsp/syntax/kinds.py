"""What a node is, judged by the name of its kind.

Grammars name alike things alike (``if_statement``, ``method_declaration``, ``line_comment``), so the rules are over
words and endings and hold for grammars nobody looked at. Where a grammar goes its own way, `_ALSO` says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Kind:
    """The parts a kind of node can play; several may hold."""

    definition: bool = False
    """A function, class, module or the like."""
    closure: bool = False
    """A function without a name; a definition when its body is a block."""
    block: bool = False
    """A body, usually between two delimiters."""
    control: bool = False
    """An if, a loop, a case: a block when it runs over several lines."""
    section: bool = False
    """One of the cases of a switch: it goes on until the next one begins."""
    container: bool = False
    """Its children are statements; a block, or the list of statements inside one."""
    statement: bool = False
    wrapper: bool = False
    """Stands around a definition and belongs to it: decorators, ``export``, ``template <...>``."""
    attribute: bool = False
    """Stands in front of a definition and belongs to it."""
    comment: bool = False
    string: bool = False
    interpolation: bool = False
    """Code inside a string."""


_DEFINED = (
    "function|func|fun|fn|method|proc|procedure|subroutine|subprogram|constructor|destructor|init|operator|macro|mixin|"
    "class|struct|interface|trait|impl|enum|enumeration|union|record|object|protocol|extension|category|actor|instance|"
    "module|mod|namespace|library|contract|component|entity|architecture|type|service|message|rpc|modifier"
)
_DEFINITION = (
    rf"(\w+_)?({_DEFINED})_(definition|declaration|item|specifier|implementation|interface|defn|decl|def)"
    r"(_statement)?|(\w+_)?(function|class|method|trait|enum)_statement|companion_object|internal_module|"
    r"function_or_value_defn"
)
_CLOSURE = (
    r"arrow_function|(generator_)?function_expression|generator_function|func_literal|function_literal|closure\w*|"
    r"(anonymous_)?(function|method)_expression|anonymous_function\w*|lambda\w*|block_literal"
)
_BLOCK = (
    r"block|\w+_block|\w+_body|suite|compound_statement|block_statement|block_expression|braced_expression|do_group|"
    r"declaration_list|field_declaration_list|enum_variant_list|enumerator_list|accessor_list|structure"
)
_NOT_BLOCK = (
    r"heredoc_\w+|nowdoc_\w+|(\w+_)?(code|html|line|doctest)_block|(static|unsafe|module)_block|"
    r"body_statement|script_block_body"
)
_CONTAINER = r"statements|declarations|body|statement_list|body_statement|script_block_body|source_elements"
_CONTROL = (
    r"(\w+_)?(if|elif|elsif|elseif|else|for|foreach|while|until|loop|do|repeat|switch|case|when|match|select|try|catch|"
    r"except|finally|ensure|rescue|with|using|guard|unless|begin)"
    r"_(statement|expression|clause|loop|block|command|arm)"
)
_SECTION = (
    r"(\w+_)?(case|default)(_(statement|clause|item))?|switch_(section|label|entry)|\w*switch_block_statement_group"
)
_STATEMENT = r"(\w+_)?(statement|declaration|definition|item|directive|instruction|command)|preproc_\w+|import"
_NOT_STATEMENT = (
    r"body_statement|compound_statement|block_statement|document|\w*parameter_declaration|variable_declaration_list|"
    r"\w*(parameters|parameter_list|arguments|argument_list|import_(list|clause|specifier|prefix))|"
    r"\w+_(start|end)|\w+_tag"
)
_WRAPPER = r"decorated_definition|template_declaration|export_statement|ambient_declaration|export_declaration"
_ATTRIBUTE = r"attribute_item|decorator|annotation|attribute_list|attribute"
_COMMENT = r"\w*comment|line_comment\w*|block_comment\w*|doc_comment\w*|multiline_comment"
_STRING = (
    r"(\w+_)?(string|str|char|character|rune|heredoc|nowdoc|charlist|sigil|quoted)(_\w+)?|template_literal|uri|"
    r"(double|single)_quote_scalar|att_value"
)
_NOT_STRING = (
    # the containers of strings, types, and what #include <...> names
    r"concatenated_string|string_(array|type|scalar|concat\w*)|system_lib_string|character_(class|range|set)|"
    r"quoted_identifier|\w*string_operator|string_interpolation|char_type|heredoc_redirect|heredoc_start|heredoc_end"
)
_INTERPOLATION = (
    r"(\w+_)?(interpolation|interpolated_expression|interpolated_identifier|substitution|expansion|sub_expression)|"
    r"variable_name"
)

_MARKUP = {"block": "element script_element style_element template_element", "statement": "element"}
_JSX = {
    "block": "jsx_element",
    "statement": "jsx_element jsx_self_closing_element",
    "definition": "class",
}
_LISP = {"block": "list_lit list special_form", "statement": "list_lit"}
_ALSO: dict[str, dict[str, str]] = {
    "html": _MARKUP,
    "xml": _MARKUP,
    "vue": _MARKUP,
    "svelte": _MARKUP,
    "astro": _MARKUP,
    "javascript": _JSX,
    "typescript": _JSX,
    "typescriptreact": _JSX,
    "clojure": _LISP,
    "commonlisp": _LISP | {"definition": "defun"},
    "emacs-lisp": _LISP,
    "scheme": _LISP,
    "racket": _LISP,
    "css": {"block": "rule_set", "statement": "rule_set"},
    "scss": {"block": "rule_set", "statement": "rule_set"},
    "json": {"block": "object array", "statement": "pair"},
    "jsonc": {"block": "object array", "statement": "pair"},
    "yaml": {
        "block": "block_mapping_pair block_sequence_item",
        "statement": "block_mapping_pair block_sequence_item",
    },
    "toml": {"block": "table table_array_element", "statement": "pair table table_array_element"},
    "ini": {"block": "section", "statement": "setting"},
    "markdown": {"block": "section fenced_code_block indented_code_block"},
    "latex": {"block": "generic_environment section subsection chapter"},
    "makefile": {"block": "rule", "statement": "rule recipe_line"},
    "ruby": {
        "definition": "method singleton_method class singleton_class module",
        "block": "if unless while until for case begin",
        "statement": "call assignment",
    },
    "shellscript": {"statement": "command variable_assignment pipeline redirected_statement list"},
    "haskell": {"definition": "function data_type newtype class instance", "statement": "bind"},
    "ocaml": {"definition": "value_definition", "statement": "value_definition"},
    "elm": {"definition": "value_declaration"},
    "erlang": {"definition": "fun_decl"},
    "fortran": {"definition": "function subroutine module program derived_type_definition"},
    "ada": {"definition": "subprogram_body package_body"},
    "pascal": {"definition": "def_proc decl_class"},
    "proto": {"definition": "message enum service", "statement": "field enum_field"},
    "gleam": {"definition": "function"},
    "tcl": {"definition": "procedure"},
    "vhdl": {"definition": "architecture_body"},
    "nix": {"block": "attrset_expression let_expression", "statement": "binding"},
    "terraform": {"definition": "block", "statement": "attribute block"},
    "hcl": {"definition": "block", "statement": "attribute block"},
    "zig": {"definition": "decl"},
    "properties": {"statement": "property"},
}


@cache
def kind_of(node_type: str, language: str) -> Kind:
    """What a named node of this type is in the language of this name."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node_type).lower()  # some grammars write IfStatement
    also = {part for part, names in _ALSO.get(language, {}).items() if name in names.split()}
    body = _is(_BLOCK, name) and not _is(_NOT_BLOCK, name)
    interpolation = _is(_INTERPOLATION, name)
    comment = _is(_COMMENT, name)
    return Kind(
        definition=_is(_DEFINITION, name) or "definition" in also,
        closure=_is(_CLOSURE, name),
        block=body or "block" in also,
        control=_is(_CONTROL, name) or _is(_SECTION, name),
        section=_is(_SECTION, name),
        container=body or _is(_CONTAINER, name),
        statement=(_is(_STATEMENT, name) and not _is(_NOT_STATEMENT, name)) or "statement" in also,
        wrapper=_is(_WRAPPER, name),
        attribute=_is(_ATTRIBUTE, name),
        comment=comment,
        string=_is(_STRING, name) and not (_is(_NOT_STRING, name) or interpolation or comment),
        interpolation=interpolation,
    )


def can_be_statement(node_type: str, language: str) -> bool:
    """Whether a node directly inside a block counts as a statement, whatever its kind."""
    kind = kind_of(node_type, language)
    name = node_type.lower()
    return not (kind.container or kind.comment or kind.attribute or _is(_NOT_STATEMENT, name) or name == "error")


def _is(pattern: str, name: str) -> bool:
    return re.fullmatch(pattern, name) is not None
