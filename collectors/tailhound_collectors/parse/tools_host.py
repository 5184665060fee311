"""The outputs about CPUs, GPUs and the system that can be read."""

from tailhound_collectors.parse import (
    clocks,
    cpu_load,
    dcgm,
    gpu,
    kernel_facts,
    kernel_log,
    kube,
    lspci,
    numa,
    nvidia_csv,
    nvidia_text,
    nvidia_xml,
    nvlink,
    sudo,
)
from tailhound_collectors.parse.tool import Tool

_NVIDIA = "NVIDIA GPU that the driver sees"
_DRIVER = "nvidia-utils (it comes with the driver)"

_CPU = (
    Tool("mpstat", "mpstat -P ALL -o JSON 1 2", cpu_load.MpStat, cpu_load.mpstat, "sysstat"),
    Tool("vmstat", "vmstat -n -w 1 3", cpu_load.VmStat, cpu_load.vmstat, "procps"),
    Tool(
        "pressure",
        "cat /proc/pressure/io",
        cpu_load.Pressure,
        cpu_load.pressure,
        needs="pressure accounting in the kernel (CONFIG_PSI, boot option psi=1)",
        also=("psi",),
    ),
    Tool(
        "turbostat",
        "turbostat --quiet --show Core,CPU,Busy%,Bzy_MHz,PkgTmp -n 1 -i 2",
        clocks.TurboStat,
        clocks.turbostat,
        "linux-cpupower",
    ),
    Tool(
        "cpupower",
        "cpupower frequency-info",
        clocks.CpuFrequencies,
        clocks.cpupower,
        "linux-cpupower",
        needs="cpufreq driver",
    ),
    Tool("numactl", "numactl -H", numa.Numa, numa.numactl, "numactl", needs="NUMA support"),
    Tool("lspci", "lspci -D -vv", lspci.PciLinks, lspci.lspci, "pciutils"),
)

_GPU = (
    Tool(
        "nvidia-smi-q",
        "nvidia-smi -q",
        gpu.Gpus,
        nvidia_text.query_text,
        _DRIVER,
        needs=_NVIDIA,
        also=("nvidia-smi", "nvidia-smi-err"),
    ),
    Tool(
        "nvidia-smi-x",
        "nvidia-smi -q -x",
        gpu.Gpus,
        nvidia_xml.query_xml,
        _DRIVER,
        needs=_NVIDIA,
        also=("nvidia-smi-q-x",),
    ),
    Tool(
        "nvidia-smi-csv",
        f"nvidia-smi --query-gpu={','.join(nvidia_csv.STATE_FIELDS)} --format=csv,noheader,nounits",
        gpu.Gpus,
        nvidia_csv.query_csv,
        _DRIVER,
        needs=_NVIDIA,
        also=("nvidia-smi-query-gpu",),
    ),
    Tool(
        "nvidia-smi-nvlink",
        "nvidia-smi nvlink -s",
        nvlink.NvLinks,
        nvlink.nvlink,
        _DRIVER,
        needs=_NVIDIA,
    ),
    Tool(
        "dcgm-health",
        "dcgmi health -g 0 -c",
        dcgm.DcgmHealth,
        dcgm.health,
        "datacenter-gpu-manager",
        also=("dcgmi-health",),
    ),
    Tool("dcgmi-diag", "dcgmi diag -r 1", dcgm.DcgmDiag, dcgm.diag, "datacenter-gpu-manager"),
)

_SYSTEM = (
    Tool(
        "dmesg",
        "dmesg --time-format=iso --level=emerg,alert,crit,err,warn",
        kernel_facts.KernelLog,
        kernel_log.kernel_log,
        "util-linux",
        also=(
            "journalctl-k",
            *(f"dmesg-{kind}" for kind in ("aer", "mlx5", "nvme", "nvmf", "pcie-bw", "xid")),
        ),
    ),
    Tool("kmsg", "cat /dev/kmsg", kernel_facts.Kmsg, kernel_log.kmsg),
    Tool(
        "kubectl",
        "kubectl get node,pod -o json",
        kube.KubeObjects,
        kube.kubectl,
        "kubectl",
        also=("kubectl-get", "kubectl-describe-node"),
    ),
    Tool("sudo", command="sudo -n COMMAND", facts=sudo.NoFacts, read=sudo.sudo),
)
HOST: tuple[Tool, ...] = (*_CPU, *_GPU, *_SYSTEM)
"""In the order of the documentation."""
