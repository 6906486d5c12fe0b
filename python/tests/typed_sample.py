"""What a user writes, for the type checker."""

import numpy as np
import numpy.typing as npt
import stowagepy


def largest(path: str) -> tuple[int, str]:
    plan: stowagepy.Plan = stowagepy.plan(path, dims={"batch": 4}, capacity="64MiB")
    offsets: npt.NDArray[np.int64] = plan.offsets
    names: list[str] = plan.graph.tensor_names
    at = int(offsets.argmax())
    return int(offsets[at]), names[at]


def packed(lower: list[int], upper: list[int], sizes: npt.NDArray[np.int64]) -> int:
    answer = stowagepy.pack(lower, upper, sizes, joins=[(0, 1)])
    return answer.peak if answer.proven else answer.bound


def careful(path: str) -> str | None:
    try:
        return str(stowagepy.plan(path).explain(capacity=1 << 20))
    except stowagepy.ParseError as error:
        return error.file


def swept(paths: list[str]) -> int:
    table = stowagepy.plan_many(paths, {"dims": {"batch": [1, 2]}, "capacity": ["6MiB"]}, memo="fleet.memo")
    rows: int = table.num_rows
    return rows
