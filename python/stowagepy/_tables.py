"""Tables of rows as files, and what changed between two of them."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stowagepy._errors import FileError, ParseError
from stowagepy._packages import needed
from stowagepy._rows import COLUMNS, Row

_NEEDED = ("input", "dims", "options", "peak")


def to_csv(rows: Sequence[Row]) -> str:
    """As `stowage sweep --out table.csv` writes it."""
    lines = [",".join(COLUMNS)]
    lines += [",".join(_field(row[column]) for column in COLUMNS) for row in rows]
    return "\n".join(lines) + "\n"


def to_json_lines(rows: Sequence[Row]) -> str:
    """As `stowage sweep --out table.jsonl` writes it."""
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


def _field(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value)
    quoted = any(each in text for each in ',"\r\n') or text != text.strip(" ")
    return '"' + text.replace('"', '""') + '"' if quoted else text


def read_peaks(path: str) -> dict[tuple[str, str, str], int | None]:
    """By input, dims and options: the peak, of a table that was written as CSV, JSON lines or Parquet."""
    try:
        rows = list(_parquet_rows(path) if path.endswith(".parquet") else _text_rows(path))
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}", path) from None
    peaks: dict[tuple[str, str, str], int | None] = {}
    for line, row in rows:
        if not isinstance(row, dict):
            raise ParseError(f"{path}:{line}: this is not a JSON object", path, line)
        missing = [column for column in _NEEDED if column not in row]
        if missing:
            raise ParseError(f"{path}:{line}: this is no table of a sweep: there is no column '{missing[0]}'", path, line)
        try:
            peak = None if row["peak"] in (None, "") else int(row["peak"])
        except ValueError:
            raise ParseError(f"{path}:{line}: peak: {row['peak']!r} is not a number of bytes", path, line) from None
        peaks[(row["input"], row["dims"], row["options"])] = peak
    return peaks


def _text_rows(path: str) -> Iterator[tuple[int, Row]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        if not file.read(1).startswith("{"):
            file.seek(0)
            table = csv.DictReader(file)
            if table.fieldnames is None or "input" not in table.fieldnames:
                raise ParseError(f"{path}:1: this is no table of a sweep: there is no column 'input'", path, 1)
            for entry in table:
                yield table.line_num, entry
            return
        file.seek(0)
        for line, text in enumerate(file, 1):
            try:
                row = json.loads(text)
            except ValueError:
                raise ParseError(f"{path}:{line}: this is not a JSON object", path, line) from None
            yield line, row


def _parquet_rows(path: str) -> Iterator[tuple[int, Row]]:
    parquet = needed("pyarrow.parquet")
    try:
        table = parquet.read_table(path)
    except ValueError as error:  # what Arrow raises
        raise ParseError(f"{path}: {error}", path) from None
    for at, row in enumerate(table.to_pylist()):
        yield at + 1, row


@dataclass
class Changes:
    """What became of the peaks of an earlier table: lines of text."""

    grew: list[tuple[str, int, int]]  # the row in words, its peak before and now
    lost: list[str]
    new: int


def changes(before: dict[tuple[str, str, str], int | None], rows: Sequence[Row]) -> Changes:
    result = Changes([], [], 0)
    for row in rows:
        key = (row["input"], row["dims"], row["options"])
        if key not in before:
            result.new += 1
            continue
        name = " ".join([key[0], *(text for text in key[1:] if text != "{}")])
        old, now = before[key], row["peak"]
        if old is not None and now is None:
            result.lost.append(f"{name}: {old} bytes before, now {row['error'] or row['status']}")
        elif old is not None and now > old:
            result.grew.append((name, old, now))
    return result


def beyond(found: Changes, exceeds: Callable[[int, int], bool]) -> list[str]:
    """The rows that grew by more than allowed, or have no peak any more."""
    lines = [
        f"{name}: from {old} to {now} bytes" + (f" ({100 * (now - old) / old:+.2f}%)" if old else "")
        for name, old, now in found.grew
        if exceeds(old, now)
    ]
    return lines + found.lost


def write(path: str, rows: Sequence[Row]) -> None:
    """By its suffix. The old file stays until the new one is complete."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        if path.endswith(".parquet"):
            _write_parquet(temporary, rows)
        else:
            with open(temporary, "w", encoding="utf-8", newline="") as file:
                file.write(to_json_lines(rows) if path.endswith(".jsonl") else to_csv(rows))
        os.replace(temporary, path)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}", path) from None
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def _write_parquet(path: str, rows: Sequence[Row]) -> None:
    from stowagepy._fleet import table_of

    needed("pyarrow.parquet").write_table(table_of(rows), path)
