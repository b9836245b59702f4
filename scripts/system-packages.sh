#!/bin/sh
# Install what the tests want of the system and pip cannot bring. Does nothing where all is there.
set -eu

missing=
need() { # need PACKAGE TEST...: add the Debian package where the test fails
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
need git git --version
need g++ c++ --version
need npm npm --version
need locales test -e /usr/share/i18n/locales/de_DE -o "$(uname)" != Linux

if [ -z "$missing" ]; then
    exit 0
fi
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "Installing$missing" >&2
    apt-get update -qq
    # shellcheck disable=SC2086  # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
    echo "system-packages: not installed:$missing. Tests that want them will fail." >&2
fi
