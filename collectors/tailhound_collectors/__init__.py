"""The shipped collectors: one explicit tuple."""

from typing import Any

from tailhound.flow import Collector
from tailhound_collectors.apiserver import ApiserverCollector
from tailhound_collectors.autoscaler import AutoscalerCollector
from tailhound_collectors.batching import BatchingCollector
from tailhound_collectors.batching_config import BatchingConfigCollector
from tailhound_collectors.control_plane import EffectsCollector
from tailhound_collectors.cpu import ContainerCpuCollector, NodeCpuCollector
from tailhound_collectors.demand import DemandCollector
from tailhound_collectors.disk_io import DiskIoCollector
from tailhound_collectors.drive_health import DriveHealthCollector
from tailhound_collectors.engine import EngineCollector
from tailhound_collectors.engine_args import EngineArgsCollector
from tailhound_collectors.kv_cache import KvCacheCollector
from tailhound_collectors.kv_transfer import KvTransferCollector
from tailhound_collectors.latency import LatencyCollector
from tailhound_collectors.lengths import LengthsCollector
from tailhound_collectors.node_agents import NodeAgentsCollector
from tailhound_collectors.node_heartbeats import HeartbeatCollector
from tailhound_collectors.pods import ContainerCollector
from tailhound_collectors.rdma import RdmaCollector
from tailhound_collectors.rdma_host import HostRdmaCollector
from tailhound_collectors.rdma_pause import PauseCollector
from tailhound_collectors.recent_changes import RecentChangesCollector
from tailhound_collectors.replicas import ReplicasCollector
from tailhound_collectors.rollout import RolloutCollector
from tailhound_collectors.volumes import VolumesCollector

COLLECTORS: tuple[Collector[Any, Any], ...] = (
    ContainerCpuCollector(),
    NodeCpuCollector(),
    NodeAgentsCollector(),
    LatencyCollector(),
    ContainerCollector(),
    EngineCollector(),
    EngineArgsCollector(),
    KvCacheCollector(),
    LengthsCollector(),
    BatchingCollector(),
    BatchingConfigCollector(),
    ApiserverCollector(),
    EffectsCollector(),
    HeartbeatCollector(),
    ReplicasCollector(),
    DemandCollector(),
    AutoscalerCollector(),
    RolloutCollector(),
    RecentChangesCollector(),
    DiskIoCollector(),
    DriveHealthCollector(),
    VolumesCollector(),
    RdmaCollector(),
    PauseCollector(),
    KvTransferCollector(),
    HostRdmaCollector(),
)
