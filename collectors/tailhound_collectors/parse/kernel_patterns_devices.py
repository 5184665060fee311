"""Lines of the kernel log about buses, networks, GPUs and CPUs.

Each pattern stands under a line that it matches. The source file named is Linux's unless it says
otherwise.
"""

from tailhound_collectors.parse.kernel_pattern import BDF, pattern

PCI = (
    # pcieport 0000:00:1d.0: AER: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Rec...
    # nvme 0000:03:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction L...
    #   drivers/pci/pcie/aer.c, aer_print_error()
    pattern(
        "aer",
        "PCIe Bus Error",
        rf"(?P<driver>[\w-]{{1,32}}) {BDF}: (?:AER: )?PCIe Bus Error: "
        r"severity=(?P<severity>[\w -]{1,24}(?:\([\w -]{1,20}\))?), type=(?P<layer>[\w ]{1,40}),",
    ),
    # pcieport 0000:00:1d.0: AER: device [8086:a330] error status/mask=00000001/00002000
    #   drivers/pci/pcie/aer.c, aer_print_error()
    pattern(
        "aer_status",
        "error status/mask",
        rf"[\w-]{{1,32}} {BDF}: (?:AER: )?\s{{0,4}}device \[[0-9a-f:]{{9}}\] error "
        r"status/mask=(?P<status>[0-9a-f]{8})/",
    ),
    # pcieport 0000:00:1d.0: AER: [ 0] RxErr
    #   drivers/pci/pcie/aer.c, __aer_print_error()
    pattern(
        "aer_bit",
        "] ",
        rf"[\w-]{{1,32}} {BDF}: (?:AER: )?\s{{0,4}}\[ ?\d{{1,2}}\] (?P<name>[A-Za-z]{{2,20}})",
    ),
    # pcieport 0000:00:1d.0: AER: Multiple Corrected error received: 0000:03:00.0
    # pcieport 0000:00:1c.4: AER: Correctable error message received from 0000:07:00.0
    #   drivers/pci/pcie/aer.c, aer_print_port_info()
    pattern(
        "aer_received",
        "received",
        rf"[\w-]{{1,32}} {BDF}: AER: (?P<multiple>Multiple )?(?:Correct|Uncorrect)\w{{2,6}}"
        r"(?: \([\w-]{1,12}\))? error (?:message )?received(?: from|:) "
        r"(?P<source>[0-9a-f:.]{7,16})",
    ),
    # pci 0000:01:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at
    #   0000:00:00.0 (capable of 63.012 Gb/s with 16.0 GT/s PCIe x4 link)
    #   drivers/pci/pci.c, __pcie_print_link_status()
    pattern(
        "pcie_bandwidth",
        "available PCIe bandwidth",
        rf"(?P<driver>[\w-]{{1,32}}) {BDF}: (?P<available>\d{{1,5}}\.\d{{3}}) Gb/s available PCIe"
        r" bandwidth, limited by (?P<speed>[\d.]{1,5}) GT/s PCIe x(?P<width>\d{1,2}) link at"
        r" (?P<source>[0-9a-f:.]{7,16}) \(capable of (?P<capable>\d{1,5}\.\d{3}) Gb/s with"
        r" (?P<capable_speed>[\d.]{1,5}) GT/s PCIe x(?P<capable_width>\d{1,2}) link\)",
    ),
)

NETWORK = (
    # mlx5_core 0000:05:00.0: mlx5_cmd_out_err:835:(pid 18360): ACCESS_REG(0x805) op_mod(0x1)
    #   failed, status bad operation(0x2), syndrome (0x9a6171), err(-22)
    #   drivers/net/ethernet/mellanox/mlx5/core/cmd.c, mlx5_cmd_out_err() or mlx5_cmd_check()
    #   Reading counters of a function that the fabric manager owns does this; it is no fault.
    pattern(
        "mlx5_access_reg_failed",
        "ACCESS_REG",
        rf"(?P<driver>mlx5_core) {BDF}: mlx5_cmd_(?:out_err|check):\d{{1,6}}:\(pid"
        r" (?P<pid>\d{1,10})\): ACCESS_REG\(0x805\) .{1,40} failed,"
        r" status (?P<status>[\w ]{1,40})\(",
        actionable=False,
    ),
    pattern(
        "mlx5_command_failed",
        "mlx5_cmd_",
        rf"(?P<driver>mlx5_core) {BDF}: mlx5_cmd_(?:out_err|check):\d{{1,6}}:\(pid"
        r" (?P<pid>\d{1,10})\): (?P<name>[A-Z0-9_]{1,60})\(0x[0-9a-f]{1,4}\) .{1,40} failed,"
        r" status (?P<status>[\w ]{1,40})\(",
    ),
    # mlx5_core 0000:65:00.0 ens5f0np0: Link down
    #   drivers/net/ethernet/mellanox/mlx5/core/en_main.c, mlx5e_update_carrier()
    pattern(
        "link_down",
        "Link down",
        rf"(?P<driver>mlx5_core) {BDF} (?P<device>[\w.@-]{{1,20}}): Link down",
    ),
    pattern(
        "link_up",
        "Link up",
        rf"(?P<driver>mlx5_core) {BDF} (?P<device>[\w.@-]{{1,20}}): Link up",
        actionable=False,
    ),
    # mlx5_core 0000:65:00.0: Port module event[error]: module 0, Cable error, High Temperature
    #   drivers/net/ethernet/mellanox/mlx5/core/events.c, port_module()
    pattern(
        "mlx5_module_error",
        "Port module event[error]",
        rf"(?P<driver>mlx5_core) {BDF}: Port module event\[error\]: module \d{{1,4}}, Cable error,"
        r" (?P<name>[\w /]{1,60})",
    ),
    # mlx5_core 0000:65:00.0: poll_health:800:(pid 0): device's health compromised - reached mi...
    #   drivers/net/ethernet/mellanox/mlx5/core/health.c, poll_health()
    pattern(
        "mlx5_health",
        "health compromised",
        rf"(?P<driver>mlx5_core) {BDF}: .{{1,60}}device's health compromised",
    ),
    # NETDEV WATCHDOG: ens5 (mlx5_core): transmit queue 3 timed out
    # mlx5_core 0000:65:00.0 ens5: NETDEV WATCHDOG: CPU: 12: transmit queue 3 timed out 5004 ms
    #   net/sched/sch_generic.c, dev_watchdog()
    pattern(
        "transmit_timeout",
        "NETDEV WATCHDOG",
        r"NETDEV WATCHDOG: (?P<device>[\w.@-]{1,20}) \((?P<driver>[\w-]{1,32})\): transmit queue"
        r" (?P<queue>\d{1,5}) timed out",
    ),
    pattern(
        "transmit_timeout",
        "NETDEV WATCHDOG",
        r"(?P<device>[\w.@-]{1,20}): NETDEV WATCHDOG: CPU: \d{1,5}: transmit queue"
        r" (?P<queue>\d{1,5}) timed out",
    ),
    # nf_conntrack: nf_conntrack: table full, dropping packet
    #   net/netfilter/nf_conntrack_core.c, __nf_conntrack_alloc()
    pattern("conntrack_full", "table full, dropping packet", r"nf_conntrack: table full"),
)

GPU = (
    # NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s of waiting for
    #   RPC response from GPU4 GSP! Expected function 103 (GSP_RM_ALLOC) (0x2081 0x4).
    # NVRM: Xid (PCI:0000:38:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp Exce...
    # NVRM: Xid (PCI:0000:38:00 GPU-I:05 GPU-CI:00): 94, pid=77, name=python3, Contained: ...
    #   NVIDIA/open-gpu-kernel-modules: src/nvidia/src/kernel/gpu/rc/kernel_rc.c
    pattern(
        "xid",
        "Xid",
        rf"NVRM: Xid \((?:PCI:)?{BDF}(?: GPU-C?I:\d{{1,3}}){{0,2}}\): (?P<xid>\d{{1,4}})"
        r"(?:, pid='?(?P<pid>[^,']{1,20})'?"
        r"(?:, name=(?P<process>[^,]{1,64}))?)?, (?P<text>.{0,400})$",
    ),
    # NVRM: GPU 0000:09:00.0: GPU has fallen off the bus.
    # NVRM: GPU at PCI:0000:09:00: GPU has fallen off the bus.
    # NVRM: The NVIDIA GPU 0000:c9:00.0
    # NVRM: (PCI ID: 10de:2330) installed in this system has
    # NVRM: fallen off the bus and is not responding to commands.
    #   NVIDIA/open-gpu-kernel-modules: src/nvidia/arch/nvalloc/unix/src/osapi.c and osinit.c
    pattern("gpu_fell_off_bus", "fallen off the bus", r"NVRM: .{0,120}fallen off the bus"),
)

CPU = (
    # CPU3: Package temperature is above threshold, cpu clock is throttled (total events = 1234)
    # mce: CPU3: Core temperature above threshold, cpu clock throttled (total events = 1)
    #   drivers/thermal/intel/therm_throt.c, therm_throt_process()
    pattern(
        "cpu_thermal_throttle",
        "above threshold, cpu clock",
        r"CPU(?P<cpu>\d{1,5}): (?:Package|Core) temperature (?:is )?above threshold, cpu clock",
    ),
    # INFO: task vllm:12345 blocked for more than 120 seconds.
    #   kernel/hung_task.c, check_hung_task()
    pattern(
        "hung_task",
        "blocked for more than",
        r"INFO: task (?P<process>.{1,32}?):(?P<pid>\d{1,10}) blocked for more than"
        r" (?P<seconds>\d{1,6}) seconds",
    ),
    # watchdog: BUG: soft lockup - CPU#7 stuck for 22s! [python3:4242]
    #   kernel/watchdog.c, watchdog_timer_fn()
    pattern(
        "soft_lockup",
        "soft lockup",
        r"BUG: soft lockup - CPU#(?P<cpu>\d{1,5}) stuck for (?P<seconds>\d{1,6})s!",
    ),
    # Out of memory: Killed process 4242 (python3) total-vm:...
    # Memory cgroup out of memory: Killed process 4242 (python3) total-vm:...
    #   mm/oom_kill.c, __oom_kill_process()
    pattern(
        "oom_kill",
        "Killed process",
        r"(?P<text>Out of memory|Memory cgroup out of memory): Killed process (?P<pid>\d{1,10})"
        r" \((?P<process>[^)]{1,32})\)",
    ),
)
