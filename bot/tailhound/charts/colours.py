"""The colours of charts. Every text and line keeps its contrast; none is the only carrier."""

CARD = "#1A1D21"
"""One dark card for both themes of Slack: the bot can't know the reader's."""

TEXT = "#E8E8E8"
SECONDARY = "#A7ADB5"
MECHANISM = "#56B4E9"
SYMPTOM = "#E69F00"
ONSET = "#E58AC0"
LIMIT = "#F2F2F2"

LIGHT_CARD = "#FFFFFF"
LIGHT_TEXT = "#1D1C1D"
LIGHT_SECONDARY = "#565B62"
LIGHT_MECHANISM = "#0A6EB4"
LIGHT_SYMPTOM = "#A35200"
LIGHT_ONSET = "#9C2F7A"
LIGHT_LIMIT = "#1D1C1D"

BAND = 0.18
"""How much of the secondary colour the usual band and the envelope lay over the card."""

GAP = 0.10
"""The same, for a span without data."""


def over(colour: str, card: str, share: float) -> str:
    """The colour that a half-transparent one makes on a card."""
    mixed = (
        round(share * top + (1 - share) * bottom)
        for top, bottom in zip(_channels(colour), _channels(card), strict=True)
    )
    return "#" + "".join(f"{channel:02X}" for channel in mixed)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _channels(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(channel / 255) for channel in _channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
