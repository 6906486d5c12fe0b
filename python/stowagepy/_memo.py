"""What was planned before, in a file."""

from __future__ import annotations

import json
import os
import threading
from types import TracebackType
from typing import Any

from stowagepy._errors import FileError, InvalidError
from stowagepy._grid import Settings
from stowagepy._rows import FIGURES, Row

_HEADER = b'{"schema":"stowage.memo/1"}\n'

_Key = tuple[str, str, str]


class Memo:
    """Rows by what they were made of: the hash of the content, the options, and the version of the package.

    The file has a JSON object per line. A line is appended by one write, so that several processes may share the file, and what
    a crash has cut off is one line, which is ignored. Rows with an error are not kept: their cause may lie outside the content.
    """

    def __init__(self, path: str | os.PathLike[str] | None, version: str) -> None:
        self._path = None if path is None else os.fspath(path)
        self._version = version
        self._rows: dict[_Key, Row] = {}
        self._lock = threading.Lock()
        self._file: int | None = None

    def __enter__(self) -> Memo:
        if self._path is None:
            return self
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise FileError(f"{self._path}: cannot be opened: {error.strerror}", self._path) from None
        with os.fdopen(os.dup(self._file), "rb") as file:
            content = file.read()
        if content[: len(_HEADER)] != _HEADER[: len(content)]:
            raise InvalidError(f"{self._path}: this is not a memo of plan_many, so nothing is written to it", self._path)
        for line in content.splitlines():
            self._learn(line)
        if len(content) < len(_HEADER):
            if content:  # cut off
                os.ftruncate(self._file, 0)
            os.write(self._file, _HEADER)
        elif not content.endswith(b"\n"):
            os.write(self._file, b"\n")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def find(self, content_hash: str, settings: Settings) -> Row | None:
        """The figures of an earlier plan."""
        return self._rows.get((content_hash, settings.dims, settings.text))

    def keep(self, content_hash: str, settings: Settings, figures: Row) -> None:
        """Writes the figures, unless they are an error. From any thread."""
        if self._file is None or figures["error"] is not None:
            return
        key = {"version": self._version, "hash": content_hash, "dims": settings.dims, "options": settings.text}
        line = json.dumps(key | figures, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            self._rows[(content_hash, settings.dims, settings.text)] = figures
            os.write(self._file, line)

    def _learn(self, line: bytes) -> None:
        try:
            entry: dict[str, Any] = json.loads(line)
            if entry.get("version") == self._version:
                self._rows[(entry["hash"], entry["dims"], entry["options"])] = {name: entry[name] for name in FIGURES}
        except (ValueError, KeyError, AttributeError):
            return  # cut off
