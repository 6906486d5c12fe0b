#!/usr/bin/env bash
# run_ggml.sh GGML_SOURCE GGML_LIBRARY [--no-instructions] [WORD]: compares the drop-in for ggml's graph allocator with ggml's own, in one
# process: builds the release preset and prints the tables as Markdown.
#
# GGML_SOURCE is a ggml source tree, GGML_LIBRARY the libggml-base.so built from it with optimisation. STOWAGE_DATA: the folder of the
# data files (default: ../shared/data). JOBS: number of parallel jobs (default: 2).
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
source=$(realpath "$1") library=$(realpath "$2")
shift 2
cd "$(dirname "$0")/.."

STOWAGE_DATA=$(realpath -m "${STOWAGE_DATA:-../shared/data}")
STOWAGE_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain -- src include bench adapters 2>/dev/null)" ] || STOWAGE_COMMIT+=" with changes"
export STOWAGE_DATA STOWAGE_COMMIT

{
  cmake --preset release -DSTOWAGE_BENCH=ON -DSTOWAGE_GGML_SOURCE="$source" -DSTOWAGE_GGML_LIBRARY="$library"
  cmake --build --preset release -j "${JOBS:-2}" --target stowage_ggml_bench
} >&2
exec build/release/bench/stowage_ggml_bench "$@"
