"""Forms, home tab and commands against the mock-ups that they were designed from."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tailhound.app import collectors, runbook_files
from tailhound.requests.argv import SHIPPED
from tailhound.rules.loading import load_runbooks
from tailhound.settings import Settings
from tests.samples.incidents import CONFIRMED
from tests.unit.slack.floor import Floor, floor, texts

FILE = Path(__file__).parents[2] / "golden" / "slack" / "forms.md"
KINDS = {"radio": "radio_buttons", "select": "static_select", "text": "plain_text_input"}


def fenced(kind: str) -> str:
    """The block of the file with this tag."""
    found = re.search(rf"^```{kind}\n(.*?)^```", FILE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None, kind
    return found[1]


def slots(text: str) -> list[tuple[str, str]]:
    """Slot and text, in their order."""
    pairs = (part.partition(" | ") for line in text.splitlines() for part in line.split(" ‖ "))
    return [(slot.strip(), told) for slot, _, told in pairs]


def form(name: str) -> list[tuple[str, str]]:
    _, _, rest = fenced("modal").partition(f"== {name}\n")
    return slots(rest.partition("== ")[0].strip())


@pytest.fixture
def room() -> Iterator[Floor]:
    with floor() as made:
        made.desk.runbooks = load_runbooks(runbook_files(Settings()), collectors(), SHIPPED)
        made.show(CONFIRMED)
        yield made


def check(view: dict[str, Any], slot: str, told: str) -> None:
    """One slot of a form is as in the mock-up."""
    if slot in ("title", "submit", "close"):
        assert view[slot]["text"] == told
        return
    if slot != "I":
        assert told in plainly(view)
        return
    label, _, rest = told.partition(" :: ")
    kind, _, choices = rest.partition(" :: ")
    (block,) = (b for b in view["blocks"] if b.get("label", {}).get("text") == label)
    assert block["element"]["type"] == KINDS[kind]
    if choices:
        shown = [option["text"]["text"] for option in block["element"]["options"]]
        assert [text.replace("\u00a0", " ") for text in shown] == choices.split(" / ")


def plainly(view: dict[str, Any]) -> str:
    class View:
        body = view

    return texts(View)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "action"), [("silence", "silence"), ("feedback", "wrong")])
def test_a_form_is_as_it_was_designed(room: Floor, name: str, action: str) -> None:
    room.press(action)
    view = room.modal(lambda view: "submit" in view.body).body
    found = form(name)
    assert len(found) > 6
    for slot, told in found:
        check(view, slot, told)


def test_the_fields_stand_in_their_order(room: Floor) -> None:
    for name, action in (("silence", "silence"), ("feedback", "wrong")):
        room.press(action)
        view = room.modal(lambda view, name=name: name in view.body["callback_id"]
                          and "submit" in view.body).body  # type: ignore[misc]  # fmt: skip
        labels = [block["label"]["text"] for block in view["blocks"] if "label" in block]
        wanted = [told.partition(" :: ")[0] for slot, told in form(name) if slot == "I"]
        assert [label for label in labels if label != "Pages"] == wanted


def test_the_home_tab_is_as_it_was_designed(room: Floor) -> None:
    room.hands().look_home()
    view = room.home().body
    found = slots(fenced("home").strip())
    headers = [block["text"]["text"] for block in view["blocks"] if block["type"] == "header"]
    assert headers == [told for slot, told in found if slot == "H"]
    (row,) = (block for block in view["blocks"] if block["type"] == "actions")
    labels = [element["text"]["text"] for element in row["elements"]]
    assert labels == [told for slot, told in found if slot == "A"]
    assert row["elements"][0]["style"] == "danger"


def test_commands_answer_as_they_were_designed(room: Floor) -> None:
    for typed, told in slots(fenced("ephemeral").strip()):
        assert told in room.type(typed).replace("\u00a0", " "), typed
