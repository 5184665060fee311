"""The condition language: parsed with `ast`, checked against facts and units, run in three values.

`grammar` says what is syntax, `names`, `logic`, `compare` and `calls` check and build the pieces,
`terms` and `sets` are the pieces that run. `tailhound.rules.expression` is the way in.
"""
