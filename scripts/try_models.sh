#!/usr/bin/env bash
# try_models.sh DIR [STOWAGE]: runs `stowage plan` and `verify` over every model under a folder, and prints how many were planned, how many were
# refused for which reason, and how many crashed, did not verify or ran out of time. Dims that files leave open get the numbers that `stowage info`
# proposes. Exit status 1 if a file crashed, did not verify or ran out of time.
# The last lines list these files; TABLE=FILE writes the outcome of every file there. SECONDS_EACH (60) limits each run, MIB_EACH (4096) its memory.
set -euo pipefail

[ $# -ge 1 ] && [ -d "$1" ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed 1d >&2; exit 2; }
program=${2:-$(dirname "$0")/../build/dev/apps/stowage/stowage}
command -v "$program" > /dev/null || { echo "try_models: there is no program $program" >&2; exit 2; }
exec python3 - "$program" "$1" "${SECONDS_EACH:-60}" "${MIB_EACH:-4096}" "${TABLE:-}" <<'PYTHON'
import collections, json, pathlib, re, resource, subprocess, sys, tempfile

program, folder, seconds, mebibytes, table = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
SUFFIXES = (".onnx", ".onnx.gz", ".tflite", ".tflite.gz")


def run(*words):
    """(exit status, output, errors); the status is None when time ran out, negative for a signal."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
    try:
        done = subprocess.run([program, *map(str, words)], capture_output=True, timeout=seconds, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None, "", "out of time"
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def general(reason):
    """A reason without what differs between models: names in quotes, numbers, shapes."""
    reason = re.sub(r"'[^']*'", "…", reason)
    reason = re.sub(r"\[[^\]]*\]", "[…]", reason)
    return re.sub(r"\d+", "N", reason.splitlines()[0] if reason else "")[:110]


def outcome(file, plan):
    """(what, reason), with "planned", "refused", "not verified", "crashed" or "out of time"."""
    code, text, errors = run("info", file, "--json")
    if code is None:
        return "out of time", "info"
    if code == 1:
        return "refused", general(errors.removeprefix("stowage: ").replace(f"{file}: ", ""))
    if code != 0:
        return "crashed", f"info: exit status {code}"
    info = json.loads(text)
    options = info["options"]
    code, _, errors = run("plan", file, "-o", plan, *options)
    if code is None:
        return "out of time", "plan"
    if code == 1 and info["unsupported"]:
        return "refused", general(info["unsupported"][0]["reason"])
    if code != 0:
        return "crashed", f"plan: exit status {code} {general(errors)}"
    code, _, errors = run("verify", file, plan, *options)
    return ("planned", "") if code == 0 else ("out of time", "verify") if code is None else ("not verified", general(errors))


files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name.endswith(SUFFIXES))
counts, lines = collections.Counter(), []
with tempfile.TemporaryDirectory() as temporary:
    for file in files:
        what, reason = outcome(file, pathlib.Path(temporary) / "plan.json")
        counts[what, reason] += 1
        lines.append((what, reason, file))
print(f"{len(files)} models")
for what in ("planned", "refused", "not verified", "crashed", "out of time"):
    found = [(count, reason) for (name, reason), count in counts.items() if name == what]
    print(f"{sum(count for count, _ in found):6} {what}")
    for count, reason in sorted(found, key=lambda each: (-each[0], each[1])):
        if reason:
            print(f"{count:10} {reason}")
bad = [(what, reason, file) for what, reason, file in lines if what not in ("planned", "refused")]
for what, reason, file in bad:
    print(f"{what}: {file}: {reason}")
if table:
    pathlib.Path(table).write_text("".join(f"{what}\t{reason}\t{file}\n" for what, reason, file in lines))
sys.exit(1 if bad else 0)
PYTHON
