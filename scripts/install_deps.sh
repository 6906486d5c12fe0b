#!/usr/bin/env bash
# install_deps.sh [--ci]: installs what building Stowage needs on Debian 12 or later, with --ci also what its checks need. Does
# nothing, and needs no rights, when everything is there. STOWAGE_SKIP_DEPS=1 skips it, for other systems.
set -euo pipefail

packages=(g++ cmake ninja-build make git ccache pkg-config python3 man-db
  nlohmann-json3-dev libcli11-dev libfmt-dev zlib1g-dev libprotozero-dev libflatbuffers-dev flatbuffers-compiler libgtest-dev libgmock-dev)
case ${1:-} in
  "") ;;
  --ci) packages+=(clang-19 clang-format-19 libclang-rt-19-dev python3-pip python3-venv python3-dev nodejs chromium firefox-esr fonts-dejavu-core) ;;
  *) echo "usage: $0 [--ci]" >&2; exit 2 ;;
esac

if [ "${STOWAGE_SKIP_DEPS:-0}" = 1 ]; then
  echo "install_deps: skipped (STOWAGE_SKIP_DEPS)"
  exit 0
fi
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  {
    echo "install_deps: this system has no apt. Install by other means what these Debian packages hold,"
    echo "then set STOWAGE_SKIP_DEPS=1: ${packages[*]}"
  } >&2
  exit 1
fi

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}
missing=()
for package in "${packages[@]}"; do
  is_installed "$package" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "install_deps: all ${#packages[@]} packages are there"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install_deps: not root, and no sudo. As root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "install_deps: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq || echo "install_deps: apt-get update failed; trying with the lists that are there" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
  cat "$log" >&2
  echo "install_deps: apt-get could not install these packages; Debian 12 (bookworm) with its updates has them all" >&2
  exit 1
fi
