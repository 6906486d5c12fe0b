#!/usr/bin/env bash
# run.sh BENCH [--stride N] [TRACE…]: on a machine with a GPU, builds the peers (PyTorch's and CUDA's allocators) against the torch that python3 imports, and
# compares them with ours by running BENCH (stowage_gpu_bench, which may have been built elsewhere). Prints Markdown.
#
# CUDA_HOME: the toolkit (default: /usr/local/cuda).
set -euo pipefail

bench=$1
shift
here=$(dirname "$0")
torch=$(python3 -c 'import os, torch; print(os.path.dirname(torch.__file__))')
cuda=${CUDA_HOME:-/usr/local/cuda}
library=$(mktemp -d)/peers.so
trap 'rm -rf "$(dirname "$library")"' EXIT

c++ -O2 -shared -fPIC -std=c++20 "$here/peers.cpp" -I"$torch/include" -I"$cuda/include" -L"$torch/lib" -lc10_cuda -lc10 \
  -L"$cuda/lib64" -lcudart -Wl,-rpath,"$torch/lib:$cuda/lib64" -o "$library"
"$bench" --peers "$library" "$@"
