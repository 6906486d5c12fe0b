"""Plans the memory of tensor graphs: the smallest peak, proven where possible, in milliseconds.

    import stowagepy
    plan = stowagepy.plan("model.onnx", capacity="6MiB", dims={"batch": 4})
    print(plan.peak, plan.proven, plan.explain())
"""

from stowagepy import executorch, torch
from stowagepy._core import Graph, Table, solvers
from stowagepy._errors import (
    DeviceError,
    Error,
    FileError,
    InternalError,
    InvalidError,
    MissingFileError,
    MissingPackageError,
    OutOfMemoryError,
    ParseError,
    UnknownNameError,
    UnsupportedError,
)
from stowagepy._estimate import Estimate, estimate
from stowagepy._fleet import plan_many
from stowagepy._load import load
from stowagepy._plan import Arena, Explanation, Finding, Options, Packing, Plan, load_plan, pack, pack_table, plan, plan_graph
from stowagepy._version import __version__
from stowagepy.torch import from_torch

__all__ = [
    "__version__",
    "Arena",
    "DeviceError",
    "Error",
    "Estimate",
    "Explanation",
    "FileError",
    "Finding",
    "Graph",
    "InternalError",
    "InvalidError",
    "MissingFileError",
    "MissingPackageError",
    "Options",
    "OutOfMemoryError",
    "Packing",
    "ParseError",
    "Plan",
    "Table",
    "UnknownNameError",
    "UnsupportedError",
    "estimate",
    "executorch",
    "from_torch",
    "load",
    "load_plan",
    "pack",
    "pack_table",
    "plan",
    "plan_graph",
    "plan_many",
    "solvers",
    "torch",
]
