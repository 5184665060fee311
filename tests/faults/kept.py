"""The scenario that the fault tests diagnose: a lab whose Prometheus goes on being scraped."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.lab import scenario
from tests.lab.lab import Lab

SCENARIO = Path(__file__).parents[1] / "scenarios" / "cpu-clear-positive"
CAUSE = "cpu-throttling"


@contextmanager
def kept_lab() -> Iterator[Lab]:
    """A lab of an engine that its CPU limit stops, fresh for as long as it is used."""
    given = replace(scenario.load(SCENARIO), full_chain=False)
    with Lab(given) as lab:
        over = threading.Event()
        scraping = threading.Thread(target=_scrape, args=(lab, over), name="scraping")
        scraping.start()
        try:
            yield lab
        finally:
            over.set()
            scraping.join()


def _scrape(lab: Lab, over: threading.Event) -> None:
    assert lab.prometheus is not None
    scrapes = 1
    while not over.wait(max(lab.now + scrapes * lab.scenario.step - time.time(), 0)):
        lab.prometheus.go_on(lab.scenario, lab.now, scrapes)
        scrapes += 1


def alert_body(lab: Lab, cluster: str) -> bytes:
    """The scenario's alert as that of another cluster: an incident of its own, the same causes."""
    name = f'"cluster":"{cluster}",'.encode()
    return lab.body.replace(b'"labels":{', b'"labels":{' + name, 1)
