"""What each tool can be asked without changing anything: its read-only options, verbs, operands.

A positive list. An option that is not named here is refused, so an option that a later version
of a tool brings, and a shortened long option (`dmesg --cle`), never slips through. Where the facts
come from: the tools' manual pages and their own `--help`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tailhound.requests.argv_operands import (
    counted,
    format_only,
    no_assignment,
    no_secrets,
    none,
    one,
    paths,
    pattern_and_paths,
)

Operands = Callable[[tuple[str, ...], frozenset[str]], str | None]
"""Why these operands are refused (beside these options); None = they are fine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """The ways to call one program that only read.

    `flags` stand alone, `valued` take a value (`-c 5`, `-c5`, `--count=5`). With `clusters` short
    options may be joined (`-Htin`). `verbs` are the first operands, one of which is needed.
    `required` are options of which one is needed, so that the call ends by itself. `subs` are
    sub-commands with options of their own; one of them, when given, is the first argument.
    """

    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    verbs: tuple[tuple[str, ...], ...] = ()
    operands: Operands | None = None
    required: frozenset[str] = frozenset()
    clusters: bool = True
    subs: Mapping[str, "Reader"] = field(default_factory=dict)
    because: str = "only its read-only options are allowed"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _verbs(words: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(verb.split()) for verb in words.split(","))


_NVME_VERBS = _verbs(
    "list,list-subsys,show-topology,smart-log,error-log,id-ctrl,id-ns,ana-log,fw-log,effects-log,"
    "self-test-log,endurance-log,get-feature,show-regs,version,ocp smart-add-log,"
    "ocp latency-monitor-log,intel smart-log-add,solidigm smart-log-add,wdc vs-smart-add-log,"
    "micron vs-smart-add-log,micron vs-smart-ext-log"
)
_NVME_VALUES = _set(
    "-o --output-format --output-format-version -n --namespace-id -e --log-entries "
    "-f --feature-id -s --sel -g --group-id"
)
_KUBECTL_VALUES = _set(
    "-n --namespace -o --output -l --selector --field-selector --since --since-time --tail "
    "-c --container --context --request-timeout --limit-bytes --sort-by"
)
_SYSTEMD_FLAGS = _set("--no-pager --full -l --all -a --quiet -q --plain --no-legend")
_IP_VERBS = _verbs(
    "link,link show,addr,addr show,address show,route,route show,route get,rule show,"
    "neigh,neigh show,netns list"
)
_SHOW = _verbs("qdisc,qdisc show,class show,filter show")

READERS: Mapping[str, Reader] = {
    "nvme": Reader(
        flags=_set("-v --verbose -H --human-readable --rae"),
        valued=_NVME_VALUES,
        verbs=_NVME_VERBS,
        because="many of its verbs write, format, reset, or clear what they read",
    ),
    "nvidia-smi": Reader(
        flags=_set("-q --query -x --xml-format -L --list-gpus --help-query-gpu"),
        valued=_set(
            "-d --display -i --id --format --query-gpu --query-compute-apps --query-apps"
            " --query-retired-pages --query-remapped-rows"
        ),
        operands=none,
        clusters=False,
        subs={
            "nvlink": Reader(flags=_set("-s -e"), valued=_set("-i"), operands=none),
            "topo": Reader(flags=_set("-m"), operands=none),
        },
        because="its other options reset, lock clocks, set power or modes, or repeat for ever",
    ),
    "dcgmi": Reader(
        verbs=_verbs("discovery,health,dmon,nvlink"),
        subs={
            "discovery": Reader(flags=_set("-l -c -v"), operands=none),
            "health": Reader(flags=_set("-c -j"), valued=_set("-g"), operands=none),
            "dmon": Reader(valued=_set("-e -c -d -i -g"), operands=none, required=_set("-c")),
            "nvlink": Reader(flags=_set("-e -s -j"), valued=_set("-g -i"), operands=none),
        },
        because="only discovery, health -c, dmon -c N and nvlink are read-only",
    ),
    "ethtool": Reader(
        flags=_set(
            "-S --statistics -i --driver -a --show-pause -k --show-features --show-offload"
            " -g --show-ring -c --show-coalesce -m --module-info --dump-module-eeprom --show-fec"
            " -T --show-time-stamping --json -l --show-channels --show-priv-flags --show-eee"
            " -P --show-permaddr -x --show-rxfh -n -u --show-nfc -I --include-statistics"
            " --phy-statistics"
        ),
        operands=one,
        clusters=False,
        because="its other options change, reset or test the interface",
    ),
    "perfquery": Reader(
        flags=_set(
            "-x --extended -X --xmtsl -S --rcvsl -D --xmtdisc -E --rcverr -T --extended_speeds"
            " -a --all_ports -l --loop_ports -e --errors -v --verbose"
        ),
        valued=_set("-C --Ca -P --Port -t --timeout"),
        operands=none,
        because="-r and -R reset the counters; other ports than the host's own are not asked",
    ),
    "ibqueryerrors": Reader(
        flags=_set("-c --suppress-common -r --report-port --data --switch --ca --details"),
        valued=_set("-s --suppress -G --port-guid -C --Ca -P --Port -t --timeout"),
        operands=none,
        because="-k and -K clear the counters",
    ),
    "ibstat": Reader(flags=_set("-l -s -p -v")),
    "ibstatus": Reader(),
    "ibv_devinfo": Reader(flags=_set("-v -l"), valued=_set("-d -i"), operands=none),
    "ibv_devices": Reader(operands=none),
    "rdma": Reader(
        flags=_set("-j --json -p --pretty -d --details"),
        verbs=_verbs(
            "statistic,statistic show,link,link show,dev,dev show,resource,resource show,"
            "system,system show"
        ),
        clusters=False,
        because="its other verbs set, bind, add or delete",
    ),
    "ip": Reader(
        flags=_set("-j -json -p -pretty -s -stats -statistics -d -details -4 -6 -o -br -brief"),
        verbs=_IP_VERBS,
        clusters=False,
        because="its other verbs set, add, delete or flush, and `netns exec` runs a program",
    ),
    "tc": Reader(
        flags=_set("-j -json -s -stats -d -p"),
        verbs=_SHOW,
        clusters=False,
        because="its other verbs change the queueing of the interface",
    ),
    "bridge": Reader(
        flags=_set("-j -s -d"), verbs=_verbs("link show,fdb show,vlan show"), clusters=False
    ),
    "ss": Reader(
        flags=_set(
            "-H --no-header -t --tcp -u --udp -i --info -n --numeric -a --all -l --listening"
            " -e --extended -m --memory -s --summary -o --options -x --unix -4 --ipv4 -6 --ipv6"
            " -O --oneline"
        ),
        because="-K closes sockets, -D writes a file, -E never ends",
    ),
    "ping": Reader(
        flags=_set("-n -q -4 -6 -D"),
        valued=_set("-c -i -W -w -s -I -M"),
        operands=one,
        required=_set("-c"),
        because="-f floods, and without -c it never ends",
    ),
    "mtr": Reader(
        flags=_set("-n --no-dns --json -j -r --report -w --report-wide -4 -6 -b --show-ips"),
        valued=_set("-c --report-cycles -i --interval -m --max-ttl"),
        operands=one,
        required=_set("-c --report-cycles"),
        because="without -c it never ends",
    ),
    "dmesg": Reader(
        flags=_set(
            "-T --ctime -k --kernel -x --decode -r --raw -J --json -P --nopager -S --syslog"
            " -t --notime -u --userspace --noescape"
        ),
        valued=_set("-l --level -f --facility --time-format --since --until"),
        operands=none,
        because="-c -C -D -E -n write, -w never ends",
    ),
    "journalctl": Reader(
        flags=_set("-k --dmesg --no-pager -q --quiet --utc -r --reverse -a --all"),
        valued=_set(
            "-o --output -u --unit -S --since -U --until -n --lines -p --priority -t --identifier"
            " -b --boot -g --grep"
        ),
        operands=none,
        because="-f never ends, --vacuum-*, --rotate and --flush write",
    ),
    "systemctl": Reader(
        flags=_SYSTEMD_FLAGS,
        valued=_set("-p --property -n --lines -o --output"),
        verbs=_verbs("is-active,is-failed,is-enabled,show,status"),
        because="only is-active, is-failed, is-enabled, show and status are read-only",
    ),
    "kubectl": Reader(
        flags=_set(
            "-A --all-namespaces --no-headers --show-labels --previous -p --timestamps"
            " --all-containers --prefix --ignore-not-found"
        ),
        valued=_KUBECTL_VALUES,
        verbs=_verbs("get,describe,logs,top"),
        operands=no_secrets,
        because="only get, describe, logs (not -f) and top are allowed",
    ),
    "crictl": Reader(
        flags=_set("-a --all -q --quiet"),
        valued=_set("-o --output --name --namespace --state"),
        verbs=_verbs("ps,pods,stats,info,version,images"),
        because="its other verbs run, stop or remove containers",
    ),
    "sysctl": Reader(
        flags=_set("-n --values -e --ignore -N --names"),
        operands=no_assignment,
        because="-w, -p, --system and name=value write",
    ),
    "smartctl": Reader(
        flags=_set("-a --all -x --xall -i --info -H --health -c --capabilities -A --attributes")
        | _set("-j --json -jc --json=c --scan --log=error --log=selftest --log=devstat"),
        valued=_set("-d --device -n --nocheck"),
        because="-t starts a self-test, -s and -o set features",
    ),
    "hdparm": Reader(flags=_set("-I -i -g"), clusters=False),
    "blockdev": Reader(
        flags=_set(
            "--getsize64 --getss --getpbsz --getiomin --getioopt --getra --getfra --getro"
            " --getdiscardzeroes --report"
        ),
        clusters=False,
        because="its other options set",
    ),
    "lspci": Reader(
        flags=_set("-D -v -vv -vvv -n -nn -k -t -tv -m -mm -mmv -PP"),
        valued=_set("-s -d"),
        operands=none,
        clusters=False,
    ),
    "numactl": Reader(
        flags=_set("-H --hardware -s --show"),
        operands=none,
        because="with a command it runs that command",
    ),
    "numastat": Reader(flags=_set("-c -m -n -v -z"), valued=_set("-p"), operands=none),
    "turbostat": Reader(
        flags=_set("--quiet -q --Summary -S"),
        valued=_set("--show -s --hide -n --num_iterations -i --interval"),
        operands=none,
        required=_set("-n --num_iterations"),
        clusters=False,
        because="with a command it runs that command, and without -n it never ends",
    ),
    "iostat": Reader(
        flags=_set("-x -d -c -k -m -t -y -z -N -h -s --compact --pretty"),
        valued=_set("-o -p -j"),
        operands=counted,
    ),
    "mpstat": Reader(flags=_set("-A -u -n"), valued=_set("-P -o -I -N"), operands=counted),
    "pidstat": Reader(
        flags=_set("-d -r -u -w -h -H -l -t -I -v"),
        valued=_set("-p -C -G"),
        operands=counted,
        because="-e runs another program",
    ),
    "vmstat": Reader(flags=_set("-n -w -a -d -D -m -s -t"), valued=_set("-S"), operands=counted),
    "cat": Reader(operands=paths),
    "head": Reader(valued=_set("-n -c --lines --bytes"), operands=paths),
    "tail": Reader(valued=_set("-n -c --lines --bytes"), operands=paths, because="-f never ends"),
    "grep": Reader(
        flags=_set("-H -h -s -r -E -F -i -v -c -l -L -n -w -x -o -a"),
        valued=_set("-m -A -B -C --include --exclude"),
        operands=pattern_and_paths,
    ),
    "ls": Reader(
        flags=_set("-1 -l -a -A -d -n -L -H -t -S -r --time-style=full-iso"), operands=paths
    ),
    "stat": Reader(flags=_set("-L -t -f"), valued=_set("-c --format"), operands=paths),
    "readlink": Reader(flags=_set("-f -e -m"), operands=paths),
    "find": Reader(
        flags=_set("-H -P -print"),
        valued=_set("-maxdepth -mindepth -name -type -path -mmin -mtime -newermt"),
        operands=paths,
        clusters=False,
        because="-exec runs a program, -delete and -fprint write",
    ),
    "df": Reader(
        flags=_set("-P -k -h -i -T -l -a"),
    ),
    "lsblk": Reader(flags=_set("-J -b -d -t -D -f -p -a"), valued=_set("-o"), clusters=True),
    "findmnt": Reader(flags=_set("-J -b -l -n"), valued=_set("-o -t"), operands=none),
    "lscpu": Reader(flags=_set("-J -e -p -b"), operands=none),
    "lsmod": Reader(operands=none),
    "modinfo": Reader(valued=_set("-F")),
    "uname": Reader(flags=_set("-a -r -s -n -m -v"), operands=none),
    "uptime": Reader(flags=_set("-p -s"), operands=none),
    "free": Reader(flags=_set("-b -k -m -w -t"), operands=none),
    "nproc": Reader(flags=_set("--all"), operands=none),
    "true": Reader(operands=none),
    "false": Reader(operands=none),
    "hostname": Reader(flags=_set("-f -s"), operands=none, because="a name sets it"),
    "date": Reader(
        flags=_set("-u --utc -R"),
        operands=format_only,
        because="-s sets the clock",
    ),
    "id": Reader(flags=_set("-u -g -n -G"), operands=none),
    "ps": Reader(flags=_set("-e -f -L -A -l"), valued=_set("-o -p --sort"), operands=none),
    "timedatectl": Reader(flags=_SYSTEMD_FLAGS, verbs=_verbs("show,status,timesync-status")),
    "chronyc": Reader(flags=_set("-n -c"), verbs=_verbs("tracking,sources,sourcestats,activity")),
    "conntrack": Reader(flags=_set("-S -C"), operands=none, because="-D and -F delete"),
}
"""Every tool with a reader's grammar here is held to it, whatever an allow-list says."""
