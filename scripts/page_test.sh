#!/usr/bin/env bash
# page_test.sh [PROGRAM]: the viewer's modules under node, then its page and the pages that build/dev's `stowage`, or the one given, writes, in a real
# browser: Debian's chromium, or $CHROMIUM, driven by PyPI's playwright, and Debian's firefox-esr, or $FIREFOX, driven without a package (exit status 77
# when one of them cannot be had). PYTHON (python3) runs the tests; one that has playwright already needs no other.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(playwright==1.65.0)
python=${PYTHON:-python3}
folder=$PWD/build/page-packages
has_packages() { "$python" -c 'import playwright.sync_api' 2>/dev/null; }

node --test viewer/test/*.test.js
has_packages || export PYTHONPATH=$folder
if ! has_packages; then
  "$python" -m pip install -q --target "$folder" "${packages[@]}" ||
    { echo "page_test: PyPI does not give us ${packages[*]}"; exit 77; }
fi
if [ $# -eq 0 ]; then
  cmake --preset dev
  cmake --build --preset dev -j "${JOBS:-2}" --target stowage_cli
  set -- build/dev/apps/stowage/stowage
fi
# Side by side: each is a process with a browser of its own.
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
"$python" tests/page/page_test.py "$1" >"$logs/program" 2>&1 &
program=$!
"$python" tests/page/firefox_test.py "$1" >"$logs/firefox" 2>&1 &
firefox=$!
status=0
"$python" tests/page/page_test.py || status=$?
wait "$program" || status=$?
without=0
wait "$firefox" || without=$?
cat "$logs/program" "$logs/firefox"
[ "$status" -ne 0 ] || status=$without
exit "$status"
