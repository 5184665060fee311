"""`python -m tests.accuracy`: is the product right on every scenario and on its variants?

Exit code 1 when fewer than 95 % of the primary causes are right, when a cause is confirmed that
must not be, or when a variant loses a verdict.
"""

import argparse
import dataclasses
import json
import sys
import time
from pathlib import Path

from tests.accuracy.measuring import DROPPED, Measured, all_measured, names
from tests.accuracy.perturb import PERTURBATIONS
from tests.accuracy.scoring import AT_LEAST, EXPECTED, GOT, Score, Totals
from tests.lab.expectations import known_runbooks


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.accuracy", description=__doc__)
    parser.add_argument("--json", type=Path, help="also write everything into this file")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--only", default="", help="scenarios whose name holds this text")
    parser.add_argument("--plain", action="store_true", help="the scenarios alone, no variants")
    parser.add_argument("--variant", action="append", choices=_variants(), help="this one alone")
    options = parser.parse_args()
    variants = () if options.plain else tuple(options.variant or _variants())
    found: list[Measured] = []
    started = time.monotonic()
    for one in all_measured(names(options.only), variants, options.jobs):
        found.append(one)
        _say(*_lines(one.score), *(line for each in one.variants for line in _lost(each)))
    found.sort(key=lambda one: one.score.name)
    totals = Totals(
        scores=tuple(one.score for one in found),
        variants=tuple(each for one in found for each in one.variants),
    )
    _say("", *matrix(totals), "", *_summary(totals), f"took {time.monotonic() - started:.0f} s")
    if options.json:
        text = json.dumps(as_plain(totals), indent=1, ensure_ascii=False)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0 if totals.good else 1


def _variants() -> list[str]:
    return [*PERTURBATIONS, DROPPED]


def _say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _lines(score: Score) -> list[str]:
    mark = "ok  " if not score.misses and not score.false_confirmations else "MISS"
    lines = [f"{mark} {score.name:38} primary {score.expected_primary} / {score.primary or 'none'}"]
    lines += [f"     missed: {miss}" for miss in score.misses]
    return lines + [f"     falsely confirmed: {book}" for book in score.false_confirmations]


def _lost(score: Score) -> list[str]:
    lines = [f"     {score.name}: {miss}" for miss in score.misses]
    lines += [f"     {score.name}: falsely confirmed {it}" for it in score.false_confirmations]
    return ["LOST", *lines] if lines else []


def matrix(totals: Totals) -> list[str]:
    """A line for each cause that has a runbook and each expectation; the columns are what came."""
    counted = totals.confusion
    lines = [f"{'cause':22} {'expected':14} " + " ".join(f"{got:>14}" for got in GOT)]
    for runbook in sorted(known_runbooks()):
        for expected in EXPECTED:
            row = [counted.get((runbook, expected, got), 0) for got in GOT]
            if any(row):
                numbers = " ".join(f"{n or '.':>14}" for n in row)
                lines.append(f"{runbook:22} {expected:14} {numbers}")
    return lines


def _summary(totals: Totals) -> list[str]:
    share = totals.right / totals.judged if totals.judged else 0.0
    false = totals.false_confirmations
    return [
        f"primary cause right: {totals.right} of {totals.judged} ({share:.1%}; bar {AT_LEAST:.0%})",
        f"no say about the primary cause: {len(totals.scores) - totals.judged}",
        f"scenarios with a miss: {sum(bool(score.misses) for score in totals.scores)}",
        f"false confirmations: {len(false)}",
        *_variant_lines(totals),
    ]


def _variant_lines(totals: Totals) -> list[str]:
    if not totals.variants:
        return ["variants: none were run"]
    kept = len(totals.variants) - len(totals.changed)
    return [
        f"variants that keep every verdict: {kept} of {len(totals.variants)}",
        *(f"  {name}: {_of(totals, name)}" for name in _variants()),
    ]


def _of(totals: Totals, variant: str) -> str:
    mine = [score for score in totals.variants if score.variant == variant]
    return f"{sum(not score.misses for score in mine)} of {len(mine)}"


def as_plain(totals: Totals) -> dict[str, object]:
    """The run as JSON values."""
    return {
        "primary_right": totals.right,
        "primary_judged": totals.judged,
        "false_confirmations": [list(pair) for pair in totals.false_confirmations],
        "confusion": [
            {"cause": cause, "expected": expected, "got": got, "times": count}
            for (cause, expected, got), count in sorted(totals.confusion.items())
        ],
        "scenarios": [dataclasses.asdict(score) for score in totals.scores],
        "variants": [dataclasses.asdict(score) for score in totals.variants],
    }


if __name__ == "__main__":
    sys.exit(main())
