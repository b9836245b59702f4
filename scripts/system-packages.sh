#!/bin/sh
# Install what pip cannot bring. Does nothing where all is there.
#   sh scripts/system-packages.sh           what the tests want of the system
#   sh scripts/system-packages.sh vulkan    what recipe vulkan wants: headers, loader, shader compiler, lavapipe
#   sh scripts/system-packages.sh cache     what the thorough and e2e tests of shared caches want: a Redis
set -eu

missing=
need() { # need PACKAGE TEST...: add the Debian package where the test fails
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
has_header() { echo "#include <$1>" | c++ -x c++ -E -; }
has_lavapipe() { ls /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json 2>/dev/null | grep -q .; }

without=
case "${1:-tests}" in
tests)
    need git git --version
    need g++ c++ --version
    need npm npm --version
    need locales test -e /usr/share/i18n/locales/de_DE -o "$(uname)" != Linux
    ;;
vulkan)
    need g++ c++ --version
    need libvulkan-dev has_header vulkan/vulkan.hpp
    need spirv-headers has_header spirv/unified1/spirv.hpp
    need glslc glslc --version
    need mesa-vulkan-drivers has_lavapipe # lavapipe: Vulkan on the processor
    without=1
    ;;
cache)
    need redis-server redis-server --version
    ;;
*)
    echo "system-packages: '$1' is none of its words: tests (the default), vulkan, cache." >&2
    exit 2
    ;;
esac

if [ -z "$missing" ]; then
    exit 0
fi
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "Installing$missing" >&2
    apt-get update -qq
    # shellcheck disable=SC2086  # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
elif [ -z "$without" ]; then
    echo "system-packages: not installed:$missing. Tests that want them will fail." >&2
else
    echo "system-packages: not installed:$missing. Recipe $1 cannot be built or tested without." >&2
    if command -v apt-get >/dev/null; then
        echo "system-packages: only root may install. Run: sudo sh scripts/system-packages.sh $1" >&2
    else
        echo "system-packages: there is no apt-get here; these are Debian's names for what to install." >&2
    fi
    exit 1
fi
