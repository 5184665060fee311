"""Where our messages differ from the mock-ups on purpose, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Differs:
    """What a mock-up says, and what we say in its place."""

    mock: str
    ours: str
    why: str


Slots = Mapping[str, tuple[Differs, ...]]

CHANGES: Final = "This version changes nothing: it suggests, and draws no button that changes."
STEPS: Final = "Where the steps are is told once for all suggestions, and the page always has them."
PAGE: Final = "The page, where it has an address, has everything; a thread's file may be refused."
NAMED: Final = (
    "Who is on call looks for the alert by its name: it stands below the symptom, with how grave "
    "it is and how many alerts there are."
)
QUANTILE: Final = "Which quantile it is stands wherever its value stands."
HOW: Final = "How the other questions ended is told: empty and failed are not the same."
WAITED: Final = "How long the verdict took is told of each first verdict, not of one."
PLAIN: Final = "What a backend or host says is quoted without marks that it could end."
POINT: Final = "Gaps stand behind one another on a line, so each fix ends in a full stop."
UNIT: Final = "A bound has the unit of its value, as everywhere."
MADE_UP: Final = "Three are shown where there is room; the sample needs names for them."
CLAIMS: Final = "What would decide is told by the claims of the runbook, each once."
OPEN: Final = (
    "A claim that nobody knows reads as a finding unless it is quoted as what is not known, with "
    "its cause; unknown causes without a sign are named apart."
)
COUNTED: Final = "Each unknown cause stands once, under the name and number of the first line."
MEASURED: Final = "A value after the end is measured by nobody: what is known is what it was."
TENSE: Final = "A runbook words its cause in the present; as a name it is true afterwards, too."
AGAIN: Final = "A second time nothing is measured yet: only what the alert says, and what was."
OVER: Final = "Once it is over, what was seen is told as of the verdict, for it is in the present."
NAMED_SO: Final = "Without the word, the cause of an incident reads as what resolved it."
GRAVE: Final = "How grave it was is told of each incident."
MEAN: Final = "A stage is a mean: beside a p99 that has to be said."
LINKED: Final = "A resolved message leads to its page, too."
TWICE: Final = (
    "What the symptom was is told on its own line, and not again as the end of the chain."
)
THEN: Final = "Where the time went then is told afterwards, too."
ONCE: Final = "What several claims, or a value and its bound, say alike is said once."
UNNAMED: Final = "Where no cause was named nothing can be wrong: the form asks what it was."
BEGAN: Final = "When each cause began is told here as in a chain."


TAKEN_LINES: Final = (
    Differs("ben is on it since 03:03 UTC · ", "\nben is on it · silenced until 05:10\n", (
        "Nobody who is about to begin reads the last line: it stands below the symptom."
    )),
    Differs("Silenced by ana until 05:10 UTC (3 alerts) · ", "Silence of ana: 3 alerts · ", (
        "Until when it lasts stands above; whom to ask, and of how many alerts, is told last."
    )),
)  # fmt: skip
"""Of the message that somebody has taken, which has no state of its own among the mock-ups."""

EVIDENCE: Final = Differs("Claim / Seen / Needs / Says", "Claim / Seen (needs)", (
    "A phone cuts the third column: what is needed stands beside what was seen, and a row of its "
    "own names each cause once, above its claims."
))  # fmt: skip
"""The columns of the table in the thread."""

SEVERITY: Final = "A severity of the name `page` reads as a page of the web."


def _change(mock: str, ours: str = "") -> Differs:
    return Differs(mock, ours, CHANGES)


EVERYWHERE: Final[Slots] = {
    "T": (_change(" A change is offered."),),
    "S": (
        Differs("Slow stage:", "Slow stage (mean):", MEAN),
        Differs("Slow stages:", "Slow stages (mean):", MEAN),
    ),
    "N": (Differs("more in the thread", "more on the page", PAGE),),
    "F": (
        _change("changes: one-click", "changes: off (one-click mode, but this version has none)"),
    ),
}
"""In every state, slot by slot."""

_CPU_EVIDENCE = (Differs("(needs 0.05)\n✓ Req", "(needs 0.05 s per second)\n✓ Req", UNIT),)
_CPU_GAPS = (
    Differs("Prometheus. Fix: scrape ingress-nginx and CoreDNS", "Prometheus.", (
        "What nobody scrapes is no work for this night: its fix stands on the page."
    )),
)  # fmt: skip
_CPU_CHAIN = (Differs("Tokens slow: 80 ms", "Inter-token p50: 80 ms", QUANTILE),)
_CPU_OFFERS = (
    "\n1. Raise the CPU limit 6 → 9 on `chat-json-2`, in place, no restart. Medium risk.\n"
    "2. Cap the compile threads to the limit.\nSteps: on the page."
)
_WRITES = (
    Differs(" on `nvme0n1`", "\nAlert: WritesSlow, warning (“writes are slow”)", (
        f"{NAMED} Which drive it is stands in the claims: a symptom names no part."
    )),
)  # fmt: skip
_ALERT = "\nAlert: LLMDHighTTFT, critical, 3 alerts (“TTFT p99 above 2.5 s for 2 minutes”)\n`prod"

HERE: Final[Mapping[str, Slots]] = {
    "collecting": {
        "S": (
            Differs("\n`prod", _ALERT, NAMED),
            Differs("Slow stage: *queue", "Slow stages: *queue", "More than one is slow."),
            Differs("; the rest as usual", "", "Stages that are not named are not slow."),
        ),
    },
    "confirmed": {
        "S": (Differs("\n`prod", _ALERT, NAMED),),
        "W": (Differs("First token slow: 12.4 s", "First token p99: 12.4 s", QUANTILE),),
        "D": (
            _change("High risk: two people.", "High risk."),
            Differs(": steps in the thread.", ".\nSteps: on the page.", STEPS),
        ),
        "A": (_change("[Lower max-num-seqs…] "),),
        "E": (
            Differs("0.31 per finished request", "0.31", "The claim says of what it is a share."),
            Differs(", 41 waiting", "", "The sample's claim looks at the share alone."),
        ),
        "N": (
            Differs(": `gpu-node-7` did", ": gpu-node-7 did", PLAIN),
            Differs("`tailhound doctor ssh gpu-node-7`", "tailhound doctor ssh gpu-node-7.", POINT),
        ),
        "F": (
            Differs("questions answered", "questions answered, 1 failed", HOW),
            Differs("long-prompt)", "long prompts)", "A cause is told by its name."),
        ),
    },
    "competing": {
        "S": (
            Differs("\n`mesh", "\nAlert: PredictorSlow, severity page (“slow”)\n`mesh", NAMED),
            Differs("*queue 21 s*", "*queue 21.1 s*", "Three digits, as of every duration."),
        ),
        "W": (
            Differs("; 1 of 4 copies stopped before the next had the model", " + more", (
                f"{NAMED} Its severity in words takes one line more."
            )),
            Differs("A. *Node drain* explains the queue (+21 s): `gpu-node-3`",
                    "A. 03:11 *Node drain* explains the queue (+21 s): 'gpu-node-3'", BEGAN),
            Differs("B. *CPU throttling*", "B. 03:11 *CPU throttling*", BEGAN),
            Differs("are the 2 pods without throttling slow too? Asked again 03:20 UTC.",
                    "undo one at a time and look whether the symptom goes.",
                    "Nothing that the two runbooks ask is open here."),
        ),
        "D": (
            _change(
                " A. uncordon `gpu-node-3` (low risk) · B. raise the CPU limit 4 → 6 on one pod "
                "(medium risk). One at a time.",
                "\n1. Uncordon `gpu-node-3`. Low risk.\n"
                "2. Raise the CPU limit 4 → 6 on one pod. Medium risk.\nSteps: on the page.",
            ),
        ),
        "A": (_change("[Uncordon gpu-node-3…] [Raise CPU limit…] "),),
        "E": (
            Differs("03:11:04, by the drain of `gpu-node-3`",
                    "03∶11∶04, by the drain of gpu-node-3", PLAIN),
            Differs("3 of 4 (needs", "75 % (needs", "A share is told as its bound is."),
        ),
        "N": (
            Differs("capacity), + 8", "capacity), other 0 (as usual), other 1 (as usual), + 6",
                    MADE_UP),
            Differs("`Pulled`", "'Pulled'", PLAIN),
            Differs("from the next alert on", "from the next alert on.", POINT),
        ),
        "F": (
            Differs("03:18:21 UTC", "03:18:21 UTC, 21 s after the alert came in", WAITED),
            Differs("questions answered", "questions answered, 1 failed", HOW),
        ),
    },
    "unknown": {
        "L": (Differs("Wrong? Tell us the cause", "Tell us the cause", UNNAMED),),
        "H": (Differs("slow writes", "slow write wait", "What is slow is told by its own name."),),
        "T": (
            Differs("nvme0n1 write wait", "write wait", "A symptom names no part of a host."),
            Differs("2 candidates could not be checked: no SSH.",
                    "12 causes checked: 10 ruled out, 2 unknown, 0 confirmed.",
                    "The counts are told here as in the message; N has the reasons."),
        ),
        "S": _WRITES,
        "W": (
            Differs("\n2. *NVMe timeouts*: 0 claims hold, 2 unknown", "", (
                "A cause of which nothing was measured is near to nothing."
            )),
            Differs(" Nearest:", " Unknown (2):", COUNTED),
            Differs("collection*: 2", "collection*: slower than twice its own usual: x2.5 (needs "
                    "x2). 2", "What stands out is told by its value; a count alone tells nothing."),
            Differs("\n*Would decide:* drive health, free space and last trim of `db-1`",
                    ". Not known: “nearly full, or not trimmed for a week”; “cool enough”; + 1 "
                    "more on the page\n*Not measured:* NVMe timeouts.", OPEN),
        ),
        "D": (
            Differs(
                ":* run these on `db-1` and read them, or save the output and feed it to "
                "`tailhound parse`:\n`nvme smart-log /dev/nvme0n1 -o json` · "
                "`findmnt -J -o TARGET,SOURCE,OPTIONS,USE%`",
                "* ask by hand what had no answer:\nSSH to db-1: `q`",
                "Questions to any backend are told alike, each on a line, to be pasted.",
            ),
        ),
        "E": (
            Differs("? Nearly full, or not trimmed for a week: not measured\n"
                    "? Cool enough: not measured\n? No media errors: not measured",
                    "? Not known of SSD garbage collection: nearly full, or not trimmed for a "
                    "week; cool enough; no media errors", ONCE),
        ),
        "N": (
            Differs("no reclaim), + 8", "no reclaim), other 0 (as usual), + 7", MADE_UP),
            Differs("*Could not check (2):* SSH to `db-1`",
                    "*Could not check (2):* SSD garbage collection (in part), NVMe timeouts: SSH "
                    "to db-1", f"What could not be checked is named. {PLAIN}"),
            Differs("`tailhound doctor ssh db-1` prints the line for `authorized_keys`",
                    "tailhound doctor ssh db-1.", POINT),
        ),
        "F": (Differs("questions answered", "questions answered, 5 failed", HOW),),
    },
    "blind": {
        "S": (Differs("json` · page", "json` · severity page", SEVERITY),),
        "W": (
            Differs("`prometheus:9090`", "'prometheus:9090'", PLAIN),
            Differs("causes need it", "causes could not be checked", "None of them was checked."),
            Differs("Asked again every", "Asks again every", "The past reads as if it were over."),
        ),
        "D": (
            Differs("itself; it", "itself (`tailhound doctor prometheus`); it",
                    "Who is paged needs the command where the step is."),
            Differs("3 of 3 pods ready, 0 restarts · no rollout in 24 h · CPU limit 6 cores · node "
                    "Ready", "ready pods 3 · CPU limit 6 cores",
                    "Told is what the evidence of this incident measured."),
        ),
        "N": (
            Differs("(3, from Kubernetes)", "(3)", "What could answer is told by the questions."),
            Differs(
                "Prometheus timed out. Fix: `tailhound doctor prometheus`",
                "cause 0, cause 1, cause 2, cause 3, + 7 more on the page: 'prometheus:9090' "
                "accepted the connection and sent nothing for 10 s, 3 times. Fix: check that "
                "Prometheus is up, then check again.",
                "What happened is told as it was, and what could not be checked is named.",
            ),
        ),
        "F": (Differs("questions answered", "questions answered, 35 failed", HOW),),
    },
    "revised": {
        "T": (
            Differs("SSD garbage collection. storage", "SSD garbage collection on db-1. storage",
                    "It is the title of the cause, as in the header."),
        ),
        "S": (
            *_WRITES,
            Differs("14 min ago", "15 min ago", "The mock-up took the state before over."),
        ),
        "W": (
            Differs("confirmed~\n`nvme0n1` waits",
                    "confirmed~\nWhat led to what:\n1. 03:26 *SSD garbage collection*: 'nvme0n1' "
                    "waits", "A revised verdict is told as every other one."),
            Differs("no media errors", "no media errors\n2. 03:26 Write wait: 2.5 ms, usually 1 ms",
                    "A revised verdict is told as every other one."),
        ),
        "D": (
            _change(" Can't be undone, needn't be."),
            Differs(": steps in the thread.", ".\nSteps: on the page.", STEPS),
        ),
        "A": (_change("[Trim now…] "),),
        "E": (
            Differs("93 % full, 92 days (needs 85 % or 7 days)", "93 % (needs 85 %)",
                    "The alternative that decided is told; the page has both."),
            Differs("write amplification not reported by this drive",
                    "not known whether it amplifies writes", CLAIMS),
            Differs("No media errors: 0 (needs 0)", "No media errors: none", ONCE),
        ),
        "N": (
            Differs("usually 50), + 9", "usually 50), other 0 (as usual), + 8", MADE_UP),
        ),
        "F": (Differs("questions answered", "questions answered, 1 empty", HOW),),
    },
    "proposed": {
        "T": (Differs(": CPU limit stops", ": the CPU limit stops", "The title is as it is."),),
        "S": (
            Differs("\n`llm", "\nAlert: InferenceInterTokenLatencyHigh, severity page\n`llm", (
                f"{NAMED} Here that leaves no room for what the alert says."
            )),
            Differs(" · slow stage: *decode*; GPU busy 7 %: it waits for the CPU",
                    "\nSlow stage: *decode 4.1 s*, usually 0.41 s",
                    "A stage is told with its value and its usual one, on its line."),
        ),
        "W": _CPU_CHAIN,
        "D": (
            _change("Medium risk: one of sre-oncall. Put back if it does not help.",
                    "Medium risk."),
            Differs(": steps in the thread. This is the lasting fix.", ".\nSteps: on the page.",
                    STEPS),
        ),
        "A": (_change("[Raise CPU limit…] "),),
        "E": _CPU_EVIDENCE,
        "N": _CPU_GAPS,
        "F": (
            Differs("03:04:11 UTC", "03:04:11 UTC, 2 min 11 s after the alert came in", WAITED),
            Differs("questions answered", "questions answered, 2 empty", HOW),
        ),
    },
    "resolved": {
        "H": (Differs(": the CPU limit stopped", ". Cause: the CPU limit stopped", NAMED_SO),),
        "T": (
            Differs("p50 8 ms.", "p50 was 80 ms.", MEASURED),
        ),
        "S": (
            Differs("p50 8 ms*, was 80 ms", "p50 was 80 ms*, usually 8 ms (x10)", MEASURED),
            Differs(" · resolved by the alert, 30 min after the change was verified", "", (
                "Nothing but its alerts resolves an incident here, and nothing is changed."
            )),
            Differs("`llm / chat-json` ·", "`llm / chat-json` · severity page ·", GRAVE),
            Differs("03:38 UTC", "03:38 UTC\n"
                    "Slow stage then (mean): *decode 4.1 s*, usually 0.41 s", THEN),
        ),
        "W": (
            Differs("\n3. 03:00 Tokens slow: 80 ms, usually 8 ms", "", TWICE),
            Differs("What led to what:", "Seen at 03:04:11 UTC:", OVER),
        ),
        "D": (
            _change(" 3 changes, verified (ben). A rollout brings 6 back: the Deployment still "
                    "says 6.", f"\n*Suggested, against a return:*{_CPU_OFFERS}"),
        ),
        "L": (Differs("", "[Full evidence ↗]", LINKED),),
        "E": _CPU_EVIDENCE,
        "N": _CPU_GAPS,
        "F": (
            Differs("03:04:11 UTC", "03:04:11 UTC, 2 min 11 s after the alert came in", WAITED),
            Differs("questions answered", "questions answered, 2 empty", HOW),
        ),
    },
    "reopened": {
        "H": (Differs("slow tokens", "InferenceInterTokenLatencyHigh", AGAIN),),
        "T": (
            Differs("inter-token p50 76 ms, usually 8 ms. Being checked again.",
                    "InferenceInterTokenLatencyHigh (2nd time). Being checked again; verdict by "
                    "03:52:30 UTC.", AGAIN),
        ),
        "S": (
            Differs("*Inter-token p50 76 ms*, usually 8 ms (x9.5) · SLO 20 ms",
                    "*The alert says:* “p50 ITL 68-93 ms, objective 20 ms”", AGAIN),
            Differs("json` · started", "json` · severity page · started", AGAIN),
            Differs("first episode 03:00 to 03:38 UTC", "last resolved 03:38 UTC", AGAIN),
        ),
        "W": (Differs("limit stopped", "limit stops", TENSE),),
        "D": (
            _change("A rollout at 03:49 UTC put the limit back to 6.",
                    "*Suggested last time:* raise the CPU limit 6 → 9 on `chat-json-2`, in place, "
                    "no restart · cap the compile threads to the limit"),
        ),
        "F": (
            Differs("verdict 03:04:11 UTC · 38 of 40 questions answered",
                    "received 03:02:00 UTC · changes: off (one-click mode, but this version has "
                    "none)", AGAIN),
        ),
    },
    "deferred": {
        "W": (
            Differs(" 21 of them are on `gpu-node-3` or its rack: see incident 7F3K first.", "",
                    "It is told where most of those that wait have a node in common."),
        ),
    },
}  # fmt: skip
"""State by state."""
