"""`and`, `or`, `not`, and arithmetic."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tailhound.model.facts import Kind
from tailhound.rules.condition import terms
from tailhound.rules.condition.grammar import OPERATORS
from tailhound.rules.condition.names import Names
from tailhound.rules.condition.typed import WRONG, Piece, names_of
from tailhound.rules.condition.units import joined, product, quotient, same

ARITHMETIC: Mapping[type[ast.AST], Callable[..., float]] = {
    ast.Add: lambda x, y: x + y,
    ast.Sub: lambda x, y: x - y,
    ast.Mult: lambda x, y: x * y,
    ast.Div: lambda x, y: x / y,
}


@dataclass(slots=True)
class Logic(Names):
    """Adds the operators."""

    def on_boolop(self, node: ast.BoolOp) -> Piece:
        """`and`, `or`. The parts of an `or` are alternatives, and under a `not` those of an `and`.

        Within a set each record decides for itself: there all parts are shown.
        """
        either = isinstance(node.op, ast.Or) is self.positive and self.loop is None
        numbers: list[int] = []
        parts: list[Piece] = []
        around = self.path
        for value in node.values:
            if either:
                self.alternatives += 1
                numbers.append(self.alternatives)
                self.path = (*around, self.alternatives)
            parts.append(self.yesno(value))
        self.path = around
        if any(part.kind is None for part in parts):
            return WRONG
        stop = isinstance(node.op, ast.Or)
        run = terms.both([part.run for part in parts], stop=stop, alternatives=numbers)
        return Piece(kind=Kind.YESNO, run=run, names=names_of(parts))

    def on_unaryop(self, node: ast.UnaryOp) -> Piece:
        """`not`, and the minus of a number."""
        if isinstance(node.op, ast.USub):
            return self.computed(node, [node.operand], lambda x: -x)
        if not isinstance(node.op, ast.Not):
            what = OPERATORS[type(node.op)]
            return self.wrong(node, f"{what} is not part of the condition language")
        self.positive = not self.positive
        part = self.yesno(node.operand)
        self.positive = not self.positive
        if part.kind is None:
            return WRONG
        return Piece(kind=Kind.YESNO, run=terms.negated(part.run), names=part.names)

    def on_binop(self, node: ast.BinOp) -> Piece:
        """`+ - * /`."""
        work = ARITHMETIC.get(type(node.op))
        if work is None:
            what = OPERATORS.get(type(node.op), "this operator")
            return self.wrong(node, f"{what} is not part of the condition language")
        return self.computed(node, [node.left, node.right], work)

    def computed(
        self, node: ast.expr, operands: Sequence[ast.expr], work: Callable[..., float]
    ) -> Piece:
        """A number from numbers whose units fit."""
        parts = [self.number(operand) for operand in operands]
        if any(part.kind is None for part in parts):
            return WRONG
        unit: str | None = parts[0].unit
        for part in parts[1:]:
            unit = self._combined(node, unit, part.unit)
        if unit is None:
            return WRONG
        names = names_of(parts)
        divides = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        guilty = (parts[-1].names if divides else ()) or names
        run = terms.computed([part.run for part in parts], work, guilty)
        return Piece(kind=Kind.NUMBER, unit=unit, run=run, names=names, name=self.said(node))

    def _combined(self, node: ast.expr, left: str | None, right: str) -> str | None:
        """The unit of the result; None (reported) where the units don't fit."""
        if left is None:
            return None
        operator = node.op if isinstance(node, ast.BinOp) else None
        if isinstance(operator, ast.Mult):
            return product(left, right)
        if isinstance(operator, ast.Div):
            return quotient(left, right)
        if same(left, right):
            return joined(left, right)
        self.wrong(node, f"{self.said(node)!r} mixes {left} with {right}")
        return None
