#!/usr/bin/env bash
# demo.sh: a tour of the command line on the graphs in examples/. `make demo` builds it first. Leaves a report, the program and its manual page
# in build/demo, or in $STOWAGE_DEMO; $STOWAGE_BUILD is the build folder, build/release by default.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${STOWAGE_BUILD:-build/release}
demo=${STOWAGE_DEMO:-$PWD/build/demo}
stowage=$build/apps/stowage/stowage
[ -x "$stowage" ] || { echo "demo: $stowage is not built; run \`make demo\`" >&2; exit 1; }
plans=$(mktemp -d)
trap 'rm -rf "$plans"' EXIT

run() { # explanation, arguments
  echo
  echo "# $1"
  shift
  echo "\$ stowage $*" | sed "s|$plans/||g"
  "$stowage" "$@" | sed "s|$plans/||g"
}

block=examples/transformer_block.json
cnn=examples/small_cnn.json
run "Plan a transformer block: where each tensor lies, how much memory it takes, and how far that is from the proven bound." \
  plan "$block" -o "$plans/block.plan.json"
run "An independent verifier reads graph and plan, and says whether running the one with the other is safe." \
  verify "$block" "$plans/block.plan.json"
run "Each solver's answer for the same graph, side by side." compare "$block"
run "A small CNN, the figures as JSON for scripts." plan "$cnn" --json -o "$plans/cnn.plan.json"

echo
echo "# The verifier earns its keep: the CNN's plan with all tensors moved to offset 0 is refused (exit code 3)."
sed -E 's/"offset": *[0-9]+/"offset":0/g' "$plans/cnn.plan.json" >"$plans/broken.plan.json"
echo "\$ stowage verify $cnn broken.plan.json --max-findings 2"
status=0
"$stowage" verify "$cnn" "$plans/broken.plan.json" --max-findings 2 | sed "s|$plans/||g" || status=$?
[ "$status" -eq 3 ] || { echo "demo: expected exit code 3, got $status" >&2; exit 1; }
quick_start=$build/examples/quick_start
echo
echo "# Real memory: reserve for a batch of 512, then run a batch of 32 in the same buffer (examples/quick_start.cpp)."
echo "\$ quick_start"
"$quick_start"

report=${demo#"$PWD"/}/report.html
mkdir -p "$demo"
echo
echo "# The picture of it: where each tensor lies and when, why it needs what it needs, and what would have to change for 96 KiB (exit code 4: it does not fit)."
echo "\$ stowage plan $block --capacity 96KiB --html $report"
status=0
"$stowage" plan "$block" --capacity 96KiB --html "$report" >/dev/null || status=$?
[ "$status" -eq 4 ] || { echo "demo: expected exit code 4, got $status" >&2; exit 1; }

cmake --install "$build" --prefix "$demo" >/dev/null

echo
echo "The report is $demo/report.html: open it in a browser."
echo "Next: your model with \`stowage plan MODEL --capacity 64MiB --html report.html\`; \`man stowage\` or \`stowage --help\` for the rest, README.md for"
echo "the library, docs/formats.md for the files. The program and its manual page are found after: export PATH=$demo/bin:\$PATH"
