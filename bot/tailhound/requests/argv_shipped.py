"""The commands that are allowed unless a site says otherwise, all of them read-only.

A command that begins with an absolute path runs as root, and has its line in
`deploy/host/tailhound.sudoers`.
"""

import itertools

_GPU_STATE = "--query-gpu=<fields>"
_CSV = "--format=csv,noheader,nounits"

_RDMA = (
    ("ibstat",),
    ("ibstatus",),
    ("ibv_devinfo", "-v"),
    ("rdma", "-j", "link", "show"),
    ("rdma", "-j", "dev", "show"),
    ("rdma", "-j", "statistic", "show", "link"),
    ("rdma", "-j", "resource", "show"),
    ("ls", "/sys/class/infiniband"),
    ("ls", "/sys/class/infiniband/<rdma-device>/ports"),
    ("cat", "<path:/sys/class/infiniband/>"),
    ("grep", "-rsH", "", "/sys/class/infiniband/<rdma-device>/ports/<int>/counters"),
    ("grep", "-rsH", "", "/sys/class/infiniband/<rdma-device>/ports/<int>/hw_counters"),
    ("/usr/sbin/perfquery", "-x"),
)

_NET = (
    ("ethtool", "<netdev>"),
    *(
        ("ethtool", option, "<netdev>")
        for option in ("-S", "-i", "-a", "-k", "-g", "-c", "--show-fec", "-T", "-l")
    ),
    ("/usr/sbin/ethtool", "-m", "<netdev>"),
    ("ip", "-j", "-s", "link", "show"),
    ("ip", "-j", "addr", "show"),
    ("tc", "-s", "qdisc", "show"),
    ("ss", "-s"),
    ("ss", "-Htin"),
    ("ss", "-Htin", "dst", "<address>"),
    ("ping", "-n", "-c", "5", "-i", "0.2", "-W", "1", "<address>"),
    ("mtr", "--json", "-n", "-c", "5", "<address>"),
    ("ls", "/sys/class/net"),
    ("cat", "<path:/sys/class/net/>"),
)

_DISK = (
    ("iostat", "-o", "JSON", "-x", "-d", "-c", "<int>", "<int>"),
    ("iostat", "-o", "JSON", "-x", "-d", "<int>", "<int>"),
    ("iostat", "-x", "-d", "-k", "<int>", "<int>"),
    ("lsblk", "-J", "-b"),
    ("findmnt", "-J", "-b"),
    ("df", "-P", "-k"),
    ("ls", "/sys/block"),
    ("ls", "/sys/class/nvme"),
    ("cat", "<path:/sys/block/>"),
    ("cat", "<path:/sys/class/nvme/>"),
    ("cat", "<path:/sys/class/block/>"),
)

_NVME_READS = (
    ("smart-log",),
    ("id-ctrl",),
    ("id-ns",),
    ("ana-log",),
    ("fw-log",),
    ("effects-log",),
    ("self-test-log",),
    ("endurance-log",),
    ("ocp", "smart-add-log"),
    ("ocp", "latency-monitor-log"),
    ("intel", "smart-log-add"),
    ("solidigm", "smart-log-add"),
    ("wdc", "vs-smart-add-log"),
    ("micron", "vs-smart-add-log"),
)

_NVME = (
    ("/usr/sbin/nvme", "list", "-o", "json"),
    ("/usr/sbin/nvme", "list", "-v", "-o", "json"),
    ("/usr/sbin/nvme", "list-subsys", "-o", "json"),
    *(("/usr/sbin/nvme", *verb, "-o", "json", "<nvme>") for verb in _NVME_READS),
    ("/usr/sbin/nvme", "error-log", "-e", "<int>", "-o", "json", "<nvme>"),
    *(
        ("/usr/sbin/nvme", "get-feature", "-f", feature, "-H", "<nvme>")
        for feature in ("2", "4", "7", "0x10")
    ),
    ("/usr/sbin/nvme", "show-regs", "<nvme>"),
    ("/usr/sbin/smartctl", "--json", "-a", "<device>"),
    ("/usr/sbin/smartctl", "--json", "-a", "<nvme>"),
)

_CPU = (
    ("mpstat", "-P", "ALL", "-o", "JSON", "<int>", "<int>"),
    ("mpstat", "-P", "ALL", "<int>", "<int>"),
    ("vmstat", "-n", "-w", "<int>", "<int>"),
    ("numactl", "-H"),
    ("lscpu", "-J"),
    ("uname", "-r"),
    ("uname", "-a"),
    ("uptime",),
    ("true",),
    ("grep", "-rsH", "--include=scaling_cur_freq", "", "/sys/devices/system/cpu/cpufreq"),
    ("grep", "-rsH", "--include=*_throttle_count", "", "/sys/devices/system/cpu"),
    ("grep", "-rsH", "--include=numastat", "", "/sys/devices/system/node"),
    ("cat", "<path:/sys/devices/system/cpu/>"),
    ("cat", "<path:/sys/devices/system/node/>"),
    ("cat", "<path:/sys/fs/cgroup/>"),
    *(
        (
            turbostat,
            "--quiet",
            "--show",
            "Core,CPU,Busy%,Bzy_MHz,PkgTmp",
            "-n",
            "1",
            "-i",
            "2",
        )
        for turbostat in ("/usr/sbin/turbostat", "/usr/bin/turbostat")
    ),
)

_PCI = (
    ("lspci", "-D", "-nn"),
    ("lspci", "-D", "-vv", "-s", "<pci>"),
    ("/usr/bin/lspci", "-D", "-vv", "-s", "<pci>"),
    ("ls", "/sys/bus/pci/devices"),
    ("cat", "<path:/sys/bus/pci/devices/>"),
)

_GPU = (
    ("nvidia-smi", "-L"),
    ("nvidia-smi", "-q"),
    ("nvidia-smi", "-q", "-x"),
    ("nvidia-smi", "--help-query-gpu"),
    ("nvidia-smi", "nvlink", "-s"),
    ("nvidia-smi", "nvlink", "-e"),
    ("nvidia-smi", "topo", "-m"),
    ("nvidia-smi", _GPU_STATE, _CSV),
    ("nvidia-smi", _GPU_STATE, "--format=csv,nounits"),
    ("nvidia-smi", "--query-compute-apps=<fields>", _CSV),
    *(
        ("nvidia-smi", "-q", "-d", part)
        for part in ("PERFORMANCE", "CLOCK", "ECC", "TEMPERATURE", "POWER", "ROW_REMAPPER")
    ),
    ("dcgmi", "discovery", "-l"),
    ("dcgmi", "health", "-g", "0", "-c"),
    ("dcgmi", "dmon", "-e", "<ints>", "-c", "<int>"),
    ("dcgmi", "nvlink", "-e"),
)

_LEVELS = "--level=emerg,alert,crit,err,warn"
_KERNEL_LOG = (
    *itertools.chain.from_iterable(
        (
            (dmesg, "--time-format=iso", _LEVELS),
            (dmesg, "--time-format=iso"),
            (dmesg, "-T", _LEVELS),
            (dmesg, "-T"),
        )
        for dmesg in ("dmesg", "/usr/bin/dmesg")
    ),
    *(
        (journalctl, "-k", "-o", "short-iso-precise", "--no-pager", "--since", "-30min")
        for journalctl in ("journalctl", "/usr/bin/journalctl")
    ),
)

_PROC = tuple(
    ("cat", f"/proc/{path}")
    for path in (
        "buddyinfo",
        "cmdline",
        "cpuinfo",
        "diskstats",
        "interrupts",
        "loadavg",
        "meminfo",
        "mounts",
        "net/dev",
        "net/netstat",
        "net/snmp",
        "net/sockstat",
        "net/softnet_stat",
        "pressure/cpu",
        "pressure/io",
        "pressure/memory",
        "stat",
        "swaps",
        "sys/kernel/random/boot_id",
        "sys/net/netfilter/nf_conntrack_count",
        "sys/net/netfilter/nf_conntrack_max",
        "uptime",
        "version",
        "vmstat",
        "zoneinfo",
    )
)

COMMANDS: tuple[tuple[str, ...], ...] = (
    *_CPU,
    *_PROC,
    *_DISK,
    *_NVME,
    *_NET,
    *_RDMA,
    *_PCI,
    *_GPU,
    *_KERNEL_LOG,
    ("cat", "/etc/os-release"),
    ("cat", "/etc/resolv.conf"),
)
"""Each an argv whose arguments are literals or hold typed holes (`argv_holes`)."""
