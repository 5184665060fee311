"""Why a cause is not the one, in the words that its runbook has for that. Not escaped.

A claim that does not hold is never told as its sentence and a "no": people read that as a double
negation, or ask which half of it the "no" belongs to.
"""

from tailhound.model import claims, weighing
from tailhound.model.names import small
from tailhound.model.verdict import Cause, Check, Part


def words(check: Check) -> str:
    """`the pod has whole CPUs of its own`: how it is where a claim is against its cause, without
    its values; "" where only the claim itself and its values tell it.
    """
    if check.otherwise and check.part is not Part.CONFIRM:
        return small(check.otherwise)
    if check.part is Part.APPLIES:
        return f"“{claims.brief(check.claim)}” does not hold"
    return ""


def against(cause: Cause) -> str:
    """The reason why a cause is ruled out or does not apply, with its values."""
    check = weighing.deciding(cause)
    if check is None:
        return small(cause.because.rstrip("."))
    return words(check) or claims.claimed(check)


def against_in_short(cause: Cause) -> str:
    """The same without its values."""
    check = weighing.deciding(cause)
    if check is None:
        return small(cause.because.rstrip("."))
    return words(check) or small(claims.brief(claims.sentence_of(check)))
