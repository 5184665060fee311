"""What Slack refuses in a message or a view: types, lengths, counts, ids. Pure.

Used by the local stand-in of Slack, which answers what Slack would, in its words: each fault ends
with the place, `[json-pointer:/blocks/0/text/text]`. Known are the blocks and elements that
tailhound sends; all others are refused.
"""

from tailhound.slack.validate.blocks import faults, tables, too_long
from tailhound.slack.validate.shape import fault
from tailhound.slack.validate.views import too_large, view_faults

__all__ = ["fault", "faults", "tables", "too_large", "too_long", "view_faults"]
