#!/usr/bin/env bash
# tflm_test.sh [DIR [STOWAGE]]: what we say that TensorFlow Lite Micro needs, against the interpreter of PyPI's tflite-micro, for every .tflite
# model under a folder (default: those of the data); for tflite-micro's own, check out github.com/tensorflow/tflite-micro and name that folder.
# Exit status 77 when the package or models cannot be had. PYTHON (python3) runs the test; one that has the package already needs no other.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(tflite-micro==0.dev20261023182759 numpy==2.4.6)
python=${PYTHON:-python3}
folder=$PWD/build/tflm-packages
has_packages() { "$python" -c 'from tflite_micro import runtime; import numpy' 2>/dev/null; }

models=${1:-${STOWAGE_DATA:-../shared/data}/tflite}
[ -d "$models" ] || { echo "tflm_test: there is no folder $models"; exit 77; }
has_packages || export PYTHONPATH=$folder
if ! has_packages; then
  "$python" -m pip install -q --target "$folder" "${packages[@]}" ||
    { echo "tflm_test: PyPI does not give us ${packages[*]}"; exit 77; }
fi
if [ $# -lt 2 ]; then
  cmake --preset dev
  cmake --build --preset dev -j "${JOBS:-2}" --target stowage_cli
fi
"$python" tests/tflm/oracle_test.py "${2:-build/dev/apps/stowage/stowage}" "$models"
