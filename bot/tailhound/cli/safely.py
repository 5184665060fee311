"""Text from outside, as a terminal may show it. Pure."""

from tailhound.model.redaction import plain, redacted
from tailhound.model.wording import cut


def safe(text: str, limit: int = 60) -> str:
    """Text from outside: no secrets, no control characters, at most `limit` characters."""
    return cut(plain(redacted(text), 4 * limit), limit)
