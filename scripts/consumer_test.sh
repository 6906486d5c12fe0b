#!/usr/bin/env bash
# consumer_test.sh static|shared: installs Stowage into a temporary prefix and builds tests/consumer against that tree alone, once
# with CMake and once with pkg-config, and runs it. Both libraries are linked from the objects of the development build.
# consumer_test.sh subdirectory: builds it with this tree as a subdirectory, which compiles each source alone, without precompiled headers.
set -euo pipefail
cd "$(dirname "$0")/.."

: "${JOBS:=$(nproc)}" "${CXX:=g++}"
kind=${1:-}
tree=build/dev
case $kind in
  static) pc_flags=--static shared=OFF ;;
  shared) pc_flags= shared=ON ;;
  subdirectory) ;;
  *) echo "usage: $0 static|shared|subdirectory" >&2; exit 2 ;;
esac

expect_plan() { # what the consumer prints: relu works in place, so two tensors share 4 KiB
  local output
  output=$("$@")
  echo "$output"
  [[ $output == "peak 4"*"KiB, without reuse 8"*"KiB" ]] || { echo "consumer_test: unexpected output" >&2; exit 1; }
}

if [ "$kind" = subdirectory ]; then
  cmake -S tests/consumer -B build/subdirectory -G Ninja -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS=-O0 -DSTOWAGE_SOURCE="$PWD"
  cmake --build build/subdirectory -j "$JOBS" --target consumer
  expect_plan build/subdirectory/consumer
  exit
fi

temporary=$(mktemp -d)
finish() { # the development build is static again
  rm -rf "$temporary"
  cd "$project"
  [ "$kind" = static ] || cmake --preset dev -DBUILD_SHARED_LIBS=OFF >/dev/null
}
trap finish EXIT
prefix=$temporary/prefix
project=$PWD

cmake --preset dev -DSTOWAGE_GGML_SOURCE= -DBUILD_SHARED_LIBS="$shared"
cmake --build "$tree" -j "$JOBS" --target stowage stowage_cli stowage_torch stowage_c stowage_pack_c # all that is installed
cmake --install "$tree" --prefix "$temporary/first"
mv "$temporary/first" "$prefix" # an install tree may be moved
cp -r tests/consumer "$temporary/consumer"
cd "$temporary"

echo "-- consumer ($kind) with CMake"
# Users need no JSON library, and those of a shared library none of ours at all.
hidden=(-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
[ "$kind" = shared ] && hidden+=(-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON)
cmake -S consumer -B build -G Ninja -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_PREFIX_PATH="$prefix" "${hidden[@]}"
cmake --build build
expect_plan build/consumer

echo "-- consumer ($kind) with pkg-config"
library=$(dirname "$(find "$prefix" -name 'libstowage.so' -print -quit)")
export PKG_CONFIG_PATH=$library/pkgconfig
pkg-config --validate stowage
# shellcheck disable=SC2086,SC2046 # pkg-config prints words
"$CXX" -std=c++20 consumer/main.cpp -o consumer_pc $(pkg-config --cflags --libs $pc_flags stowage)
LD_LIBRARY_PATH=$library expect_plan ./consumer_pc

echo "-- C consumer ($kind) with pkg-config"
for name in pack_arrays:stowage-pack compiler_pass:stowage-c; do
  # shellcheck disable=SC2046 # pkg-config prints words
  cc -std=c99 -Wall -Wextra -Wpedantic -Wno-missing-field-initializers -Werror "$project/examples/c/${name%:*}.c" -o c_consumer \
    $(pkg-config --cflags --libs "${name#*:}")
  LD_LIBRARY_PATH=$library ./c_consumer
done
"$project/scripts/check_c_library.sh" "$library/libstowage.so.0" "$library/libstowage_pack.so.0"

echo "-- install tree ($kind)"
if [ "$kind" = shared ]; then
  soname=$(readelf -d "$library/libstowage_cpp.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  [[ $soname =~ ^libstowage_cpp\.so\.[0-9]+$ ]] || { echo "consumer_test: SONAME is '$soname'" >&2; exit 1; }
  "$project/scripts/check_exports.py" --self-test
  "$project/scripts/check_exports.py" "$library/libstowage_cpp.so" "$prefix/include"
fi
[ ! -x "$prefix/bin/stowage" ] || "$prefix/bin/stowage" --version
(cd "$prefix" && find . -type f -o -type l | sort)
