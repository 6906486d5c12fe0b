"""python -m stowagepy sweep: `stowage sweep`, on top of `plan_many`; it also writes Parquet."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from stowagepy import _core
from stowagepy._errors import Error, InvalidError, UnknownNameError
from stowagepy._fleet import plan_rows
from stowagepy._grid import entries_of, settings_of
from stowagepy._packages import needed
from stowagepy._rows import Row
from stowagepy._tables import beyond, changes, read_peaks, to_csv, write
from stowagepy._version import __version__

DONE, ERROR, USAGE, GREW, INTERRUPTED = 0, 1, 2, 6, 130

_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_EPILOG = """Exit codes: 0 done, 1 error, 2 usage, 6 grew, 130 stopped by Ctrl-C.
Example: python -m stowagepy sweep models/*.onnx --dim batch=1,2,4 --out table.parquet --memo fleet.memo"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return _sweep(options)
    except Error as error:
        return _say(ERROR, str(error))
    except KeyboardInterrupt:
        return _say(INTERRUPTED, "stopped")


def _sweep(options: argparse.Namespace) -> int:
    wrong = _contradiction(options)
    if wrong is not None:
        return _say(USAGE, wrong)
    if options.out is not None and options.out.endswith(".parquet"):
        needed("pyarrow.parquet")  # before the work, not after it
    before = None if options.baseline is None else read_peaks(options.baseline)
    rows = plan_rows(options.inputs, _grid(options), memo=options.memo, jobs=options.jobs)
    if options.out in (None, "-"):
        sys.stdout.write(to_csv(rows))
    else:
        write(options.out, rows)
    return _failures(options, rows) or _growth(options, before, rows)


def _contradiction(options: argparse.Namespace) -> str | None:
    """Why the options make no sense, before any work."""
    if options.fail_if_grows is not None and options.baseline is None:
        return "--fail-if-grows needs --baseline"
    names = [name for name, _ in options.dim]
    if len(set(names)) < len(names):
        return "a dim is given twice"
    read = [name for name in (*options.inputs, options.baseline, options.memo) if name is not None]
    if options.out is not None and any(os.path.realpath(name) == os.path.realpath(options.out) for name in read if name != "-"):
        return f"'{options.out}' is an input, which is never overwritten: choose another file"
    try:
        for entry in entries_of(_grid(options)):
            settings_of(entry)
    except (InvalidError, UnknownNameError) as error:
        return str(error)
    return None


def _grid(options: argparse.Namespace) -> dict[str, Any]:
    given = {name: [value] for name, value in vars(options).items() if name in _GRID and value is not None}
    return given | {"dims": dict(options.dim), "shapes": [dict(options.shape)]}


def _failures(options: argparse.Namespace, rows: list[Row]) -> int:
    failed = [row for row in rows if row["error"] is not None]
    if not failed:
        return DONE
    code = ERROR if options.strict or len(failed) == len(rows) else DONE
    return _say(code, f"{len(failed)} of {len(rows)} row{'' if len(rows) == 1 else 's'} failed; the first: {failed[0]['error']}")


def _growth(options: argparse.Namespace, before: dict[tuple[str, str, str], int | None] | None, rows: list[Row]) -> int:
    if before is None:
        return DONE
    found = changes(before, rows)
    if rows and found.new == len(rows):
        return _say(ERROR, f"{options.baseline}: no row has the inputs, dims and options of this sweep")
    if options.fail_if_grows is None:
        lines = beyond(found, lambda old, now: True)
        return _say(DONE, f"since {options.baseline}, {len(lines)} grew:" + "".join(f"\n  {line}" for line in lines))
    text, exceeds = options.fail_if_grows
    lines = beyond(found, exceeds)
    return _say(GREW, f"grew by more than {text}:" + "".join(f"\n  {line}" for line in lines)) if lines else DONE


def _say(code: int, message: str) -> int:
    print(f"stowagepy: {message}", file=sys.stderr)
    return code


def _dim(text: str) -> tuple[str, list[int]]:
    name, _, words = text.rpartition("=")
    values = words.split(",")
    if not name or not all(map(_is_count, values)) or len(set(map(int, values))) < len(values):
        raise argparse.ArgumentTypeError(f"{text!r} is not a dim with its values, such as batch=1,2,4")
    return name, [int(value) for value in values]


def _shape(text: str) -> tuple[str, list[int]]:
    name, _, words = text.rpartition("=")
    values = words.split("x") if words else []
    if not name or not all(map(_is_count, values)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a shape such as image=1x3x224x224")
    return name, [int(value) for value in values]


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _count(text: str) -> int:
    if not _is_count(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(text)


def _switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither on nor off")
    return text == "on"


def _time(text: str) -> float | None:
    if text == "none":
        return None
    number = text.rstrip("msu")
    try:
        seconds = float(number) * _SECONDS[text[len(number) :] or "s"]
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 500ms, 2s or 1m") from None
    return seconds


def _growth_limit(text: str) -> tuple[str, Callable[[int, int], bool]]:
    try:
        if text.endswith("%") and 0 <= (share := float(text[:-1]) / 100):
            return text, lambda old, now: now - old > share * old
    except ValueError:
        pass
    size = _core.parse_bytes(text)
    if size is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a percentage such as 2% nor a size such as 1MiB")
    return text, lambda old, now: now - old > size


def _out(text: str) -> str:
    if text != "-" and not text.endswith((".csv", ".jsonl", ".parquet")):
        raise argparse.ArgumentTypeError(f"{text!r}: it can be .csv, .jsonl or .parquet")
    return text


def _html(text: str) -> str:
    raise argparse.ArgumentTypeError(f"the program writes pages: stowage sweep … --html {text}")


# The options of a grid: the name on the command line, the one in Python, and how argparse reads it.
_WORDS: list[tuple[str, str, dict[str, Any]]] = [
    ("--capacity", "capacity", {"metavar": "SIZE"}),
    ("--capacity-total", "capacity_total", {"metavar": "SIZE"}),
    ("--alignment", "alignment", {"metavar": "SIZE"}),
    ("--views", "views", {"type": _switch, "metavar": "on|off"}),
    ("--fold", "fold", {"type": _switch, "metavar": "on|off"}),
    ("--limit", "limit", {"type": _count, "metavar": "N"}),
    ("--solver", "solver", {"choices": _core.solvers(), "metavar": "NAME"}),
    ("--time-limit", "time_limit", {"type": _time, "metavar": "TIME"}),
    ("--node-budget", "node_budget", {"type": _count, "metavar": "N"}),
    ("--threads", "threads", {"type": _count, "metavar": "N"}),
    ("--seed", "seed", {"type": _count, "metavar": "N"}),
    ("--in-place", "in_place", {"type": _switch, "metavar": "on|off"}),
    ("--keep-inputs", "keep_inputs", {"action": "store_true", "default": None}),
    ("--no-reuse", "no_reuse", {"action": "store_true", "default": None}),
    ("--zero-fill", "zero_fill", {"choices": ("central", "separate")}),
    ("--base", "base", {"choices": ("fixed", "refreshable")}),
    ("--region-limit", "region_limit", {"metavar": "SIZE"}),
    ("--padding", "padding", {"choices": ("own", "none")}),
    ("--batch-start", "batch_start", {"choices": ("free", "same")}),
    ("--fuse-inputs", "fuse_inputs_up_to", {"metavar": "SIZE"}),
    ("--memory-priority", "memory_priority", {"action": "store_true", "default": None}),
]
_GRID = {name for _, name, _ in _WORDS}


def _parser() -> argparse.ArgumentParser:
    program = argparse.ArgumentParser("python -m stowagepy", description=__doc__)
    program.add_argument("--version", action="version", version=f"stowagepy {__version__}")
    sweep = program.add_subparsers(required=True, metavar="COMMAND").add_parser(
        "sweep",
        help="plan many inputs at many sizes",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    sweep.add_argument("inputs", nargs="+", metavar="INPUTS")
    sweep.add_argument("--dim", action="append", default=[], type=_dim, metavar="NAME=N,N,…", help="the values of a symbolic dim")
    sweep.add_argument("--shape", action="append", default=[], type=_shape, metavar="NAME=1x3x8")
    sweep.add_argument("-o", "--out", type=_out, metavar="FILE", help=".csv, .jsonl or .parquet; otherwise CSV on standard output")
    sweep.add_argument("--memo", metavar="FILE", help="remembers what was planned")
    sweep.add_argument("--baseline", metavar="FILE", help="an earlier table")
    sweep.add_argument("--fail-if-grows", type=_growth_limit, metavar="N%|SIZE", help="since the baseline: exit with 6")
    sweep.add_argument("--strict", action="store_true", help="exit with 1 when any row has an error, not only when all have")
    sweep.add_argument("--jobs", type=_count, metavar="N", help="threads; by default one per processor")
    sweep.add_argument("--html", type=_html, help=argparse.SUPPRESS)
    for flag, name, how in _WORDS:
        sweep.add_argument(flag, dest=name, **how)
    return program


if __name__ == "__main__":
    sys.exit(main())
