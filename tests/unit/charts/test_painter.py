"""Drawing in a process of its own: what comes back, and what happens when it does not."""

import ast
import asyncio
import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tailhound.charts.painter import Painter
from tailhound.model import Missing, Reason
from tests.unit.charts.samples import EVERY, chart

HANGS = "import sys, time, pathlib, os; pathlib.Path(sys.argv[1]).write_text(str(os.getpid()));"
HANGS += "time.sleep(600)"


def painted(painter: Painter, count: int = 1) -> tuple[bytes, ...] | Missing:
    return asyncio.run(painter.images([chart()] * count))


def program(code: str, *argv: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code, *argv)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_every_chart_comes_back_as_an_image() -> None:
    charts = list(EVERY.values())[:3]
    images = asyncio.run(Painter(seconds=60).images(charts))
    assert isinstance(images, tuple)
    assert [image[:4] for image in images] == [b"\x89PNG"] * 3
    assert len(set(images)) == 3


def test_without_charts_no_process_starts() -> None:
    assert asyncio.run(Painter(program=("/does/not/exist",)).images([])) == ()


def test_a_process_that_hangs_is_killed_at_the_deadline(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    found = painted(Painter(seconds=1.0, program=program(HANGS, str(pid))))
    assert isinstance(found, Missing)
    assert found.reason is Reason.TIMEOUT
    assert found.detail == "charts were not drawn within 1 s"
    assert not alive(int(pid.read_text()))


def test_waiting_for_another_one_counts_against_the_deadline(tmp_path: Path) -> None:
    async def both() -> list[tuple[bytes, ...] | Missing]:
        painter = Painter(seconds=1.0, program=program(HANGS, str(tmp_path / "pid")))
        started = asyncio.get_running_loop().time()
        found = await asyncio.gather(painter.images([chart()]), painter.images([chart()]))
        assert asyncio.get_running_loop().time() - started < 1.9
        return list(found)

    assert all(isinstance(one, Missing) for one in asyncio.run(both()))


def test_a_cancelled_question_leaves_no_process(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async def cancelled() -> None:
        painter = Painter(seconds=60, program=program(HANGS, str(pid)))
        asking = asyncio.create_task(painter.images([chart()]))
        while not (pid.exists() and pid.read_text()):
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()

    asyncio.run(cancelled())
    assert not alive(int(pid.read_text()))


def test_a_program_that_is_not_there_is_told() -> None:
    found = painted(Painter(program=("/does/not/exist",)))
    assert isinstance(found, Missing)
    assert "/does/not/exist" in found.detail


def test_a_program_that_fails_is_told_with_its_last_words() -> None:
    found = painted(Painter(program=program("raise SystemExit('no font')")))
    assert isinstance(found, Missing)
    assert found.detail == "charts were not drawn (exit status 1): no font"


def test_an_answer_that_is_no_list_of_images_is_none() -> None:
    for said in ("", "{}", "[1]", "[]", '["%%%"]', '["iVBO", "iVBO"]'):
        found = painted(Painter(program=program(f"print({said!r}, end='')")))
        assert isinstance(found, Missing)
        assert found.reason is Reason.UNPARSABLE


def test_the_server_does_not_load_what_draws() -> None:
    code = (
        "import sys, tailhound.charts.plan, tailhound.charts.svg, tailhound.charts.painter;"
        "raise SystemExit('matplotlib' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)


def test_the_program_gets_no_secret_and_a_home_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TAILHOUND_SLACK_TOKEN", "xoxb-very-secret")
    said = tmp_path / "environment"
    code = "import os, sys, pathlib; pathlib.Path(sys.argv[1]).write_text(repr(dict(os.environ)))"
    painter = Painter(program=program(code, str(said)))
    painted(painter)
    environment = ast.literal_eval(said.read_text())
    assert "xoxb" not in repr(environment)
    home = Path(environment["HOME"])
    assert environment["MPLCONFIGDIR"] == str(home)
    assert home.is_dir()
    del painter
    gc.collect()
    assert not home.exists()
