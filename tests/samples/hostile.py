"""An incident whose every text from outside would like to be markup, code or a terminal's order."""

from dataclasses import replace

from tailhound.model import Also, Happened, Incident, Seen, Stage
from tailhound.model.impossible import Impossible
from tests.samples.causes import DIAGNOSIS, FABRIC, THROTTLING
from tests.samples.incidents import CONFIRMED
from tests.samples.story import NOW, RDMA, SYMPTOM, alert, subject

HOSTILE = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}{% raw %}\u202e\x1b[31m"
)


def hostile(text: str = HOSTILE) -> Incident:
    """An incident in which every text that can come from outside is hostile."""
    bad = replace(
        RDMA,
        reason=text,
        asked=(replace(RDMA.asked[0], question=text, detail=text, answer=text, backend=text),),
    )
    check = replace(THROTTLING.checks[0], needs=(), seen=(Seen(name="x", value=text, of=text),))
    cause = replace(
        THROTTLING,
        because=text,
        says=text,
        checks=(check, replace(FABRIC.checks[0], missing=(text,))),
        evidence=("fabric",),
    )
    return replace(
        CONFIRMED,
        id="BAD1",
        subject=subject(text, text),
        alerts=(alert(alertname=text, severity=text, **{text: text}),),
        diagnosis=replace(
            DIAGNOSIS,
            causes=(cause, replace(FABRIC, because=text)),
            chain=("cpu-throttling",),
            evidence=(bad,),
            stages=(Stage(stage=text, seconds=1.0, usual_seconds=0.5, remainder=text),),
            symptom=replace(
                SYMPTOM,
                name=text,
                series=text,
                also=(Also(name=text, value=2.0, unit="seconds", usual=1.0),) * 3,
                unmeasured=text,
                grew_seconds=9.0,
            ),
            scope=text,
            slow_pods=(text,),
            slow_nodes=(text,),
            impossible=Impossible("pod", text),
        ),
        timeline=(Happened(at=NOW, what=text),),
    )
