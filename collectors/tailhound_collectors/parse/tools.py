"""Every tool whose output can be read, from the tables beside this module."""

from tailhound_collectors.parse.tool import Tool
from tailhound_collectors.parse.tools_drives import DRIVES
from tailhound_collectors.parse.tools_host import HOST
from tailhound_collectors.parse.tools_network import NETWORK

ALL: tuple[Tool, ...] = (*DRIVES, *NETWORK, *HOST)

TOOLS: dict[str, Tool] = {name: tool for tool in ALL for name in (tool.name, *tool.also)}
"""Every tool under each of its names."""
