"""What goes wrong, as exceptions."""

from __future__ import annotations

import re

_TENSOR = re.compile(r"\btensor '([^']*)'")
_OP = re.compile(r"\bop '([^']*)'")


class Error(Exception):
    """Any failure that is not a bug of the caller's Python. What is not known of its place is None."""

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        path: str | None = None,
        op: str | None = None,
        tensor: str | None = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.path = path  # inside the file: "tensors[3].size"
        self.op = op
        self.tensor = tensor

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (str(self), self.file, self.line, self.path, self.op, self.tensor))


class FileError(Error, OSError):
    """A file could not be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file."""


class ParseError(Error, ValueError):
    """The bytes are not what the format says."""


class InvalidError(Error, ValueError):
    """Well-formed, but it breaks a rule: a cycle, a view outside its base, a contradiction of options."""


class UnsupportedError(Error):
    """Correct, but not something that this version can do."""


class UnknownNameError(Error, LookupError):
    """A solver, option value, dim or tensor was named that does not exist."""


class MissingPackageError(Error, ImportError):
    """Something needs a package that is not installed; the message says how to install it."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory for the work itself."""


class DeviceError(Error):
    """The operating system or a device failed."""


class InternalError(Error):
    """A bug of Stowage. Please report it."""


_CLASSES: dict[str, type[Error]] = {
    "io": FileError,
    "parse": ParseError,
    "invalid": InvalidError,
    "unsupported": UnsupportedError,
    "unknown_name": UnknownNameError,
    "out_of_memory": OutOfMemoryError,
    "device": DeviceError,
}


def make(code: str, message: str, text: str, file: str, line: int | None, path: str) -> Error:
    """The exception for an error of the C++ library; `text` is the message with its place."""
    tensor = _TENSOR.search(message)
    op = _OP.search(message)
    return _CLASSES.get(code, InternalError)(
        text,
        file or None,
        line,
        path or None,
        op[1] if op else None,
        tensor[1] if tensor else None,
    )
