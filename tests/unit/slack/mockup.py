"""Reads the mock-ups of `tests/golden/slack/mockups.md` and builds them as Block Kit.

Notation: `== name base=x` starts a state and takes over all slots of x; `slot | text`, two of them
on a line parted by ` ‖ `; ` ⏎ `, or a line with `|` alone, begins a new line; `slot | -`: no such
slot. `[Label]` is a button, `(primary)` or `(danger)` its style, `->url` makes it a link.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tailhound.slack.blocks import SlackMessage
from tailhound.slack.kit import Block, actions, button, context, header, section

FILE: Final = Path(__file__).parents[2] / "golden" / "slack" / "mockups.md"
ORDER: Final = "HSWDAENLF"
PAGE: Final = "https://tailhound.example/incidents/8R5W"
ROWS: Final = {
    "A": "[I'm on it]",
    "L": "[Re-check] [Silence…] [Wrong? Tell us the cause] [Full evidence ↗]->url",
}
"""The rows of a mock-up that names none."""

_BUTTON: Final = re.compile(r"\[([^]]+)\](?:\((primary|danger)\))?(->url)?")
_AGO: Final = re.compile(r"\d+ min ago \((\d\d:\d\d UTC)\)")
_TOKEN: Final = re.compile(r"<!date\^(\d+)\^\{ago\}\|[^>]*>")
_EXPANDED: Final = frozenset("SWE")

Slots = Mapping[str, str]


def fenced(kind: str) -> str:
    """The block of the file with this tag."""
    found = re.search(rf"^```{kind}\n(.*?)^```", FILE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None, kind
    return found[1]


def states() -> dict[str, Slots]:
    """The mock-ups of the incident message by name: slot -> text."""
    return {
        name: {slot: text for slot, text in (ROWS | found).items() if text != "-"}
        for name, found in _read(fenced("slack")).items()
    }


def thread() -> dict[str, list[tuple[str, str]]]:
    """The mock-ups of posts in the thread by name: slot and text, in their order."""
    posts: dict[str, list[tuple[str, str]]] = {}
    for line in fenced("thread").splitlines():
        if line.startswith("== "):
            posts[line.split()[1]] = []
        else:
            posts[[*posts][-1]] += [_slot(part) for part in line.split(" ‖ ")]
    return posts


def _read(block: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    slots: dict[str, str] = {}
    last = ""
    for line in block.splitlines():
        if line.startswith("== "):
            words = line.split("#", maxsplit=1)[0].split()
            base = next((word[5:] for word in words if word.startswith("base=")), "")
            slots = found[words[1]] = dict(found.get(base, {}))
            continue
        for part in line.split(" ‖ "):
            slot, text = _slot(part)
            if slot:
                last, slots[slot] = slot, text
            else:
                slots[last] += f"\n{text}"
    return found


def _slot(part: str) -> tuple[str, str]:
    slot, _, text = part.partition("|")
    return slot.strip(), text.strip().replace(" ⏎ ", "\n")


def labels(row: str) -> list[str]:
    """The buttons of a row."""
    return [label for label, _, _ in _BUTTON.findall(row)]


def row(slots: Slots, slot: str) -> tuple[Block, ...]:
    """The buttons of a row as Block Kit."""
    return tuple(
        _button(f"{slot}{n}", *found)
        for n, found in enumerate(_BUTTON.findall(slots.get(slot, "")))
    )


def _button(action: str, label: str, style: str, link: str) -> Block:
    more = {"style": style} if style else {}
    return button(label, action, **more, **({"url": PAGE} if link else {"value": "8R5W:1"}))


def built(slots: Slots) -> SlackMessage:
    """A mock-up as the message that Slack would get."""
    drawn: list[Block | None] = []
    for slot in ORDER:
        text = mrkdwn(slots.get(slot, ""))
        if slot in "AL":
            drawn.append(actions(slot, row(slots, slot)))
        elif slot == "H":
            drawn.append(header(slot, slots.get(slot, "")))
        elif slot == "F":
            drawn.append(context(slot, text))
        else:
            drawn.append(section(slot, text, expand=slot in _EXPANDED))
    return SlackMessage(text=slots["T"], blocks=tuple(block for block in drawn if block))


def posted(slots: list[tuple[str, str]]) -> SlackMessage:
    """A mock-up of a post in the thread as the message that Slack would get."""
    told = dict(slots)
    rows = [text.split(" / ") for slot, text in slots if slot == "B"]
    cells = [[{"type": "raw_text", "text": cell} for cell in one] for one in rows]
    table: dict[str, Any] = {"type": "table", "block_id": "B", "rows": cells}
    drawn = (
        section("S", mrkdwn(told["S"]), expand=True),
        table if rows else None,
        actions("A", row(told, "A")),
    )
    return SlackMessage(text=told["T"], blocks=tuple(block for block in drawn if block))


def read(text: str, now: float) -> str:
    """A text of ours as a mock-up writes it: what the reader's client tells at a moment."""
    return _TOKEN.sub(lambda token: f"{int(now - int(token[1])) // 60} min ago", text)


def mrkdwn(text: str) -> str:
    """A mock-up's text as Slack gets it: a time that goes stale is told by the reader's client."""
    return _AGO.sub(r"<!date^1764471060^{ago}|\1> (\1)", text)
