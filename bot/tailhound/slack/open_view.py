"""What a message says where no cause is confirmed: facts, what nobody knows, and what to ask. Pure;
every text is escaped.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tailhound.model import (
    Cause,
    Verdict,
    by_hand,
    candidates,
    neighbours,
    next_look,
    telling,
    unusual,
)
from tailhound.model.aftermath import aftermath
from tailhound.model.candidates import WITH_SIGN, Open
from tailhound.model.gaps import next_gap
from tailhound.model.impossible import LOOK
from tailhound.model.names import capital, cause_name, plural, small
from tailhound.model.unusual import Unusual
from tailhound.slack import escape, todo
from tailhound.slack.escape import Mrkdwn
from tailhound.slack.ink import whole_sentences, without_remarks
from tailhound.slack.verdict_view import VerdictView

_LINKED = re.compile(r"https?://[\w.:/%~-]{1,150}")
_NOTHING = Mrkdwn("")

_WHY, _SECOND_CLAIM, _BESIDE, _FIRST_CLAIM, _SECOND_POINT = range(1, 6)
"""How terse a verdict is that goes without each of these: why something unusual is no cause (that
of a claim, and that of a fact, stand with what is ruled out), the claims that nobody knows, and
more than one thing that is unusual.
"""

_SHOWN = 40
"""Characters of a name that can't exist."""

_NAME, _CLAIM, _POINT, _GAP = 40, 110, 180, 120
"""Characters of a cause's name, of a claim and of something unusual, that are shown in any case."""

_COMMAND = 320
"""Characters of a command: half of one is of no use, and a name may be long."""

_FACT = 90
"""Characters of a fact beside the symptom: our words, and numbers."""


@dataclass(frozen=True, slots=True)
class OpenView(VerdictView):
    """What is known, and what is open, while nothing is confirmed."""

    @property
    def nearest(self) -> tuple[Cause, ...]:
        """The candidates that come nearest to a confirmation."""
        return candidates.nearest(self.diagnosis)

    @property
    def unknown(self) -> tuple[Mrkdwn, ...]:
        """Every unknown cause once: the nearest ones with what stands out of each, those that could
        explain it, the others by name, with their number where there are no others.
        """
        near = [self._near(one) for one in self.near]
        lines = [Mrkdwn(f"{n}. {line}") for n, line in enumerate(near, 1)]
        bare = candidates.bare(self.diagnosis)
        found = [self._others(head, causes) for head, causes in bare]
        if bare and bare[-1][0] != WITH_SIGN:
            found[-1] = f"{found[-1]} {self._checkable}".rstrip()
        if not lines and len(found) == 1:
            return (Mrkdwn(f"*{self.unknown_head.removesuffix(':')}, {small(found[0])}"),)
        rest = [Mrkdwn(f"*{line}") for line in found]
        return (*lines, *rest)

    @property
    def unknown_head(self) -> Mrkdwn:
        """`Unknown (2):`: what stands above the unknown causes."""
        causes = self.diagnosis.causes if self.diagnosis else ()
        return Mrkdwn(f"Unknown ({sum(c.verdict is Verdict.UNKNOWN for c in causes)}):")

    @property
    def unplaced(self) -> tuple[Mrkdwn, ...]:
        """Mechanisms that are confirmed and can't be the cause, because no symptom was measured."""
        return tuple(
            Mrkdwn(f"*{self._cause(c, first=True)}*: {self.ink.link(telling.link(c))}")
            for c in self._confirmed()[: max(1, self.ink.lines // 2)]
        )

    @property
    def near(self) -> tuple[Open, ...]:
        """The unknown causes that get a line of their own."""
        return candidates.opened(self.diagnosis)

    def _near(self, one: Open) -> str:
        """`*SSD garbage collection*: nvme0n1 on db-1: reads take x9 their usual time. 14 claims
        hold, 1 does not: its queue is long: 40, usually 2`.
        """
        room = max(_CLAIM, self.ink.sentence_length)
        out, _ = whole_sentences(one.out, room)
        fits = one.cause.look is not None or self.ink.terse < _SECOND_POINT
        shown = escape.sentence(out.rstrip(";"), room) if fits else ""
        counts = not shown or one.says_why or self.ink.terse < _FIRST_CLAIM
        stands = escape.sentence(one.stands, room) if counts else ""
        claims = self._claims(one.claims)
        open_ = f"Not known: {claims}" if claims else ""
        told = ". ".join(part for part in (shown, stands, open_) if part)
        return f"*{self._cause(one.cause, first=True)}*: {told}"

    def _others(self, head: str, found: Sequence[Cause]) -> str:
        """`Not measured:* RDMA fabric, SSD garbage collection.`"""
        most = min(6, max(3, self.ink.lines))
        names = [self._cause(cause) for cause in found[:most]]
        left = len(found) - len(names)
        told = f"{', '.join(names)}{f' + {left} more' if left else ''}"
        return f"{capital(head)}:* {told}."

    @property
    def facts(self) -> Mrkdwn:
        """`120 requests wait (usually 0) · load x3`: what was measured beside the symptom and is
        unlike its usual value. These few words go before anything else does.
        """
        found = neighbours.neighbours(self.diagnosis)
        return Mrkdwn(" · ".join(escape.value(one.text, _FACT) for one in found))

    @property
    def ruled_out_beside(self) -> Mrkdwn:
        """`KV preemption is ruled out: ..`: what these facts would speak for, and is not it."""
        told = neighbours.ruled_out(self.diagnosis)
        fits = self.ink.terse < _BESIDE and len(told) <= self.ink.sentence_length
        return self.ink.sentence(capital(told)) if fits else _NOTHING

    @property
    def unusual(self) -> tuple[Mrkdwn, ...]:
        """What is out of the ordinary although its cause is ruled out, a line each."""
        found = unusual.unusual(self.diagnosis)
        most = min(3, max(1, self.ink.lines)) if self.ink.terse < _SECOND_POINT else 1
        shown = found[:most]
        last = {one.cause.runbook: one for one in shown}
        lines = [self._unusual(one, against=last[one.cause.runbook] is one) for one in shown]
        left = self.ink.more(len(found) - len(shown))
        return (*lines, Mrkdwn(left)) if left else tuple(lines)

    def _unusual(self, one: Unusual, *, against: bool) -> Mrkdwn:
        """What is unusual comes first, and whole; then, behind the last of its cause, that this is
        ruled out; and where there is room, why.
        """
        room = max(_POINT, self.ink.sentence_length)
        point = escape.sentence(capital(one.point), room)
        if not against:
            return point
        why = one.why if self.ink.terse < _WHY and len(one.why) <= self.ink.sentence_length else ""
        told = f": {self.ink.sentence(why)}" if why else ""
        return Mrkdwn(f"{point}. But {self._cause(one.cause)} is ruled out{told}")

    def _cause(self, cause: Cause, *, first: bool = False) -> Mrkdwn:
        """A cause by its name, which is never cut for room; `first` in its line."""
        name = cause_name(cause.runbook)
        return escape.value(capital(name) if first else name, _NAME)

    @property
    def beyond(self) -> bool:
        """Whether the cause is none of those that are known."""
        return unusual.is_beyond(self.diagnosis)

    def _claims(self, claims: Sequence[str]) -> str:
        """Claims are whole or left to slot E and the page: half of one says something else."""
        room = max(_CLAIM, self.ink.sentence_length)
        most = (self.ink.terse < _SECOND_CLAIM) + (self.ink.terse < _FIRST_CLAIM)
        fitting = [claim for claim in claims if len(claim) <= room][:most]
        shown = [f"“{escape.said(small(claim), room)}”" for claim in fitting]
        if not shown:
            return ""
        left = self.ink.more(len(claims) - len(shown))
        return "; ".join([*shown, left] if left else shown)

    @property
    def _checkable(self) -> str:
        """`RDMA fabric can be checked by hand: 4 commands on the page`; "" where nothing can."""
        found = by_hand.checkable(self.diagnosis)
        if not found:
            return ""
        names = " and ".join(self._cause(cause) for cause, _ in found[:2])
        names += f" + {len(found) - 2} more" if found[2:] else ""
        asked = len(by_hand.to_check(self.diagnosis))
        told = f"{names} can be checked by hand: {plural(asked, 'command')} {self.ink.rest}"
        return f"<{escape.escaped(self._linked)}#check|{told}>" if self._linked else told

    @property
    def impossible(self) -> Mrkdwn:
        """`*The alert names a pod that can't exist* (..): nothing could be asked of it. ..`: what
        stands before all else where it is so.
        """
        found = self.diagnosis.impossible if self.diagnosis else None
        if found is None:
            return _NOTHING
        name = escape.code(found.name, _SHOWN)
        said = escape.sentence(capital(found.why), _CLAIM)
        why = f"*{said}* ({name}): nothing could be asked of it."
        return Mrkdwn(f"{why} {capital(LOOK)}.")

    @property
    def look_next(self) -> Mrkdwn:
        """`2 of 3 pods are not ready: kubectl -n web describe pod api-1`: what was measured, unless
        the verdict tells it above, and what to look at; "" where nothing measured says that.
        """
        found = next_look.next_look(self.incident)
        if found is None:
            return _NOTHING
        command = escape.code(found.command, _COMMAND) if found.command else ""
        at = command or escape.sentence(found.at, _CLAIM)
        then = f", {escape.sentence(found.then, _POINT)}" if found.then else ""
        told = found.measured in (one.out for one in self.near)
        measured = "" if told else f"{escape.sentence(found.measured, _POINT)}: "
        return Mrkdwn(f"{measured}{at}{then}")

    @property
    def aftermath(self) -> Mrkdwn:
        """`No stage of a request was slower than usual.`: what is known of it once it is over."""
        return Mrkdwn(
            " ".join(
                f"{escape.sentence(capital(one), _CLAIM)}." for one in aftermath(self.incident)
            )
        )

    @property
    def by_hand(self) -> tuple[Mrkdwn, ...]:
        """Questions that failed, to be asked by hand."""
        return todo.by_hand(by_hand.by_hand(self.diagnosis), self.ink)

    @property
    def next_gap(self) -> Mrkdwn:
        """`RDMA fabric could not be checked: gpu-node-1 sent no SSH banner. Check that SSH to
        gpu-node-1 is up`: the gap to close first, without its full stop; "" where nothing is open,
        or there is no room for it.
        """
        found = next_gap(self.diagnosis) if self.diagnosis else None
        if found is None:
            return Mrkdwn("")
        name, gap = found
        fix = gap.fix.removesuffix("check again").removesuffix(", then ")
        reason = gap.reason.removeprefix("not asked: ")
        bare = f"{capital(name)} could not be checked"
        room = max(_GAP, self.ink.sentence_length)
        told = without_remarks(f"{bare}: {reason}", room)
        told = told if len(told) <= room else bare  # half of it is no use, and the page has it
        if not self.ink.lines:
            return _NOTHING
        first = escape.sentence(told, len(told))
        return Mrkdwn(f"{first}. {self.ink.whole(capital(fix))}" if fix else first)

    @property
    def _linked(self) -> str:
        """The page's address where a line has room for it, and nothing in it could end a link."""
        return self.page_url if _LINKED.fullmatch(self.page_url) else ""
