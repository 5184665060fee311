"""Charts of an incident: what to show (pure), and its drawing as PNG, as SVG and as a table."""
