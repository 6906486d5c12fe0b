"""oracle_test.py STOWAGE DIR: what we say that TFLM needs, against PyPI's tflite-micro, for every .tflite file under a folder.

For each model its interpreter is started with the model and with our planned copy. Its recording allocator must report the head and tail that the C
header states; it must start in an arena of the stated size, and how much larger that is than the smallest one is counted; the copy must give the same
bytes for the same input, and need no larger head than the model. Models that only a stranger's kernel could run must be refused or called unknown.
Prints a summary; TABLE=FILE writes the figures of each model. Exit status 1 if a statement is wrong."""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
from tflite_micro import runtime

LARGE = 1 << 24


def in_child(work):
    """What `work` prints in a process of its own, and whether it returned: TFLM may crash in a small arena."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            status = 1
            try:
                work()
                status = 0
            except Exception as error:  # noqa: BLE001: whatever it is, the parent prints it
                print(error)
            sys.stdout.flush()
            os._exit(status)
        status = os.waitpid(child, 0)[1]
        output.seek(0)
        return status == 0, output.read().decode(errors="replace")


def interpreter(model, arena):
    return runtime.Interpreter.from_bytes(model, arena_size=arena)


def reported(model):
    """Head and tail as the recording allocator says; None if TFLM cannot run the model."""
    works, text = in_child(lambda: interpreter(model, LARGE).print_allocations())
    if not works:
        return None
    return tuple(int(re.search(rf"allocation {part} (\d+)", text)[1]) for part in ("head", "tail"))


def starts_in(model, arena):
    return in_child(lambda: interpreter(model, arena))[0]


def result(model):
    """A digest of the outputs for random inputs: the same for every copy of a model."""

    def work():
        run = interpreter(model, LARGE)
        random = numpy.random.default_rng(1)
        for index in range(100):
            try:
                details = run.get_input_details(index)
            except Exception:  # noqa: BLE001: TFLM's way to say that there are no more
                break
            type_ = details["dtype"]
            shape = details["shape"]
            values = random.integers(0, 100, shape) if numpy.issubdtype(type_, numpy.integer) else random.random(shape)
            run.set_input(values.astype(type_), index)
        run.invoke()
        for index in range(100):
            try:
                print(run.get_output(index).tobytes().hex())
            except Exception:  # noqa: BLE001
                break

    works, text = in_child(work)
    return text if works else None


def stowage(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def stated(program, model, folder):
    """The copy's bytes, and the figures of the header; no figures where it says that the need is unknown."""
    header, copy = folder / "net.h", folder / "net.tflite"
    for output in (header, copy):
        code, _, errors = stowage(program, "plan", model, "-o", output)
        if code != 0:
            return None, errors
    figures = dict(re.findall(r"#define NET_(\w+) (\d+)", header.read_text()))
    return copy.read_bytes(), {name: int(value) for name, value in figures.items()}


def faults(model, copy, figures):
    """What is wrong, in words, and (own head, head, tail, arena, bytes of the arena that are too many)."""
    own = reported(model)
    if own is None:
        return ([] if "ARENA_SIZE" not in figures else ["TFLM cannot run it, but there is a figure"]), None
    if "ARENA_SIZE" not in figures:
        return ["no figure"], None
    head, tail, arena = figures["TFLM_HEAD_SIZE"], figures["TFLM_TAIL_SIZE"], figures["ARENA_SIZE"]
    planned = reported(copy)
    found = []
    if planned != (head, tail):
        found.append(f"stated head and tail {head}, {tail}; TFLM says {planned}")
    if planned and planned[0] > own[0]:
        found.append(f"the head grows from {own[0]} to {planned[0]}")
    if not starts_in(copy, arena):
        found.append(f"does not start in {arena} bytes")
    excess = 0
    while excess < arena and starts_in(copy, arena - excess - 16):
        excess += 16
    if result(model) != result(copy):
        found.append("the copy computes something else")
    return found, (own[0], head, tail, arena, excess)


def main():
    program, root = sys.argv[1], pathlib.Path(sys.argv[2])
    models = sorted(file for file in root.rglob("*.tflite") if file.is_file())
    counts, lines, wrong, worst = collections.Counter(), [], 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        for file in models:
            copy, figures = stated(program, file, pathlib.Path(temporary))
            if copy is None:
                counts["refused"] += 1
                print(f"{file}: refused: {figures.strip()}")
                continue
            found, row = faults(file.read_bytes(), copy, figures)
            for fault in found:
                print(f"{file}: {fault}")
            wrong += bool(found)
            if row is None:
                counts["unknown here, and not run by TFLM's interpreter"] += not found
                continue
            counts["head and tail as stated, and the arena suffices"] += not found
            counts["no smaller arena suffices" if row[4] == 0 else "the arena could be smaller"] += 1
            worst = max(worst, row[4])
            counts["smaller head" if row[1] < row[0] else "equal head" if row[1] == row[0] else "larger head"] += 1
            lines.append("\t".join(map(str, (file.relative_to(root), *row))))
    print(f"{len(models)} models")
    for what, count in sorted(counts.items(), key=lambda each: -each[1]):
        print(f"{count:6} {what}")
    print(f"{worst:6} bytes of an arena are too many, at most")
    if table := os.environ.get("TABLE"):
        pathlib.Path(table).write_text("model\town head\thead\ttail\tarena\ttoo many\n" + "\n".join(lines) + "\n")
    if not models or wrong:
        sys.exit(f"{wrong} models differ" if models else "no models")


main()
