#!/usr/bin/env bash
# test_all.sh [--deep | --peers | STAGE…]: what `make test` runs; with --deep what `make test-deep` runs, with --peers what `make test-peers`
# runs; or only the stages named. Goes on after a failed stage; the last lines sum up.
#
# JOBS (2) parallel jobs; FUZZ_SECONDS (10) for each fuzz target; STOWAGE_DATA (../shared/data) the data beside the project.
set -euo pipefail
cd "$(dirname "$0")/.."

export JOBS=${JOBS:-2} FUZZ_SECONDS=${FUZZ_SECONDS:-10}
STOWAGE_DATA=$(realpath -m "${STOWAGE_DATA:-../shared/data}") # tests run in other folders
export STOWAGE_DATA
shallow=(deps format layers man gcc onnx page consumer_static consumer_shared python)
deep=(deps clang_asan fuzz tsan ggml wheel)
peers=(deps consumer_subdirectory many_graphs packing tflm)

build() { # preset
  cmake --preset "$1"
  cmake --build --preset "$1" -j "$JOBS"
}

run_tests() { # preset, arguments of ctest. Each binary writes there which of its tests ran.
  local preset=$1 results=$PWD/build/$1/results status=0
  shift
  rm -rf "$results"
  ctest --preset "$preset" -j "$JOBS" "$@" || status=$?
  scripts/count_tests.py "$results"
  return $status
}

stage_deps() { scripts/install_deps.sh --ci; }
stage_format() { scripts/format.sh --check; }
stage_layers() { scripts/check_layers.py --self-test && scripts/check_layers.py; }
stage_gcc() { build dev && run_tests dev; }
stage_onnx() { scripts/onnx_test.sh; }
stage_page() { scripts/page_test.sh; }
stage_ggml() { scripts/ggml_test.sh; }
stage_clang_asan() { # in one build: what clang warns of does not depend on sanitizers
  # Long searches take thirty times as long here, and run no line that shorter tests do not run too.
  local quick='-TargetSearch.TheAnswerDoesNot*:CoreFirst.TheAnswer*:Exact.ACapacityThatIsMissed*:*NoFalseRefusalAtTheLimit*'
  # Of the runs over real graphs one solver's is enough: the others differ in offsets only, and gcc has run them.
  local slow='*RunsEveryRecordedGraph/auto*:*ShadowRandom*:*Constrain*:*GraphAllocatorShadow*:*PartitionProperty*:*SchedulerRun*:*VerifyMutation*:*BruteForce*:ProgramRun.RandomGraphs*:-BoundAgainstBruteForce.OffsetSums'
  build asan && GTEST_FILTER=$quick run_tests asan -LE slow && GTEST_FILTER=$slow run_tests asan -L slow
}
stage_tsan() { build tsan && run_tests tsan; }
stage_consumer_static() { scripts/consumer_test.sh static; }
stage_consumer_shared() { scripts/consumer_test.sh shared; }
stage_consumer_subdirectory() { scripts/consumer_test.sh subdirectory; }
stage_python() { scripts/python_test.sh tree; }
stage_wheel() { scripts/python_test.sh wheel; }
stage_fuzz() { scripts/fuzz.sh; }
stage_many_graphs() { # more random graphs than CI draws: what is claimed of plans, against brute force and against runs
  build dev
  STOWAGE_PROPERTY_PROBLEMS=20000 run_tests dev -R '^(choices|claims|proof)_property_test'
  STOWAGE_PROPERTY_PROBLEMS=5000 run_tests dev -R '^verify_mutation_test'
}
stage_packing() { scripts/packing_test.sh; }
stage_tflm() { scripts/tflm_test.sh; }
stage_man() { # man itself exits with 0 whatever it warns of
  local warnings
  warnings=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l docs/stowage.1 2>&1 >/dev/null)
  [ -z "$warnings" ] || { echo "$warnings"; return 1; }
}

say_loudly() { # line…
  echo "**************************************************************************************************"
  printf '** %s\n' "$@"
  echo "**************************************************************************************************"
}
say_data() {
  [ -d "$STOWAGE_DATA" ] || say_loudly "No data at $STOWAGE_DATA (set STOWAGE_DATA)." \
    "Tests over real graphs are SKIPPED; this run shows less than a full one."
}

if [ "${1:-}" = --stage ]; then # the inside of one stage, in a process of its own so that `set -e` holds in it
  "stage_$2"
  exit
fi

stages=("${shallow[@]}")
if [ "${1:-}" = --deep ]; then
  stages=("${deep[@]}")
elif [ "${1:-}" = --peers ]; then
  stages=("${peers[@]}")
elif [ $# -gt 0 ]; then
  for stage in "$@"; do
    [ "$(type -t "stage_$stage")" = function ] || { echo "test_all: no stage '$stage'; there are: ${shallow[*]} ${deep[*]} ${peers[*]}" >&2; exit 2; }
  done
  stages=("$@")
fi
say_data
failed=() skipped=() times=()
for stage in "${stages[@]}"; do
  echo
  echo "==== $stage"
  begin=$SECONDS status=0
  "${BASH_SOURCE[0]}" --stage "$stage" || status=$?
  case $status in
    0) verdict=ok ;;
    77) verdict=SKIPPED; skipped+=("$stage") ;; # what it needs cannot be had here; it has said what
    *) verdict=FAILED; failed+=("$stage") ;;
  esac
  times+=("$stage $((SECONDS - begin)) s")
  echo "==== $stage: $verdict, $((SECONDS - begin)) s"
  [ "$stage $verdict" != "deps FAILED" ] || break # without them nothing else can say anything
done

echo
say_data
[ ${#skipped[@]} -eq 0 ] || say_loudly "SKIPPED: ${skipped[*]}. This run shows less than a full one."
printf -v line '%s, ' "${times[@]}"
echo "Times: ${line%, }"
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]} (of ${#stages[@]} stages, $SECONDS s)"
  exit 1
fi
echo "$((${#stages[@]} - ${#skipped[@]})) of ${#stages[@]} stages passed in $SECONDS s"
