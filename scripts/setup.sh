#!/bin/sh
# Make .venv and install skippy-patches into it.
#   sh scripts/setup.sh        to use it
#   sh scripts/setup.sh dev    to work on it: the test tools, and the system packages that tests want
# A venv of its own, because Debian's Python refuses `pip install` outside one (PEP 668).
set -eu
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "setup: Python 3.11 or newer is needed, $python is $("$python" --version 2>&1)." >&2
    echo "setup: name another one: PYTHON=python3.12 sh scripts/setup.sh" >&2
    exit 2
fi
if [ ! -x .venv/bin/python ] && ! "$python" -m venv .venv; then
    rm -rf .venv
    echo "setup: making a venv failed (Debian: apt-get install python3-venv)." >&2
    exit 2
fi
if [ "${1:-}" = dev ]; then
    sh scripts/system-packages.sh
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".${1:+[$1]}"
# Byte code at once: where PYTHONDONTWRITEBYTECODE is set, every start would compile everything again.
.venv/bin/python -m compileall -q skippy_patches
