"""Stand-ins of host tools, as POSIX shell scripts: what a scenario says, and nothing else.

An answer fits when all its words occur in the command line; the first fit wins; without one the
tool exits 1 with a usage line. The scripts call real programs by full path alone (`Programs`).
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.scenario import Answer

Text = Callable[[Answer], str]


@dataclass(frozen=True, slots=True)
class Programs:
    """Where the real programs lie that the stand-ins use; not on any PATH."""

    folder: Path

    @property
    def cat(self) -> str:
        """The real cat."""
        return shlex.quote(str(self.folder / "cat"))

    @property
    def sleep(self) -> str:
        """The real sleep."""
        return shlex.quote(str(self.folder / "sleep"))

    @property
    def date(self) -> str:
        """The real date."""
        return shlex.quote(str(self.folder / "date"))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a host's stand-ins keep their outputs and the moments of first visits."""

    programs: Programs
    outputs: Path
    visits: Path
    gap_seconds: float


def script(name: str, answers: Sequence[Answer], text: Text, place: Place) -> str:
    """The script of one tool; its outputs are written to files beside."""
    parts = [
        "#!/bin/sh",
        f'line="{name} $*"',
        'has() { case "$line" in *"$1"*) return 0 ;; esac; return 1; }',
        _seen(place),
    ]
    for index, answer in enumerate(answers):
        fits = " && ".join(f"has {shlex.quote(word)}" for word in answer.words) or "true"
        parts.append(f"if {fits}; then")
        key = f"{name}.{index}"
        if answer.then:
            later = answer.model_copy(update=answer.then.model_dump(exclude_unset=True))
            if {"stdout", "stdout_file", "csv"} & answer.then.model_fields_set:
                later = _only_stdout_of(later, answer.then)
            body = _reply(f"{key}.then", later, text, place)
            parts.append(f"if again {shlex.quote(key)}; then\n{body}\nfi")
        parts += [_reply(key, answer, text, place), "fi"]
    parts.append(f"echo 'Usage: {name} [OPTIONS]' >&2\nexit 1\n")
    return "\n".join(parts)


def _only_stdout_of(merged: Answer, then: Answer) -> Answer:
    """`then: {stdout: ...}` replaces a `stdout_file` of the first reading too."""
    kept = {name: getattr(then, name) for name in ("stdout", "stdout_file", "csv")}
    return merged.model_copy(update=kept)


def _seen(place: Place) -> str:
    """`again KEY`: whether its first visit was at least the gap ago."""
    gap = int(place.gap_seconds * 1e9)
    return f"""again() {{
  now=$({place.programs.date} +%s%N)
  if [ -f {shlex.quote(str(place.visits))}/"$1" ]; then
    read -r first < {shlex.quote(str(place.visits))}/"$1"
    [ $((now - first)) -ge {gap} ] && return 0
  else
    echo "$now" > {shlex.quote(str(place.visits))}/"$1"
  fi
  return 1
}}"""


def _reply(key: str, answer: Answer, text: Text, place: Place) -> str:
    lines = [f"{place.programs.sleep} {answer.delay:g}"] if answer.delay else []
    if answer.csv is not None:
        lines.append(_csv(answer.csv))
    else:
        lines.append(f"{place.programs.cat} {_stored(place, f'{key}.out', text(answer))}")
    if answer.stderr:
        lines.append(f"{place.programs.cat} {_stored(place, f'{key}.err', answer.stderr)} >&2")
    return "\n".join([*lines, f"exit {answer.exit}"])


def _stored(place: Place, name: str, text: str) -> str:
    path = place.outputs / name
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return shlex.quote(str(path))


_ALIASES = (
    ("clocks.current.", "clocks."),
    ("clocks_throttle_reasons.", "clocks_event_reasons."),
)


def _csv(rows: Sequence[Mapping[str, object]]) -> str:
    """nvidia-smi --query-gpu=... --format=csv: any field order, `[N/A]` for a field not given."""
    functions = "\n".join(_gpu(index, row) for index, row in enumerate(rows))
    calls = "\n".join(f"row gpu{index}" for index in range(len(rows)))
    return f"""{functions}
fields=
for argument in "$@"; do
  case $argument in --query-*=*) fields=${{argument#*=}} ;; esac
done
case "$line" in *nounits*) units= ;; *) units=yes ;; esac
unit() {{
  u=
  [ -n "$units" ] || return 0
  case $1 in
    clocks.*gpu*|clocks.*sm|clocks.*mem*|clocks.*graphics|clocks.*video) u=' MHz' ;;
    power.*) u=' W' ;;
    memory.*) u=' MiB' ;;
    utilization.*|fan.speed) u=' %' ;;
  esac
}}
header() {{
  out=
  for field in $(IFS=,; set -- $fields; echo "$@"); do
    unit "$field"
    [ -z "$u" ] || u=" [${{u# }}]"
    out="$out${{out:+, }}$field$u"
  done
  echo "$out"
}}
row() {{
  out=
  for field in $(IFS=,; set -- $fields; echo "$@"); do
    "$1" "$field"
    unit "$field"
    case $v in '[N/A]'|*[!0-9.]*) u= ;; esac
    out="$out${{out:+, }}$v$u"
  done
  echo "$out"
}}
case "$line" in *noheader*) ;; *) header ;; esac
{calls}"""


def _gpu(index: int, row: Mapping[str, object]) -> str:
    cases = []
    for field, value in row.items():
        pattern = "|".join(shlex.quote(name) for name in _spellings(str(field)))
        cases.append(f"    {pattern}) v={shlex.quote(str(value))} ;;")
    body = "\n".join([*cases, "    *) v='[N/A]' ;;"])
    return f"gpu{index}() {{\n  case $1 in\n{body}\n  esac\n}}"


def _spellings(field: str) -> list[str]:
    """A field under all its names: `clocks.sm` is `clocks.current.sm`."""
    for spellings in _ALIASES:
        for prefix in spellings:
            if field.startswith(prefix):
                return [f"{other}{field.removeprefix(prefix)}" for other in spellings]
    return [field]


SUDO = """#!/bin/sh
while :; do
  case $1 in
    -n|--non-interactive) shift ;;
    --) shift; break ;;
    *) break ;;
  esac
done
[ -n "$1" ] || { echo 'usage: sudo -h | -K | -k | -V' >&2; exit 1; }
command -v "$1" > /dev/null || { echo "sudo: $1: command not found" >&2; exit 1; }
exec "$@"
"""


def cat_script(backing: Mapping[str, Path | None], programs: Programs) -> str:
    """A cat that knows the files which no bind mount can show; other /proc files are not there.

    None = absent. What the lab machine's own /proc says is no fact about the scenario's host.
    """
    cases = "\n".join(
        f"    {shlex.quote(path)}) show {shlex.quote(str(file)) if file else ''} ;;"
        for path, file in sorted(backing.items())
    )
    return f"""#!/bin/sh
[ $# -gt 0 ] || exec {programs.cat}
code=0
show() {{
  if [ -n "$1" ]; then {programs.cat} "$1" || code=1
  else echo "cat: $f: No such file or directory" >&2; code=1
  fi
}}
for f in "$@"; do
  case $f in
    -|--) ;;
{cases}
    /proc/*) show ;;
    *) {programs.cat} "$f" || code=1 ;;
  esac
done
exit $code
"""


def sysctl_script(values: Mapping[str, Path], programs: Programs) -> str:
    """A sysctl that reads the scenario's /proc/sys files; other keys do not exist."""
    cases = "\n".join(
        f"    {shlex.quote(key)}) file={shlex.quote(str(file))} ;;"
        for key, file in sorted(values.items())
    )
    return f"""#!/bin/sh
code=0
bare=
for key in "$@"; do
  case $key in -n|--values) bare=yes; continue ;; -*) continue ;; esac
  file=
  case $key in
{cases}
  esac
  if [ -z "$file" ]; then
    echo "sysctl: cannot stat /proc/sys/$key: No such file or directory" >&2
    code=1
    continue
  fi
  [ -n "$bare" ] || printf '%s = ' "$key"
  {programs.cat} "$file"
done
exit $code
"""
