"""The outputs about fabrics and networks that can be read."""

from tailhound_collectors.parse import (
    ethtool,
    ib_counters,
    ib_ports,
    ib_query,
    net_path,
    sockets,
)
from tailhound_collectors.parse.tool import Tool

_HCA = "RDMA device"
_NIC = "network interface of this name"
_IB_DIAGS = "infiniband-diags"
_SYSFS = 'grep -rsH "" /sys/class/infiniband/DEVICE/ports/1/'

_RDMA = (
    Tool("ibstat", "ibstat", ib_ports.RdmaPorts, ib_ports.ibstat, _IB_DIAGS, needs=_HCA),
    Tool("ibstatus", "ibstatus", ib_ports.RdmaPorts, ib_ports.ibstatus, _IB_DIAGS, needs=_HCA),
    Tool(
        "ibv-devinfo",
        "ibv_devinfo -v",
        ib_ports.RdmaPorts,
        ib_ports.ibv_devinfo,
        "ibverbs-utils",
        needs=_HCA,
        also=("ibv_devinfo",),
    ),
    Tool(
        "rdma-link",
        "rdma -j link show",
        ib_ports.RdmaPorts,
        ib_ports.rdma_link,
        "iproute2",
        needs=_HCA,
    ),
    Tool(
        "rdma-statistic",
        "rdma -j statistic show link",
        ib_counters.RdmaCounters,
        ib_counters.rdma_statistic,
        "iproute2",
        needs=_HCA,
    ),
    Tool(
        "ib-counters",
        _SYSFS + "counters",
        ib_counters.RdmaCounters,
        ib_counters.sysfs_counters,
        needs=_HCA,
    ),
    Tool(
        "ib-hw-counters",
        _SYSFS + "hw_counters",
        ib_counters.RdmaCounters,
        ib_counters.sysfs_counters,
        needs=_HCA,
    ),
    Tool(
        "perfquery",
        "perfquery -x",
        ib_counters.RdmaCounters,
        ib_query.perfquery,
        _IB_DIAGS,
        needs="InfiniBand port that answers",
    ),
    Tool(
        "ibqueryerrors",
        "ibqueryerrors -c",
        ib_counters.RdmaCounters,
        ib_query.query_errors,
        _IB_DIAGS,
        needs="InfiniBand port that answers",
    ),
)

_NETWORK = (
    Tool("ethtool", "ethtool INTERFACE", ethtool.NicLink, ethtool.link, "ethtool", needs=_NIC),
    Tool(
        "ethtool-s",
        "ethtool -S INTERFACE",
        ethtool.NicStatistics,
        ethtool.statistics,
        "ethtool",
        needs=_NIC,
        also=("ethtool-statistics",),
    ),
    Tool("ss", "ss -Htin dst ADDRESS", sockets.Sockets, sockets.sockets, "iproute2"),
    Tool(
        "softnet",
        "cat /proc/net/softnet_stat",
        sockets.Softnet,
        sockets.softnet,
        also=("softnet-stat",),
    ),
    Tool("ping", "ping -n -c 5 -i 0.2 -W 1 ADDRESS", net_path.Ping, net_path.ping, "iputils-ping"),
    Tool("mtr", "mtr --json -n -c 5 ADDRESS", net_path.Route, net_path.mtr, "mtr-tiny"),
)
NETWORK: tuple[Tool, ...] = (*_RDMA, *_NETWORK)
"""In the order of the documentation."""
