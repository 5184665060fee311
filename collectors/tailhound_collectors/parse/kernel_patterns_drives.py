"""Lines of the kernel log about drives: NVMe, and NVMe over fabrics.

Each pattern stands under a line that it matches. The source file named is Linux's unless it says
otherwise.
"""

from tailhound_collectors.parse.kernel_pattern import pattern

_NVME = r"nvme (?P<device>nvme\d{1,5}): "
_IO = r"I/O (?:tag )?(?P<tag>\d{1,6}) .{0,60}?QID (?P<queue>\d{1,5}) timeout, "

NVME = (
    # nvme nvme0: I/O 897 QID 2 timeout, completion polled
    #   drivers/nvme/host/pci.c, nvme_timeout(): a lost interrupt; the drive had answered
    pattern("nvme_timeout_polled", "completion polled", _NVME + _IO + "completion polled"),
    # nvme nvme1: I/O 775 QID 2 timeout, aborting
    # nvme nvme4: I/O tag 22 (1016) opcode 0x2 (Read) QID 3 timeout, aborting req_op:READ(0) ...
    #   drivers/nvme/host/pci.c, nvme_timeout()
    pattern("nvme_timeout_abort", "timeout, aborting", _NVME + _IO + "aborting"),
    # nvme nvme1: I/O 8 QID 0 timeout, reset controller
    # nvme nvme1: I/O 12 QID 0 timeout, disable controller
    #   drivers/nvme/host/pci.c, nvme_timeout()
    pattern("nvme_timeout_reset", "controller", _NVME + _IO + "(?:reset|disable) controller"),
    # nvme nvme1: Abort status: 0x6
    #   drivers/nvme/host/pci.c, abort_endio()
    pattern(
        "nvme_abort_status", "Abort status", _NVME + r"Abort status: (?P<status>0x[0-9a-f]{1,4})"
    ),
    # nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10
    #   drivers/nvme/host/pci.c, nvme_warn_reset()
    pattern(
        "nvme_controller_down",
        "controller is down",
        _NVME + r"controller is down; will reset: CSTS=(?P<status>0x[0-9a-f]{1,8})",
    ),
    # nvme nvme0: Device not ready; aborting reset, CSTS=0x1
    #   drivers/nvme/host/core.c, nvme_wait_ready()
    pattern(
        "nvme_not_ready",
        "Device not ready",
        _NVME + r"Device not ready; aborting \w{1,20}(?:, CSTS=(?P<status>0x[0-9a-f]{1,8}))?",
    ),
    # nvme nvme0: Removing after probe failure status: -19
    # nvme nvme0: Disabling device after reset failure: -19
    #   drivers/nvme/host/pci.c, nvme_remove_dead_ctrl(), nvme_reset_work()
    pattern(
        "nvme_removed",
        "failure",
        _NVME + r"(?:Removing after probe|Disabling device after reset) failure",
    ),
    # nvme0n1: I/O Cmd(0x2) @ LBA 2048, 1 blocks, I/O Error (sct 0x2 / sc 0x81)
    # nvme0n1: Read(0x2) @ LBA 1024, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR
    #   drivers/nvme/host/core.c, nvme_log_error()
    pattern(
        "nvme_io_error",
        "@ LBA",
        r"^(?P<device>nvme\d{1,5}(?:c\d{1,5})?n\d{1,5}): [\w /-]{1,40}\(0x[0-9a-f]{1,2}\) @ LBA"
        r" (?P<lba>\d{1,20}), \d{1,10} blocks, .{1,80}? \(sct (?P<status>0x[0-9a-f] / sc"
        r" 0x[0-9a-f]{1,2})\)",
    ),
    # critical medium error, dev nvme0n1, sector 2048 op 0x0:(READ) flags 0x800 phys_seg 1
    # blk_update_request: I/O error, dev sda, sector 1234 op 0x0:(READ)
    #   block/blk-mq.c, blk_print_req_error()
    pattern(
        "medium_error",
        "critical medium error",
        r"critical medium error, dev (?P<device>\w{1,32}), sector (?P<lba>\d{1,20})",
    ),
    pattern(
        "block_io_error",
        "I/O error, dev",
        r"I/O error, dev (?P<device>\w{1,32}), sector (?P<lba>\d{1,20})",
    ),
)

FABRICS = (
    # nvme nvme0: queue 0: timeout request 0x1 type 4
    #   drivers/nvme/host/tcp.c, nvme_tcp_timeout()
    pattern(
        "nvmf_timeout",
        "timeout request",
        _NVME + r"queue (?P<queue>\d{1,5}): timeout request (?P<status>0x[0-9a-f]{1,8})",
    ),
    # nvme nvme0: starting error recovery
    #   drivers/nvme/host/tcp.c, nvme_tcp_error_recovery(); also rdma.c
    pattern("nvmf_error_recovery", "starting error recovery", _NVME + "starting error recovery"),
    # nvme nvme0: failed nvme_keep_alive_end_io error=10
    #   drivers/nvme/host/core.c, nvme_keep_alive_end_io()
    pattern(
        "nvmf_keepalive_failed",
        "nvme_keep_alive_end_io",
        _NVME + r"failed nvme_keep_alive_end_io error=(?P<error>-?\d{1,6})",
    ),
    # block nvme0n1: no usable path - requeuing I/O
    # block nvme0n1: no available path - failing I/O
    #   drivers/nvme/host/multipath.c, nvme_ns_head_submit_bio()
    pattern(
        "nvmf_no_path",
        "path - ",
        r"block (?P<device>nvme\d{1,5}n\d{1,5}): no (?:usable|available) path - "
        r"(?:requeuing|failing) I/O",
    ),
    # nvme nvme0: Reconnecting in 10 seconds...
    #   drivers/nvme/host/tcp.c, nvme_tcp_reconnect_or_remove(); also rdma.c, fc.c
    pattern(
        "nvmf_reconnecting",
        "Reconnecting in",
        _NVME + r"Reconnecting in (?P<seconds>\d{1,6}) seconds",
    ),
    # nvme nvme0: failed to connect socket: -110
    #   drivers/nvme/host/tcp.c, nvme_tcp_alloc_queue()
    pattern(
        "nvmf_connect_failed",
        "failed to connect",
        _NVME + r"failed to connect (?:socket|queue: \d{1,5} ret=)[: ]*(?P<error>-?\d{1,6})",
    ),
    # nvme nvme0: creating 63 I/O queues.
    #   drivers/nvme/host/tcp.c, nvme_tcp_alloc_io_queues(); also rdma.c
    pattern(
        "nvmf_queues",
        "I/O queues",
        _NVME + r"creating (?P<queues>\d{1,6}) I/O queues",
        actionable=False,
    ),
)
