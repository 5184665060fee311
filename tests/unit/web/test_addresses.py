"""Every address that the application answers is documented, and no other."""

import re
from pathlib import Path

from starlette.routing import Route

from tailhound.web.app import create_app
from tailhound.web.query import PAGE, PAGE_AT_MOST, SPANS, ListQuery
from tests.unit.web.shelf import parts

DOCUMENT = Path(__file__).parents[3] / "docs" / "api" / "http.md"


def test_every_address_is_documented_and_no_other() -> None:
    routes = [route for route in create_app(parts()).routes if isinstance(route, Route)]
    paths = {re.sub(r"\{(\w+):\w+\}", r"{\1}", route.path) for route in routes} - {"/"}
    told = set(re.findall(r"`(?:GET |POST )?(/[^` ]*)`", DOCUMENT.read_text(encoding="utf-8")))
    assert told == paths


def test_every_parameter_of_a_list_is_documented_with_what_it_may_be() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [name for name in ListQuery.__dataclass_fields__ if f"`{name}`" not in text] == []
    assert (
        "within " + ", ".join(f"`{span}`" for span in SPANS).replace(", `30d`", " or `30d`") in text
    )
    assert f"{PAGE} unless given, at most {PAGE_AT_MOST}" in text
