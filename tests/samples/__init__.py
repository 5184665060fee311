"""Whole incidents made by hand, for the tests of every surface.

`story` is one real case (recorded case 01: too few CPU cores for a chat model) in its parts,
`incidents` that case in every state that a message or a page can show, `anything` any incident at
all, hostile ones included.
"""
