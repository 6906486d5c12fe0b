#!/usr/bin/env bash
# check_c_library.sh LIBRARY…: what the shared libraries of the C API promise: each exports functions named stowage_* and nothing else, and
# needs no library except for those of the C and C++ compilers. Prints the size of each, stripped.
set -euo pipefail

for library in "$@"; do
  [ -f "$library" ] || { echo "check_c_library: no file $library" >&2; exit 1; }
  exported=$(nm -D --defined-only "$library" | awk '{print $NF}')
  [ -n "$exported" ] || { echo "check_c_library: $library exports nothing" >&2; exit 1; }
  if grep -v '^stowage_' <<<"$exported"; then
    echo "check_c_library: $library exports the symbols above, which are not stowage_*" >&2
    exit 1
  fi
  needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  if grep -v -E '^(libc|libm|libgcc_s|libstdc\+\+|ld-linux[^.]*)\.so' <<<"$needed"; then
    echo "check_c_library: $library needs the libraries above" >&2
    exit 1
  fi
  stripped=$(mktemp)
  strip -o "$stripped" "$library"
  echo "$(basename "$library"): $(wc -l <<<"$exported") functions, $(stat -c %s "$stripped") bytes, needs $(tr '\n' ' ' <<<"$needed")"
  rm "$stripped"
done
