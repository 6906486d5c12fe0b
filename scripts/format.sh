#!/usr/bin/env bash
# format.sh [--check]: formats all C++ of the project with clang-format 19, or only says what is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
case ${1:-} in
  "") ;;
  --check) mode=(--dry-run -Werror) ;;
  *) echo "usage: $0 [--check]" >&2; exit 2 ;;
esac
# New files count before they are added; deleted ones no longer.
mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp' '*.h' '*.c' | sort -u | while read -r file; do
  [ ! -f "$file" ] || echo "$file"
done)
[ ${#files[@]} -gt 0 ] || { echo "format: no C++ files" >&2; exit 1; }
clang-format-19 "${mode[@]}" "${files[@]}"
echo "format: ${#files[@]} files"
