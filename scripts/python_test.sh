#!/usr/bin/env bash
# python_test.sh tree|torch|wheel [PYTHON…]: the tests of the Python package.
#   tree    with the extension linked from the objects of the development build; with mypy
#   torch   those that need torch and ExecuTorch (gigabytes), with the extension that `tree` has built for the same interpreter
#   wheel   with a wheel, built, and installed into an environment that has nothing else, for each interpreter (python3)
# Needs the network the first time (PyPI).
set -euo pipefail
cd "$(dirname "$0")/.."

: "${JOBS:=$(nproc)}"
kind=${1:-}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- python3
STOWAGE_DATA=$(realpath -m "${STOWAGE_DATA:-../shared/data}")
export STOWAGE_DATA

environment() { # folder, interpreter, packages…
  local folder=$1 python=$2
  shift 2
  [ -x "$folder/bin/pytest" ] || "$python" -m venv --clear "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check pytest numpy tqdm "$@"
}

test_tree() {
  local tools=build/python-packages package=build/dev/python/package
  environment "$tools" "$1" nanobind mypy types-tqdm pyarrow "dask[distributed]" ray
  # -DPython_…: not another interpreter that CMake prefers
  cmake --preset dev -DSTOWAGE_PYTHON=ON -DPython_ROOT_DIR="$PWD/$tools" -DPython_FIND_VIRTUALENV=ONLY \
    -Dnanobind_DIR="$("$tools/bin/python" -m nanobind --cmake_dir)" >/dev/null
  cmake --build build/dev -j "$JOBS" --target stowage_python_package stowage_cli
  export PYTHONPATH=$PWD/$package PATH=$PWD/build/dev/apps/stowage:$PATH
  "$tools/bin/python" -X dev -m pytest -q python/tests
  "$tools/bin/mypy" --config-file pyproject.toml --cache-dir build/python-packages/mypy "$package/stowagepy" python/tests/typed_sample.py
}

test_torch() {
  local tools=build/torch-packages
  environment "$tools" "$1" torch==2.14.1 executorch==1.5.1 # the runtime of this executorch needs this torch
  export PYTHONPATH=$PWD/build/dev/python/package PATH=$PWD/build/dev/apps/stowage:$PATH
  "$tools/bin/python" -m pytest -q -rs python/tests/torch_test.py python/tests/executorch_test.py
}

test_wheel() {
  local python version fresh
  for python in "$@"; do
    scripts/wheel.sh "$python"
    version=$("$python" -c 'import sys; print("cp%d%d" % min(sys.version_info[:2], (3, 12)))')
    fresh=$(mktemp -d)
    environment "$fresh" "$python"
    "$fresh/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/stowagepy-*-"$version"-*.whl
    "$fresh/bin/stowage" --version
    (cd "$fresh" && env -u PYTHONPATH PATH="$fresh/bin:$PATH" bin/python -m pytest -q -p no:cacheprovider "$OLDPWD/python/tests")
    rm -rf "$fresh"
  done
}

case $kind in
  tree) test_tree "$1" ;;
  torch) test_torch "$1" ;;
  wheel) test_wheel "$@" ;;
  *) echo "usage: $0 tree|torch|wheel [PYTHON…]" >&2; exit 2 ;;
esac
