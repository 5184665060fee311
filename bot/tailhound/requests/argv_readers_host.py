"""What the tools of the host itself can be asked without changing anything."""

from collections.abc import Mapping

from tailhound.requests.argv_operands import (
    counted,
    format_only,
    no_assignment,
    no_secrets,
    none,
    paths,
    pattern_and_paths,
)
from tailhound.requests.argv_reader import Reader, verbs, words

_KUBECTL_VALUES = words(
    "-n --namespace -o --output -l --selector --field-selector --since --since-time --tail "
    "-c --container --context --request-timeout --limit-bytes --sort-by"
)
_SYSTEMD_FLAGS = words("--no-pager --full -l --all -a --quiet -q --plain --no-legend")

HOST: Mapping[str, Reader] = {
    "dmesg": Reader(
        flags=words(
            "-T --ctime -k --kernel -x --decode -r --raw -J --json -P --nopager -S --syslog"
            " -t --notime -u --userspace --noescape"
        ),
        valued=words("-l --level -f --facility --time-format --since --until"),
        operands=none,
        because="-c -C -D -E -n write, -w never ends",
    ),
    "journalctl": Reader(
        flags=words("-k --dmesg --no-pager -q --quiet --utc -r --reverse -a --all"),
        valued=words(
            "-o --output -u --unit -S --since -U --until -n --lines -p --priority -t --identifier"
            " -b --boot -g --grep"
        ),
        operands=none,
        because="-f never ends, --vacuum-*, --rotate and --flush write",
    ),
    "systemctl": Reader(
        flags=_SYSTEMD_FLAGS,
        valued=words("-p --property -n --lines -o --output"),
        verbs=verbs("is-active,is-failed,is-enabled,show,status"),
        because="only is-active, is-failed, is-enabled, show and status are read-only",
    ),
    "kubectl": Reader(
        flags=words(
            "-A --all-namespaces --no-headers --show-labels --previous -p --timestamps"
            " --all-containers --prefix --ignore-not-found"
        ),
        valued=_KUBECTL_VALUES,
        verbs=verbs("get,describe,logs,top"),
        operands=no_secrets,
        because="only get, describe, logs (not -f) and top are allowed",
    ),
    "crictl": Reader(
        flags=words("-a --all -q --quiet"),
        valued=words("-o --output --name --namespace --state"),
        verbs=verbs("ps,pods,stats,info,version,images"),
        because="its other verbs run, stop or remove containers",
    ),
    "sysctl": Reader(
        flags=words("-n --values -e --ignore -N --names"),
        operands=no_assignment,
        because="-w, -p, --system and name=value write",
    ),
    "numactl": Reader(
        flags=words("-H --hardware -s --show"),
        operands=none,
        because="with a command it runs that command",
    ),
    "numastat": Reader(flags=words("-c -m -n -v -z"), valued=words("-p"), operands=none),
    "turbostat": Reader(
        flags=words("--quiet -q --Summary -S"),
        valued=words("--show -s --hide -n --num_iterations -i --interval"),
        operands=none,
        required=words("-n --num_iterations"),
        clusters=False,
        because="with a command it runs that command, and without -n it never ends",
    ),
    "iostat": Reader(
        flags=words("-x -d -c -k -m -t -y -z -N -h -s --compact --pretty"),
        valued=words("-o -p -j"),
        operands=counted,
    ),
    "mpstat": Reader(flags=words("-A -u -n"), valued=words("-P -o -I -N"), operands=counted),
    "pidstat": Reader(
        flags=words("-d -r -u -w -h -H -l -t -I -v"),
        valued=words("-p -C -G"),
        operands=counted,
        because="-e runs another program",
    ),
    "vmstat": Reader(flags=words("-n -w -a -d -D -m -s -t"), valued=words("-S"), operands=counted),
    "cat": Reader(operands=paths),
    "head": Reader(valued=words("-n -c --lines --bytes"), operands=paths),
    "tail": Reader(valued=words("-n -c --lines --bytes"), operands=paths, because="-f never ends"),
    "grep": Reader(
        flags=words("-H -h -s -r -E -F -i -v -c -l -L -n -w -x -o -a"),
        valued=words("-m -A -B -C --include --exclude"),
        operands=pattern_and_paths,
    ),
    "ls": Reader(
        flags=words("-1 -l -a -A -d -n -L -H -t -S -r --time-style=full-iso"), operands=paths
    ),
    "stat": Reader(flags=words("-L -t -f"), valued=words("-c --format"), operands=paths),
    "readlink": Reader(flags=words("-f -e -m"), operands=paths),
    "find": Reader(
        flags=words("-H -P -print"),
        valued=words("-maxdepth -mindepth -name -type -path -mmin -mtime -newermt"),
        operands=paths,
        clusters=False,
        because="-exec runs a program, -delete and -fprint write",
    ),
    "df": Reader(
        flags=words("-P -k -h -i -T -l -a"),
    ),
    "lsblk": Reader(flags=words("-J -b -d -t -D -f -p -a"), valued=words("-o"), clusters=True),
    "findmnt": Reader(flags=words("-J -b -l -n"), valued=words("-o -t"), operands=none),
    "lscpu": Reader(flags=words("-J -e -p -b"), operands=none),
    "lsmod": Reader(operands=none),
    "modinfo": Reader(valued=words("-F")),
    "uname": Reader(flags=words("-a -r -s -n -m -v"), operands=none),
    "uptime": Reader(flags=words("-p -s"), operands=none),
    "free": Reader(flags=words("-b -k -m -w -t"), operands=none),
    "nproc": Reader(flags=words("--all"), operands=none),
    "true": Reader(operands=none),
    "false": Reader(operands=none),
    "hostname": Reader(flags=words("-f -s"), operands=none, because="a name sets it"),
    "date": Reader(
        flags=words("-u --utc -R"),
        operands=format_only,
        because="-s sets the clock",
    ),
    "id": Reader(flags=words("-u -g -n -G"), operands=none),
    "ps": Reader(flags=words("-e -f -L -A -l"), valued=words("-o -p --sort"), operands=none),
    "timedatectl": Reader(flags=_SYSTEMD_FLAGS, verbs=verbs("show,status,timesync-status")),
    "chronyc": Reader(flags=words("-n -c"), verbs=verbs("tracking,sources,sourcestats,activity")),
}
"""Programs that look at the host: its logs, processes, files, CPUs and memory."""
