#!/usr/bin/env bash
# fuzz.sh [TARGET…]: builds the fuzz targets and runs each (or those named) for FUZZ_SECONDS (60). Starts from fuzz/corpus/TARGET,
# keeps what it learns in build/asan/fuzzing/corpus/TARGET, and leaves the input of a finding in build/asan/fuzzing/findings.
set -euo pipefail
cd "$(dirname "$0")/.."

: "${FUZZ_SECONDS:=60}" "${JOBS:=$(nproc)}"
cmake --preset asan
cmake --build --preset asan -j "$JOBS" --target fuzz/all

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  mapfile -t targets < <(find build/asan/fuzz -maxdepth 1 -type f -executable -printf '%f\n' | sort)
fi
[ ${#targets[@]} -gt 0 ] || { echo "fuzz: no targets were built" >&2; exit 1; }

mkdir -p build/asan/fuzzing/findings
failed=()
for target in "${targets[@]}"; do
  echo "-- fuzz $target, $FUZZ_SECONDS s"
  corpus=build/asan/fuzzing/corpus/$target
  mkdir -p "$corpus"
  seeds=()
  for folder in "fuzz/corpus/$target" "fuzz/corpus/${target#fuzz_}" "fuzz/corpus/${target%_fuzz}"; do
    [ ! -d "$folder" ] || { seeds=("$folder"); break; }
  done
  words=()
  [ ! -f "fuzz/$target.dict" ] || words=(-dict="fuzz/$target.dict")
  log=build/asan/fuzzing/$target.log
  patience=10
  [ "$target" != fuzz_command_line ] || patience=60 # one input is many commands, each with a time limit of its own
  if ! "build/asan/fuzz/$target" -max_total_time="$FUZZ_SECONDS" -timeout=$patience -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/asan/fuzzing/findings/$target-" "${words[@]}" "$corpus" "${seeds[@]}" >"$log" 2>&1; then
    tail -n 60 "$log"
    failed+=("$target")
  else
    grep -E '^(Done|stat::number_of_executed_units|INFO: +[0-9]+ files found)' "$log" || true
  fi
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "fuzz: findings by ${failed[*]}; inputs in build/asan/fuzzing/findings" >&2
  exit 1
fi
echo "fuzz: ${#targets[@]} targets, $FUZZ_SECONDS s each, no findings"
