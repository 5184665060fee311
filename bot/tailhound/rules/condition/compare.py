"""Comparisons: kinds and units must fit, and the bound is remembered to be shown."""

import ast
from dataclasses import dataclass, replace

from tailhound.model.facts import Kind
from tailhound.model.needs import COMPARISONS
from tailhound.rules.condition import terms
from tailhound.rules.condition.grammar import COMPARE, OPERATORS
from tailhound.rules.condition.logic import Logic
from tailhound.rules.condition.typed import WRONG, Limit, Look, Piece, names_of
from tailhound.rules.condition.units import same

TIMES = "times"
_NOWHERE = terms.Scope({}, {})


@dataclass(slots=True)
class Comparing(Logic):
    """Adds comparisons, chained ones too, and `in`."""

    def on_compare(self, node: ast.Compare) -> Piece:
        """`a < b`, `a <= b <= c`, `a in [..]`."""
        sides = [node.left, *node.comparators]
        parts: list[Piece] = []
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(operator, ast.In | ast.NotIn):
                parts.append(self._membership(left, operator, right))
            else:
                parts.append(self._comparison(left, operator, right))
        if any(part.kind is None for part in parts):
            return WRONG
        if len(parts) == 1:
            return parts[0]
        run = terms.both([part.run for part in parts], stop=False)
        return Piece(kind=Kind.YESNO, run=run, names=names_of(parts))

    def _comparison(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Piece:
        sign = COMPARE.get(type(operator))
        if sign is None:
            what = OPERATORS[type(operator)]
            return self.wrong(right, f"{what} is not part of the condition language")
        one, other = self.visit(left), self.visit(right)
        if one.kind is None or other.kind is None:
            return WRONG
        for node, piece in ((left, one), (right, other)):
            if piece.kind is Kind.SET:
                hint = f"ask `any(v.value {sign} limit for v in {piece.name})`"
                return self.wrong(node, f"{self.said(node)!r} is a set; {hint}")
        if trouble := self._trouble((left, one), (right, other), sign):
            return self.wrong(left, trouble)
        self._limit(one, sign, other)
        run = terms.compared(one.run, COMPARISONS[sign], other.run)
        return Piece(kind=Kind.YESNO, run=run, names=names_of((one, other)))

    def _trouble(
        self, left: tuple[ast.expr, Piece], right: tuple[ast.expr, Piece], sign: str
    ) -> str:
        (left_node, one), (right_node, other) = left, right
        what, than = self.said(left_node), self.said(right_node)
        if one.kind is not other.kind:
            return f"can't compare {what!r} ({one.word}) with {than!r} ({other.word})"
        if one.kind is not Kind.NUMBER:
            plain = sign in ("==", "!=")
            return "" if plain else f"`{sign}` compares numbers, but {what!r} is a {one.word}"
        if same(one.unit, other.unit):
            return ""
        return f"can't compare {what!r} (in {one.unit}) with {than!r} (in {other.unit})"

    def _limit(self, one: Piece, sign: str, other: Piece) -> None:
        """Remember `fact sign limit`, where one side needs no evidence.

        A ratio that is compared with a threshold in "times" is shown as one too.
        """
        if one.kind is Kind.NUMBER and one.names and other.names:
            self._reckon(one, sign, other)
        if one.kind is not Kind.NUMBER or bool(one.names) == bool(other.names):
            return
        if not one.names:
            one, sign, other = other, terms.TURNED[sign], one
        if not self.positive:
            sign = terms.OPPOSITE[sign]
        unit = TIMES if TIMES in (one.unit, other.unit) else one.unit
        named = other.name if other.name in self.vocabulary.thresholds else ""
        self.limits.append(
            Limit(
                fact=one.name,
                comparison=sign,
                limit=other.run,
                unit=unit,
                threshold=named,
                path=self.path,
            )
        )
        if one.name not in one.names and not self.loop:
            self.look(one.name, Look(name=one.name, unit=unit, run=one.run))
        key = f"{one.name}#{self.loop.key}" if self.loop else one.name
        if key in self.looks and self.looks[key].unit == one.unit:
            self.looks[key] = replace(self.looks[key], unit=unit)

    def _reckon(self, one: Piece, sign: str, other: Piece) -> None:
        """Remember `fact sign limit`, where the limit follows from other facts.

        A fact that is compared with its usual value is shown beside that anyway.
        """
        is_plain = one.name in one.names and not self.loop
        if not is_plain or set(other.names) <= {f"{one.name}_usual"}:
            return
        self.reckoned.append(
            Limit(
                fact=one.name,
                comparison=sign if self.positive else terms.OPPOSITE[sign],
                limit=other.run,
                unit=one.unit,
                threshold="",
                path=self.path,
            )
        )

    def _membership(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Piece:
        one = self.visit(left)
        if not isinstance(right, ast.List | ast.Tuple) or not right.elts:
            message = "after `in` stands a list of values: `in ['helm', 'argocd']`"
            return self.wrong(right, message)
        items = [self.visit(item) for item in right.elts]
        if one.kind is None or any(item.kind is None for item in items):
            return WRONG
        for item, node in zip(items, right.elts, strict=True):
            if not isinstance(node, ast.Constant) or item.kind is not one.kind:
                message = f"must be a written {one.word}, as {self.said(left)!r} is a {one.word}"
                return self.wrong(node, message)
        values = frozenset(item.run(_NOWHERE) for item in items)
        run = terms.contained(one.run, values, isinstance(operator, ast.In))
        return Piece(kind=Kind.YESNO, run=run, names=one.names)
