#!/usr/bin/env bash
# onnx_test.sh [BUILD]: the importer against PyPI's onnx and onnxruntime (exit status 77 when those cannot be had), with the programs in
# build/dev or the folder given. PYTHON (python3) runs the tests; one that has the packages already needs no others.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(onnx==1.23.2 onnxruntime==1.31.1 numpy==2.4.6 ml_dtypes==0.6.0)
python=${PYTHON:-python3}
folder=$PWD/build/onnx-packages
has_packages() { "$python" -c 'import onnx, onnxruntime, numpy' 2>/dev/null; }

has_packages || export PYTHONPATH=$folder
if ! has_packages; then
  "$python" -m pip install -q --target "$folder" "${packages[@]}" ||
    { echo "onnx_test: PyPI does not give us ${packages[*]}"; exit 77; }
fi
if [ $# -eq 0 ]; then
  cmake --preset dev
  cmake --build --preset dev -j "${JOBS:-2}" --target stowage_cli onnx_facts
  set -- build/dev
fi
"$python" tests/onnx/oracle_test.py "$1/apps/stowage/stowage"
"$python" tests/onnx/shapes_test.py "$1/tests/onnx_facts"
"$python" tests/onnx/node_tests.py "$1/tests/onnx_facts"
