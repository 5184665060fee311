"""Names in an alert's labels that nothing in Kubernetes can have: nothing can be asked of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tailhound.model.evidence import Asked, EvidenceStatus
from tailhound.model.names import KUBERNETES_NAME
from tailhound.model.unanswered import lacks_its_subject
from tailhound.model.wording import cut

_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._:-]{0,251}[A-Za-z0-9])?")
"""A node may be told by its host or its instance, so more is let pass."""

_KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    "pod": KUBERNETES_NAME,
    "namespace": _LABEL,
    "deployment": KUBERNETES_NAME,
    "statefulset": KUBERNETES_NAME,
    "daemonset": KUBERNETES_NAME,
    "node": _HOST,
}
_BEGINS: Final = re.compile(r"[\w-]*")
_NOT_ASKED: Final = "no pods are known: "
_REFUSED: Final = "can't be part of a Kubernetes API path"


@dataclass(frozen=True, slots=True)
class Impossible:
    """A name that can't exist, from outside, and of what kind of thing it is said to be."""

    kind: str
    name: str

    @property
    def why(self) -> str:
        """`the alert names a pod that can't exist`."""
        return f"the alert names a {self.kind} that can't exist"

    @property
    def told(self) -> str:
        """The same with the name and what follows; not escaped."""
        shown = cut("".join(letter if letter.isprintable() else " " for letter in self.name))
        return f"{self.why} ({shown}): nothing could be asked of it"

    def explains(self, asked: Asked) -> bool:
        """Whether a question has no answer because of the name: it holds it, or could not be asked
        as nobody could tell of what.
        """
        if asked.status is EvidenceStatus.SKIPPED:
            unknown = lacks_its_subject(asked.detail) or asked.detail.startswith(_NOT_ASKED)
            return _REFUSED in asked.detail or unknown
        begins = _BEGINS.match(self.name)
        holds = begins is not None and begins[0] in asked.question
        return asked.status is EvidenceStatus.EMPTY and holds


LOOK: Final = "look at the rule or sender that made this label"


def impossible(labels: Mapping[str, str]) -> Impossible | None:
    """The first of the names that can't exist; None where all could."""
    wrong = (
        Impossible(kind, name)
        for kind, allowed in _KINDS.items()
        if (name := labels.get(kind, "")) and not allowed.fullmatch(name)
    )
    return next(wrong, None)
