#!/bin/sh
# Makes the virtual environment that the Makefile uses: sh deploy/setup.sh DIR
# Needs Python 3.11 or later. On Debian the venv module is a package of its own.
set -eu
venv=$1
python=${PYTHON:-python3}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "tailhound needs Python 3.11 or later; '$python' is older. Set PYTHON=..." >&2
    exit 1
}
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        apt-get install -y -qq --no-install-recommends python3-venv
    else
        echo "Python's venv module is missing. Run: sudo apt-get install python3-venv" >&2
        exit 1
    fi
fi
rm -rf "$venv"
"$python" -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
