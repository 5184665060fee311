"""How fast and how large tailhound is, each figure beside a bare probe that does the same I/O.

`python -m benchmarks` measures everything and prints a table; `python -m benchmarks intake drain`
measures some. docs/operators/performance.md says what each row means. Everything is a real process
on 127.0.0.1 and is ended with the benchmark that started it.
"""
