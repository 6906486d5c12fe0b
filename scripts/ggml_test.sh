#!/usr/bin/env bash
# ggml_test.sh [GGML_SOURCE GGML_LIBRARY]: the tests of adapters/ggml, against that source tree and the libggml-base built from it; without
# arguments against those in PyPI's llama-cpp-python (exit status 77 when that cannot be had).
#
# JOBS (2) parallel jobs; STOWAGE_DATA (../shared/data) the data beside the project.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${JOBS:-2}

package=llama-cpp-python version=0.3.36
if [ $# -eq 2 ]; then
  source=$(realpath "$1") library=$(realpath "$2")
elif [ $# -eq 0 ]; then
  folder=$PWD/build/ggml-package # the package's source, and its own build of the one library that the tests link
  if [ ! -d "$folder/source" ]; then
    mkdir -p "$folder"
    python3 -m pip download -q --no-deps --no-binary "$package" -d "$folder" "$package==$version" ||
      { echo "ggml_test: PyPI does not give us $package $version"; exit 77; }
    mkdir "$folder/unpacked"
    tar -xzf "$folder"/*"$version".tar.gz -C "$folder/unpacked" --strip-components=1
    mv "$folder/unpacked" "$folder/source"
  fi
  options=(-DCMAKE_BUILD_TYPE=Release -DGGML_CPU=OFF -DGGML_NATIVE=OFF -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TESTS=OFF
    -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_CURL=OFF)
  log=$folder/build.log
  { cmake -S "$folder/source/vendor/llama.cpp" -B "$folder/build" -G Ninja "${options[@]}" &&
    cmake --build "$folder/build" -j "$jobs" --target ggml-base; } >"$log" 2>&1 || { tail -20 "$log" >&2; exit 1; }
  source=$folder/source/vendor/llama.cpp/ggml library=$(find "$folder/build" -name 'libggml-base.so' | head -1)
else
  sed -n '2,3s/^# //p' "$0" >&2
  exit 2
fi

cmake --preset dev -DSTOWAGE_GGML_SOURCE="$source" -DSTOWAGE_GGML_LIBRARY="$library"
cmake --build --preset dev -j "$jobs" --target adapters/ggml/all
ctest --preset dev -L ggml -j "$jobs"
