"""A `stowage.graph/1` file, built tensor by tensor and op by op."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class GraphFile:
    """One graph with one memory. Ids are positions in `tensors` and `ops`."""

    name: str
    alignment: int
    tensors: list[dict[str, Any]] = field(default_factory=list)
    ops: list[dict[str, Any]] = field(default_factory=list)

    def tensor(
        self,
        name: str,
        size: int,
        *,
        dtype: str = "",
        shape: Sequence[int] = (),
        view_of: tuple[int, int] | None = None,
    ) -> int:
        """Adds a tensor; `view_of` is the tensor that it lies in and the offset there."""
        entry: dict[str, Any] = {"name": name, "size": size}
        if dtype:
            entry["dtype"] = dtype
        if shape:
            entry["shape"] = list(shape)
        if view_of is not None:
            entry["view_of"] = {"tensor": view_of[0], "offset": view_of[1]}
        self.tensors.append(entry)
        return len(self.tensors) - 1

    def flag(self, tensor: int, flag: str) -> None:
        flags = self.tensors[tensor].setdefault("flags", [])
        if flag not in flags:
            flags.append(flag)

    def unflag(self, tensor: int, flag: str) -> None:
        flags = self.tensors[tensor].get("flags", [])
        if flag in flags:
            flags.remove(flag)

    def op(
        self,
        name: str,
        kind: str,
        inputs: Iterable[int],
        outputs: Iterable[int],
        *,
        at: int | None = None,
        **fields: Any,
    ) -> None:
        """Adds an op, at the end or as number `at`. A field that is None, empty or False is left out."""
        entry: dict[str, Any] = {"name": name, "kind": kind, "inputs": list(inputs), "outputs": list(outputs)}
        entry.update({key: value for key, value in fields.items() if value or (key == "recompute" and value is False)})
        self.ops.insert(len(self.ops) if at is None else at, entry)

    def root(self, tensor: int) -> int:
        """The tensor whose bytes it has."""
        while "view_of" in self.tensors[tensor]:
            tensor = self.tensors[tensor]["view_of"]["tensor"]
        return tensor

    def to_json(self) -> str:
        return json.dumps(
            {
                "schema": "stowage.graph/1",
                "name": self.name,
                "memories": [{"name": "device", "alignment": self.alignment}],
                "tensors": self.tensors,
                "ops": self.ops,
            }
        )
