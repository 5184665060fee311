"""The condition language: which Python syntax it borrows, and the words for what it does not.

A condition is parsed with `ast` and walked node by node; nothing of it is ever executed by Python.
"""

import ast
import warnings
from collections.abc import Mapping

MAX_CHARACTERS = 300
MAX_NODES = 80

NOT_OURS: Mapping[type[ast.AST], str] = {
    ast.Lambda: "a lambda",
    ast.Subscript: "indexing with [..]",
    ast.ListComp: "a list comprehension",
    ast.SetComp: "a set comprehension",
    ast.DictComp: "a dict comprehension",
    ast.Dict: "a dict",
    ast.Set: "a set in braces",
    ast.IfExp: "if .. else",
    ast.JoinedStr: "an f-string",
    ast.NamedExpr: "`:=`",
    ast.Starred: "`*`",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.List: "a list (except after `in`)",
    ast.Tuple: "a list with commas (except after `in`)",
    ast.GeneratorExp: "`for .. in` (except in any, all, count, max, min, sum)",
}
OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Pow: "`**`",
    ast.Mod: "`%`",
    ast.FloorDiv: "`//`",
    ast.MatMult: "`@`",
    ast.LShift: "`<<`",
    ast.RShift: "`>>`",
    ast.BitAnd: "`&` (write `and`)",
    ast.BitOr: "`|` (write `or`)",
    ast.BitXor: "`^`",
    ast.Invert: "`~` (write `not`)",
    ast.UAdd: "a leading `+`",
    ast.Is: "`is` (write `==`, or `known(..)`)",
    ast.IsNot: "`is not` (write `!=`, or `known(..)`)",
}
COMPARE: Mapping[type[ast.AST], str] = {
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
HINTS = (
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("!", "write `not`"),
    ("=", "to compare, write `==`"),
    ("$", "inputs can't stand in a condition"),
)


class NotACondition(Exception):
    """The text is no expression; `offset` and `length` say which part of it."""

    def __init__(self, message: str, offset: int = 0, length: int = 1) -> None:
        super().__init__(message)
        self.message, self.offset, self.length = message, offset, length


def parsed(text: str) -> ast.expr:
    """The syntax tree of a condition within its limits; NotACondition otherwise."""
    if not text.strip():
        raise NotACondition("is empty; write a condition such as `cpu.throttled_ratio > strong`")
    if len(text) > MAX_CHARACTERS:
        message = f"is {len(text)} characters long; a condition may have {MAX_CHARACTERS}"
        raise NotACondition(message, 0, len(text))
    tree = _tree(text)
    size = sum(isinstance(node, ast.expr) for node in ast.walk(tree))
    if size > MAX_NODES:
        message = f"has {size} parts; a condition may have {MAX_NODES}. Make it two lines"
        raise NotACondition(message, 0, len(text))
    return tree


def _tree(text: str) -> ast.expr:
    shift = len(text) - len(text.lstrip())
    line = text.strip()
    for blank in ("\n", "\r", "\t", "\x85", "\u2028", "\u2029", "\x0c"):
        line = line.replace(blank, " ")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = ast.parse(line, mode="eval").body
    except SyntaxError as error:
        at = error.offset if error.offset and error.offset <= len(line) else len(line) + 1
        offset = shift + max(0, at - 1)
        raise NotACondition(f"not an expression: {_why(line, error)}", offset) from error
    except (ValueError, MemoryError, RecursionError) as error:
        raise NotACondition("not an expression: too deep, or not text", 0, len(text)) from error
    _to_characters(tree, line, shift)
    return tree


def _why(line: str, error: SyntaxError) -> str:
    hint = next(
        (
            hint
            for sign, hint in HINTS
            if sign in line.replace("==", "").replace("!=", "").replace("<=", "").replace(">=", "")
        ),
        "",
    )
    return f"{error.msg}; {hint}" if hint else error.msg


def _to_characters(tree: ast.expr, line: str, shift: int) -> None:
    """Python counts columns in bytes; people and editors count characters."""
    if line.isascii() and not shift:
        return
    encoded = line.encode("utf-8", "surrogatepass")
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            node.col_offset = shift + len(encoded[: node.col_offset].decode("utf-8", "replace"))
            end = node.end_col_offset or 0
            node.end_col_offset = shift + len(encoded[:end].decode("utf-8", "replace"))
