"""Functions: `known`, `abs`, `len`, and `any all count max min sum` over a set."""

import ast
from collections.abc import Callable
from dataclasses import dataclass

from tailhound.model.facts import Kind
from tailhound.rules.condition import sets, terms
from tailhound.rules.condition.compare import Comparing
from tailhound.rules.condition.names import Loop
from tailhound.rules.condition.typed import WRONG, Look, Piece, meant, names_of, usable

FUNCTIONS = ("abs", "all", "any", "count", "known", "len", "max", "min", "sum")
_FLAT = "any(p.value > limit for p in evidence.set)"


@dataclass(slots=True)
class Checker(Comparing):
    """The whole language."""

    def condition(self, node: ast.expr) -> Piece:
        """The whole text: must be a yes/no about some evidence."""
        piece = self.yesno(node)
        if piece.kind is not None and not piece.names:
            message = "looks at no evidence; name a fact such as `cpu.throttled_ratio`"
            return self.wrong(node, message)
        return piece

    def on_call(self, node: ast.Call) -> Piece:
        """One of the functions, with plain arguments."""
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
            name = self.said(node.func)
            return self.wrong(node.func, f"no function named {name!r}{meant(name, FUNCTIONS)}")
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            return self.wrong(node, "arguments are written plainly, without names or `*`")
        name = node.func.id
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            return self._over(node, name, node.args[0])
        on: Callable[[ast.Call], Piece] = {
            "known": self._known,
            "abs": self._abs,
            "len": self._len,
            "max": self._largest,
            "min": self._largest,
        }.get(name, self._wants_a_set)
        return on(node)

    def _wants_a_set(self, node: ast.Call) -> Piece:
        return self.wrong(node, f"{self.said(node.func)} looks at a set: `{_FLAT}`")

    def _known(self, node: ast.Call) -> Piece:
        if len(node.args) != 1 or not isinstance(node.args[0], ast.Attribute):
            return self.wrong(node, "known(..) takes one fact: `known(drive.write_amplification)`")
        self.aside = True
        piece = self.visit(node.args[0])
        self.aside = False
        if piece.kind is None:
            return WRONG
        return Piece(kind=Kind.YESNO, run=terms.known(piece.run), names=piece.names)

    def _abs(self, node: ast.Call) -> Piece:
        if len(node.args) != 1:
            return self.wrong(node, "abs(..) takes one number")
        return self.computed(node, node.args, abs)

    def _largest(self, node: ast.Call) -> Piece:
        name = self.said(node.func)
        if len(node.args) < 2:
            return self.wrong(node, f"{name}(..) takes two or more numbers, or a set: `{_FLAT}`")
        choose: Callable[..., float] = max if name == "max" else min
        return self.computed(node, node.args, choose)

    def _len(self, node: ast.Call) -> Piece:
        piece = self.visit(node.args[0]) if len(node.args) == 1 else WRONG
        if piece.kind is not Kind.SET:
            if len(node.args) == 1 and piece.kind is None:
                return WRONG
            return self.wrong(node, "len(..) takes one set")
        self.loops += 1
        key = self.loops
        self.looks[piece.name] = Look(name=piece.name, unit="count", key=key, paths=(self.path,))
        run = sets.length(piece.run, key)
        return Piece(kind=Kind.NUMBER, unit="count", run=run, names=piece.names, name=piece.name)

    def _over(self, node: ast.Call, name: str, generator: ast.GeneratorExp) -> Piece:
        """`name(body for variable in evidence.set)`."""
        if name in ("abs", "known", "len"):
            return self.wrong(node, f"{name} does not take `for .. in`")
        collection = self._loop(generator)
        if collection.kind is None or self.loop is None:
            return WRONG
        loop, before = self.loop, len(self.limits)
        counts = name in ("any", "all", "count")
        body = self.yesno(generator.elt) if counts else self.number(generator.elt)
        self.loop = None
        if body.kind is None:
            return WRONG
        lead, up = self._lead(loop, before)
        flat = sets.Flat(loop.key, loop.collection, collection.run, body.run, lead, up)
        return self._folded(node, name, flat, names_of((collection, body)), body)

    def _loop(self, generator: ast.GeneratorExp) -> Piece:
        """The set that is walked; sets `self.loop` when everything about it is right."""
        first = generator.generators[0]
        if self.loop is not None or len(generator.generators) != 1:
            return self.wrong(generator, "one `for .. in` at a time; sets are not nested")
        if first.ifs or first.is_async:
            return self.wrong(generator, "no `if` behind `for .. in`; put it in front with `and`")
        target = first.target
        taken = (*self.vocabulary.evidence, *self.vocabulary.thresholds)
        if not isinstance(target, ast.Name) or not usable(target.id) or target.id in taken:
            name = self.said(target)
            return self.wrong(target, f"{name!r} is taken, or no name; use another, such as `p`")
        collection = self.visit(first.iter)
        if collection.kind is None:
            return WRONG
        if collection.kind is not Kind.SET or collection.fact is None:
            message = f"{self.said(first.iter)!r} is a {collection.word}, not a set"
            return self.wrong(first.iter, message)
        self.loops += 1
        self.loop = Loop(target.id, collection.name, collection.fact.fields, self.loops)
        return collection

    def _lead(self, loop: Loop, before: int) -> tuple[str, bool]:
        """The field of the first bound in the body, and whether more of it makes the body true."""
        for limit in self.limits[before:]:
            field = limit.fact.removeprefix(f"{loop.collection}.")
            if field in loop.fields and limit.comparison in terms.OPPOSITE:
                sign = limit.comparison
                rises = (sign if self.positive else terms.OPPOSITE[sign]) in (">", ">=")
                return field, rises
        return "", True

    def _folded(
        self, node: ast.Call, name: str, flat: sets.Flat, names: tuple[str, ...], body: Piece
    ) -> Piece:
        if name in ("any", "all"):
            run = sets.quantified(flat, decider=name == "any")
            return Piece(kind=Kind.YESNO, run=run, names=names)
        if name == "count":
            run, said, unit = sets.counted(flat), flat.name, "count"
        elif name == "sum":
            run, said, unit = sets.summed(flat), self.said(node), body.unit
        else:
            run = sets.extremal(flat, max if name == "max" else min)
            said, unit = body.name or self.said(node), body.unit
        if name in ("count", "sum"):
            self._drop_fields(flat)
            self.looks[said] = Look(name=said, unit=unit, key=flat.key, paths=(self.path,))
        return Piece(kind=Kind.NUMBER, unit=unit, run=run, names=names, name=said)

    def _drop_fields(self, flat: sets.Flat) -> None:
        """No single record decides a count or a sum: nothing of one is shown."""
        for key in [key for key in self.looks if key.endswith(f"#{flat.key}")]:
            del self.looks[key]
