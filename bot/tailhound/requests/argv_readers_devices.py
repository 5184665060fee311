"""What the tools of drives, GPUs and buses can be asked without changing anything."""

from collections.abc import Mapping

from tailhound.requests.argv_operands import none
from tailhound.requests.argv_reader import Reader, verbs, words

_NVME_VERBS = verbs(
    "list,list-subsys,show-topology,smart-log,error-log,id-ctrl,id-ns,ana-log,fw-log,effects-log,"
    "self-test-log,endurance-log,get-feature,show-regs,version,ocp smart-add-log,"
    "ocp latency-monitor-log,intel smart-log-add,solidigm smart-log-add,wdc vs-smart-add-log,"
    "micron vs-smart-add-log,micron vs-smart-ext-log"
)
_NVME_VALUES = words(
    "-o --output-format --output-format-version -n --namespace-id -e --log-entries "
    "-f --feature-id -s --sel -g --group-id"
)

DEVICES: Mapping[str, Reader] = {
    "nvme": Reader(
        flags=words("-v --verbose -H --human-readable --rae"),
        valued=_NVME_VALUES,
        verbs=_NVME_VERBS,
        because="many of its verbs write, format, reset, or clear what they read",
    ),
    "nvidia-smi": Reader(
        flags=words("-q --query -x --xml-format -L --list-gpus --help-query-gpu"),
        valued=words(
            "-d --display -i --id --format --query-gpu --query-compute-apps --query-apps"
            " --query-retired-pages --query-remapped-rows"
        ),
        operands=none,
        clusters=False,
        subs={
            "nvlink": Reader(flags=words("-s -e"), valued=words("-i"), operands=none),
            "topo": Reader(flags=words("-m"), operands=none),
        },
        because="its other options reset, lock clocks, set power or modes, or repeat for ever",
    ),
    "dcgmi": Reader(
        verbs=verbs("discovery,health,dmon,nvlink"),
        subs={
            "discovery": Reader(flags=words("-l -c -v"), operands=none),
            "health": Reader(flags=words("-c -j"), valued=words("-g"), operands=none),
            "dmon": Reader(valued=words("-e -c -d -i -g"), operands=none, required=words("-c")),
            "nvlink": Reader(flags=words("-e -s -j"), valued=words("-g -i"), operands=none),
        },
        because="only discovery, health -c, dmon -c N and nvlink are read-only",
    ),
    "smartctl": Reader(
        flags=words("-a --all -x --xall -i --info -H --health -c --capabilities -A --attributes")
        | words("-j --json -jc --json=c --scan --log=error --log=selftest --log=devstat"),
        valued=words("-d --device -n --nocheck"),
        because="-t starts a self-test, -s and -o set features",
    ),
    "hdparm": Reader(flags=words("-I -i -g"), clusters=False),
    "blockdev": Reader(
        flags=words(
            "--getsize64 --getss --getpbsz --getiomin --getioopt --getra --getfra --getro"
            " --getdiscardzeroes --report"
        ),
        clusters=False,
        because="its other options set",
    ),
    "lspci": Reader(
        flags=words("-D -v -vv -vvv -n -nn -k -t -tv -m -mm -mmv -PP"),
        valued=words("-s -d"),
        operands=none,
        clusters=False,
    ),
}
"""Programs that look at a device."""
