"""Whole incidents made by hand, for the tests of every surface.

`story` is one real case (recorded case 01: too few CPU cores for a chat model), `causes` what the
runbooks say of it, `incidents` that case in every state that a message or a page can show,
`hostile` it with every text turned against us, `anything` any incident at all.
"""
