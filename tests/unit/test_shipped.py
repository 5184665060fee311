"""Where shipped files are found."""

import pytest

from tailhound.shipped import Kind, shipped


@pytest.mark.parametrize("kind", ["runbooks", "templates", "demo"])
def test_each_kind_of_shipped_file_is_found(kind: Kind) -> None:
    assert shipped(kind).is_dir()


def test_the_templates_of_slack_are_among_them() -> None:
    assert (shipped("templates") / "slack" / "verdict.j2").is_file()


def test_what_is_not_shipped_says_where_it_was_looked_for() -> None:
    with pytest.raises(FileNotFoundError, match=r"no nothing folder at .*nothing or .*nothing"):
        shipped("nothing")  # type: ignore[arg-type]
