#!/usr/bin/env bash
# run.sh [--quick] [--only WORD] [--minimalloc PATH] [SECTION…]: builds the release preset and prints the tables as Markdown.
#
# STOWAGE_DATA: the folder of the data files (default: ../shared/data). JOBS: number of parallel jobs (default: 2).
set -euo pipefail
cd "$(dirname "$0")/.."

STOWAGE_DATA=$(realpath -m "${STOWAGE_DATA:-../shared/data}")
STOWAGE_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain -- src include bench 2>/dev/null)" ] || STOWAGE_COMMIT+=" with changes"
export STOWAGE_DATA STOWAGE_COMMIT

{
  cmake --preset release -DSTOWAGE_BENCH=ON
  cmake --build --preset release -j "${JOBS:-2}" --target stowage_bench
} >&2
exec build/release/bench/stowage_bench "$@"
