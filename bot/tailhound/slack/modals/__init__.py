"""The forms that people fill in: their views, and what is read out of them. Pure."""
