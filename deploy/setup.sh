#!/bin/sh
# Makes the virtual environment that the Makefile uses: sh deploy/setup.sh DIR
# Needs Python 3.11 or later; PYTHON names another than python3. An environment that still works is
# brought up to date, one that does not is made anew.
set -eu
venv=$1
python=${PYTHON:-python3}

say() { printf '%s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

[ -f pyproject.toml ] || fail "Run this from the top of the checkout: sh deploy/setup.sh .venv"
command -v "$python" >/dev/null 2>&1 || fail "There is no '$python'. On Debian: apt-get install python3 python3-venv. Elsewhere: PYTHON=/path/to/python3.11 make setup"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail \
    "tailhound needs Python 3.11 or later; '$python' is $("$python" -c 'import platform; print(platform.python_version())'). Run: PYTHON=/path/to/python3.11 make setup"

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    package="python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
    command -v apt-get >/dev/null 2>&1 || fail "'$python' lacks the modules venv and ensurepip; install the package that holds them."
    [ "$(id -u)" = 0 ] || fail "'$python' lacks the modules venv and ensurepip. Run: sudo apt-get install $package"
    say "Installing $package ..."
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null
fi

works() { "$venv/bin/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
if ! works; then
    rm -rf "$venv"
    "$python" -m venv "$venv"
fi
say "Installing tailhound and its tools into $venv (a minute or two, the first time) ..."
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' ||
    fail "pip could not install what pyproject.toml names. It needs a package index: PIP_INDEX_URL names another, PIP_CERT a certificate bundle of your own."
