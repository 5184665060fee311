"""The outputs about drives that can be read."""

from tailhound_collectors.parse import (
    biolatency,
    diskstats,
    fio,
    iostat,
    nvme_identify,
    nvme_intel,
    nvme_list,
    nvme_logs,
    nvme_smart,
    smartctl,
)
from tailhound_collectors.parse.tool import Tool

_DRIVE = "NVMe drive of this name"

_NVME = (
    Tool(
        "nvme-list",
        "nvme list -o json",
        nvme_list.NvmeList,
        nvme_list.nvme_list,
        "nvme-cli",
        needs="NVMe drive",
    ),
    Tool(
        "nvme-smart-log",
        "nvme smart-log -o json DEVICE",
        nvme_smart.SmartLog,
        nvme_smart.smart_log,
        "nvme-cli",
        needs=_DRIVE,
    ),
    Tool(
        "nvme-error-log",
        "nvme error-log -e 64 -o json DEVICE",
        nvme_logs.ErrorLog,
        nvme_logs.error_log,
        "nvme-cli",
        needs=_DRIVE,
    ),
    Tool(
        "nvme-id-ctrl",
        "nvme id-ctrl -o json DEVICE",
        nvme_identify.Controller,
        nvme_identify.id_controller,
        "nvme-cli",
        needs=_DRIVE,
    ),
    Tool(
        "nvme-id-ns",
        "nvme id-ns -o json DEVICE",
        nvme_identify.NamespaceIdentity,
        nvme_identify.id_namespace,
        "nvme-cli",
        needs=_DRIVE,
    ),
    Tool(
        "nvme-list-subsys",
        "nvme list-subsys -o json",
        nvme_logs.Subsystems,
        nvme_logs.list_subsystems,
        "nvme-cli",
        needs="NVMe subsystem",
    ),
    Tool(
        "nvme-ana-log",
        "nvme ana-log -o json DEVICE",
        nvme_logs.AnaLog,
        nvme_logs.ana_log,
        "nvme-cli",
        needs=_DRIVE,
    ),
    Tool(
        "nvme-intel-lat-stats",
        "nvme intel lat-stats DEVICE",
        nvme_intel.LatencyStats,
        nvme_intel.latency_stats,
        "nvme-cli",
        needs=_DRIVE,
    ),
    Tool(
        "nvme-intel-smart-log-add",
        "nvme intel smart-log-add DEVICE",
        nvme_intel.IntelSmart,
        nvme_intel.smart_log_add,
        "nvme-cli",
        needs=_DRIVE,
    ),
    Tool(
        "smartctl",
        "smartctl --json -a DEVICE",
        smartctl.SmartCtl,
        smartctl.smartctl,
        "smartmontools",
        needs="drive of this name",
    ),
)

_DISK = (
    Tool(
        "iostat",
        "iostat -o JSON -x -d -c 1 2",
        iostat.IoStat,
        iostat.iostat,
        "sysstat",
        also=("iostat-json",),
    ),
    Tool("diskstats", "cat /proc/diskstats", diskstats.DiskStats, diskstats.diskstats),
    Tool(
        "biolatency",
        "biolatency -T -F 1 1",
        biolatency.BlockLatency,
        biolatency.biolatency,
        "bpfcc-tools",
    ),
    Tool("fio", "fio --output-format=json JOB", fio.Fio, fio.fio, "fio"),
)
DRIVES: tuple[Tool, ...] = (*_NVME, *_DISK)
"""In the order of the documentation."""
