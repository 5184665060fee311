"""What the tools of networks and fabrics can be asked without changing anything."""

from collections.abc import Mapping

from tailhound.requests.argv_operands import none, one
from tailhound.requests.argv_reader import Reader, verbs, words

_IP_VERBS = verbs(
    "link,link show,addr,addr show,address show,route,route show,route get,rule show,"
    "neigh,neigh show,netns list"
)
_SHOW = verbs("qdisc,qdisc show,class show,filter show")

NETWORK: Mapping[str, Reader] = {
    "ethtool": Reader(
        flags=words(
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
        flags=words(
            "-x --extended -X --xmtsl -S --rcvsl -D --xmtdisc -E --rcverr -T --extended_speeds"
            " -a --all_ports -l --loop_ports -e --errors -v --verbose"
        ),
        valued=words("-C --Ca -P --Port -t --timeout"),
        operands=none,
        because="-r and -R reset the counters; other ports than the host's own are not asked",
    ),
    "ibqueryerrors": Reader(
        flags=words("-c --suppress-common -r --report-port --data --switch --ca --details"),
        valued=words("-s --suppress -G --port-guid -C --Ca -P --Port -t --timeout"),
        operands=none,
        because="-k and -K clear the counters",
    ),
    "ibstat": Reader(flags=words("-l -s -p -v")),
    "ibstatus": Reader(),
    "ibv_devinfo": Reader(flags=words("-v -l"), valued=words("-d -i"), operands=none),
    "ibv_devices": Reader(operands=none),
    "rdma": Reader(
        flags=words("-j --json -p --pretty -d --details"),
        verbs=verbs(
            "statistic,statistic show,link,link show,dev,dev show,resource,resource show,"
            "system,system show"
        ),
        clusters=False,
        because="its other verbs set, bind, add or delete",
    ),
    "ip": Reader(
        flags=words("-j -json -p -pretty -s -stats -statistics -d -details -4 -6 -o -br -brief"),
        verbs=_IP_VERBS,
        clusters=False,
        because="its other verbs set, add, delete or flush, and `netns exec` runs a program",
    ),
    "tc": Reader(
        flags=words("-j -json -s -stats -d -p"),
        verbs=_SHOW,
        clusters=False,
        because="its other verbs change the queueing of the interface",
    ),
    "bridge": Reader(
        flags=words("-j -s -d"), verbs=verbs("link show,fdb show,vlan show"), clusters=False
    ),
    "ss": Reader(
        flags=words(
            "-H --no-header -t --tcp -u --udp -i --info -n --numeric -a --all -l --listening"
            " -e --extended -m --memory -s --summary -o --options -x --unix -4 --ipv4 -6 --ipv6"
            " -O --oneline"
        ),
        because="-K closes sockets, -D writes a file, -E never ends",
    ),
    "ping": Reader(
        flags=words("-n -q -4 -6 -D"),
        valued=words("-c -i -W -w -s -I -M"),
        operands=one,
        required=words("-c"),
        because="-f floods, and without -c it never ends",
    ),
    "mtr": Reader(
        flags=words("-n --no-dns --json -j -r --report -w --report-wide -4 -6 -b --show-ips"),
        valued=words("-c --report-cycles -i --interval -m --max-ttl"),
        operands=one,
        required=words("-c --report-cycles"),
        because="without -c it never ends",
    ),
    "conntrack": Reader(flags=words("-S -C"), operands=none, because="-D and -F delete"),
}
"""Programs that look at a network, an interface or a fabric."""
