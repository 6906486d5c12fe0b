#!/usr/bin/env bash
# packing_test.sh [PROGRAM]: the solvers beside PyPI's CP-SAT and OmniMalloc (exit status 77 when those cannot be had). Looks for contradictions with
# CP-SAT on 3,000 random problems of a new seed each day, and prints a table of the problems that packing once missed. PROGRAM (build/release)
# is a `stowage` command line.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(ortools==9.15.6755 omnimalloc==1.0.0 numpy==2.4.6)
folder=$PWD/build/packing-packages
export PYTHONPATH=$folder
python3 -c 'import ortools, omnimalloc' 2>/dev/null ||
  python3 -m pip install -q --target "$folder" "${packages[@]}" ||
  { echo "packing_test: PyPI does not give us ${packages[*]}"; exit 77; }

program=${1:-build/release/apps/stowage/stowage}
if [ $# -eq 0 ]; then
  cmake --preset release
  cmake --build --preset release -j "${JOBS:-2}" --target stowage_cli
fi
bench/cp_sat_check.py "$program" --problems 3000 --seed "$(date +%Y%m%d)" --time 1
sets=build/packing-sets
bench/packing_sets.py "$sets" --data "${STOWAGE_DATA:-../shared/data}"
bench/packing_bench.py "$sets" ours="$program" --only uneven --cp-sat
bench/packing_bench.py "$sets" ours="$program" --only coarse --cp-sat
bench/packing_bench.py "$sets" ours="$program" --only lowered --capacity 1048576 --time 10
bench/packing_bench.py "$sets" ours="$program" --only pinwheel --time 25 --omnimalloc
