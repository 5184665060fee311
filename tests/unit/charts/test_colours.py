"""The contrast of every pair that is drawn."""

import pytest

from tailhound.charts import colours


@pytest.mark.parametrize(
    ("colour", "least"),
    [
        (colours.TEXT, 13.8),
        (colours.SECONDARY, 7.5),
        (colours.MECHANISM, 7.3),
        (colours.SYMPTOM, 7.5),
        (colours.ONSET, 7.0),
        (colours.LIMIT, 15.1),
    ],
)
def test_a_colour_has_the_contrast_that_was_measured_for_it(colour: str, least: float) -> None:
    assert round(colours.contrast(colour, colours.CARD), 1) == least


@pytest.mark.parametrize(
    "colour",
    [
        colours.LIGHT_TEXT,
        colours.LIGHT_SECONDARY,
        colours.LIGHT_MECHANISM,
        colours.LIGHT_SYMPTOM,
        colours.LIGHT_ONSET,
        colours.LIGHT_LIMIT,
    ],
)
def test_on_a_light_page_every_text_can_be_read(colour: str) -> None:
    assert colours.contrast(colour, colours.LIGHT_CARD) >= 4.5


@pytest.mark.parametrize("share", [colours.BAND, colours.GAP])
def test_texts_can_be_read_on_a_band_too(share: float) -> None:
    ground = colours.over(colours.SECONDARY, colours.CARD, share)
    for text in (colours.SECONDARY, colours.ONSET, colours.LIMIT):
        assert colours.contrast(text, ground) >= 4.5


def test_contrast_is_that_of_wcag() -> None:
    assert colours.contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert colours.contrast("#FFFFFF", "#FFFFFF") == pytest.approx(1.0)
    assert colours.over("#FFFFFF", "#000000", 0.5) == "#808080"
