#!/usr/bin/env bash
# ggml_models.sh LLAMA_SOURCE LLAMA_BIN: an unmodified llama.cpp with the drop-in preloaded. Its own test-alloc, and tiny random models of
# every architecture that its test-llama-archs makes: logits with ggml's allocator and with ours, every plan verified, must be the same.
#
# LLAMA_BIN is where its shared build has libllama.so, libggml-base.so, test-alloc and test-llama-archs. JOBS (2) parallel jobs.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
source=$(realpath "$1") bin=$(realpath "$2")
cd "$(dirname "$0")/.."
export LD_LIBRARY_PATH=$bin

cmake --preset release -DSTOWAGE_GGML_SOURCE="$source/ggml" -DSTOWAGE_LLAMA_LIBRARY="$bin/libllama.so" >/dev/null
cmake --build --preset release -j "${JOBS:-2}" --target stowage_ggml stowage_llama_logits >/dev/null
preload=$PWD/build/release/adapters/ggml/libstowage_ggml.so logits=$PWD/build/release/adapters/ggml/stowage_llama_logits
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

LD_PRELOAD=$preload "$bin/test-alloc" >"$work/alloc" 2>&1 || { tail -20 "$work/alloc" >&2; exit 1; }
echo "test-alloc: $(grep -c PASSED "$work/alloc") passed"

mkdir "$work/models"
"$bin/test-llama-archs" -o "$work/models" >/dev/null 2>&1
line() { # model: what it says, with an encoder's batch size where llama.cpp refuses the smaller one
  local said size
  for size in 64 512; do
    if said=$("$logits" "$1" $size 2>/dev/null); then echo "$said"; return; fi
  done
  echo "$(basename "$1") does not run"
}
models=0 ran=0 different=0
for model in "$work"/models/*.gguf; do
  stock=$(line "$model")
  ours=$(LD_PRELOAD=$preload STOWAGE_GGML_VERIFY=1 line "$model")
  models=$((models + 1))
  [[ $stock == *"does not run" ]] || ran=$((ran + 1))
  [ "$stock" = "$ours" ] || { different=$((different + 1)); echo "stock: $stock; ours: $ours"; }
done
echo "$models models, $ran of them run, $different different"
[ "$ran" -gt 0 ] && [ "$different" -eq 0 ]
