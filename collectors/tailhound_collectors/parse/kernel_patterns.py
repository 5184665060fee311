"""What to look for in the kernel log. `kind` is the event's stable name; named groups become the
event's facts.
"""

import re

from tailhound_collectors.parse.kernel_pattern import Pattern
from tailhound_collectors.parse.kernel_patterns_devices import CPU, GPU, NETWORK, PCI
from tailhound_collectors.parse.kernel_patterns_drives import FABRICS, NVME

PATTERNS: tuple[Pattern, ...] = (*NVME, *FABRICS, *PCI, *NETWORK, *GPU, *CPU)
"""In this order; the first that matches names the line."""

HINTED = re.compile("|".join({re.escape(pattern.hint) for pattern in PATTERNS}))
"""A line in which this finds nothing matches no pattern."""
