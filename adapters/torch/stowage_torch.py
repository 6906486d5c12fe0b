"""Stowage as PyTorch's allocator on CUDA:

    import stowage_torch
    stowage_torch.enable()          # before anything of torch uses the GPU

or, for a part of a program, torch's own allocator with memory from Stowage:

    with torch.cuda.use_mem_pool(stowage_torch.pool()): ...

docs/torch.md says what works and what does not. Needs torch and the library libstowage_torch.so, nothing else.
"""

import contextlib
import ctypes
import json
import os
import pathlib

__all__ = ["enable", "is_enabled", "pool", "stats", "snapshot", "empty_cache", "reset_peaks", "iteration"]

LIBRARY = "libstowage_torch.so"
VARIABLE = "STOWAGE_TORCH_LIBRARY"

# torch's setter, and the function that it gets.
HOOKS = {
    "set_record_stream_fn": "stowage_torch_record_stream",
    "set_begin_allocate_to_pool": "stowage_torch_begin_pool",
    "set_end_allocate_to_pool_fn": "stowage_torch_end_pool",
    "set_release_pool": "stowage_torch_release_pool",
    "set_reset_fn": "stowage_torch_empty_cache",
    "set_memory_fraction_fn": "stowage_torch_memory_fraction",
}


class _Options(ctypes.Structure):
    _fields_ = [("limit", ctypes.c_int64), ("plan_ahead", ctypes.c_int), ("checks", ctypes.c_int)]


class _State:
    """What this process has loaded; nothing of it may go as long as torch has memory of it."""

    library = None  # ctypes.CDLL
    path = None
    allocator = None  # torch's object, once enabled
    pool_allocator = None
    options = None


def enable(plan_ahead=False, limit=None, checks=False, library=None):
    """Has all of torch's CUDA memory come from Stowage, from now on.

    plan_ahead: work inside of `iteration()` is recorded once and then served from a plan. limit: bytes of each device that may be
    reserved. checks: a double free and the like abort with a message. library: the path of libstowage_torch.so.

    RuntimeError where there is no GPU, torch has used it already, or another allocator was chosen. Once enabled, the same call
    again does nothing.
    """
    options = (bool(plan_ahead), limit, bool(checks))
    if _State.allocator is not None:
        if options != _State.options:
            raise RuntimeError("stowage_torch is enabled already, with other options")
        return
    import torch

    _require_gpu(torch)
    if torch.cuda.is_initialized():
        raise RuntimeError("stowage_torch.enable() must come before anything of torch uses the GPU")
    backend = torch.cuda.memory.get_allocator_backend()
    if backend != "native":
        raise RuntimeError(f"torch has another allocator already: {backend!r}")
    if limit is not None and limit <= 0:
        raise ValueError(f"a limit of {limit} bytes")
    path = _load(library)
    given = _Options(limit or 0, bool(plan_ahead), bool(checks))
    _call("stowage_torch_configure", ctypes.byref(given))
    allocator = torch.cuda.memory.CUDAPluggableAllocator(path, "stowage_torch_alloc", "stowage_torch_free")
    for setter, function in HOOKS.items():
        address = ctypes.cast(getattr(_State.library, function), ctypes.c_void_p).value
        getattr(allocator.allocator(), setter)(address)
    torch.cuda.memory.change_current_allocator(allocator)
    _State.allocator, _State.options = allocator, options


def is_enabled():
    return _State.allocator is not None


def pool(library=None, **arguments):
    """A torch.cuda.MemPool whose memory comes from Stowage; `arguments` are MemPool's own.

    It is for programs with torch's own allocator: torch has no MemPool without it, so that RuntimeError comes once `enable` was
    called. All pools share one allocator.
    """
    import torch

    _require_gpu(torch)
    if is_enabled():
        raise RuntimeError("all memory comes from Stowage already, and torch.cuda.MemPool needs torch's own allocator")
    path = _load(library)
    if _State.pool_allocator is None:
        _State.pool_allocator = torch.cuda.memory.CUDAPluggableAllocator(path, "stowage_torch_alloc_or_null", "stowage_torch_free")
    return torch.cuda.MemPool(_State.pool_allocator.allocator(), **arguments)


def stats(device=None):
    """A device's figures, by name (docs/torch.md); None where nothing was allocated on it. Default: the current device."""
    function = _function("stowage_torch_stats")
    function.restype = ctypes.c_size_t
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    number, room = _number(device), 4096
    while True:
        text = ctypes.create_string_buffer(room)
        length = function(number, text, room)
        if length < room:
            return json.loads(text.value)
        room = length + 256  # they may have grown


def snapshot(path):
    """Writes what lies where, of all devices, for pytorch.org/memory_viz."""
    _call("stowage_torch_snapshot", os.fsencode(path))


def empty_cache():
    """Returns idle memory to the devices. torch.cuda.empty_cache() does the same once enabled."""
    _function("stowage_torch_empty_cache")()


def reset_peaks():
    """Peaks are now what is live and reserved now, and counts are 0."""
    _call("stowage_torch_reset_peaks")


@contextlib.contextmanager
def iteration():
    """One round of work that repeats itself, a training step say. Needs enable(plan_ahead=True)."""
    if not (_State.options and _State.options[0]):
        raise RuntimeError("iterations need stowage_torch.enable(plan_ahead=True)")
    _call("stowage_torch_begin_iteration")
    try:
        yield
    finally:
        _call("stowage_torch_end_iteration")


# ------------------------------------------------------------------------------------------------------------------ below


def _require_gpu(torch):
    if not torch.cuda.is_available():
        raise RuntimeError("torch sees no GPU, or is built without CUDA")


def _candidates(library):
    if library is not None:
        return [pathlib.Path(library)]
    if os.environ.get(VARIABLE):
        return [pathlib.Path(os.environ[VARIABLE])]
    return [pathlib.Path(__file__).resolve().parent / LIBRARY]


def _load(library):
    """Loads the library, once; its path."""
    if _State.library is not None:
        return _State.path
    candidates = _candidates(library)
    path = next((each for each in candidates if each.is_file()), None)
    if path is None:
        looked = ", ".join(str(each) for each in candidates)
        raise FileNotFoundError(f"there is no {LIBRARY}: looked at {looked}; enable(library=…) or {VARIABLE} names another place")
    _State.path = str(path.resolve())
    _State.library = ctypes.CDLL(_State.path)
    return _State.path


def _function(name):
    if _State.library is None:
        raise RuntimeError("stowage_torch is not in use: call enable() or pool() first")
    return getattr(_State.library, name)


def _call(name, *arguments):
    if _function(name)(*arguments) != 0:
        reason = _function("stowage_torch_last_error")
        reason.restype = ctypes.c_char_p
        raise RuntimeError(f"Stowage: {reason().decode()}")


def _number(device):
    if isinstance(device, int):
        return device
    import torch

    if device is None:
        return torch.cuda.current_device()
    index = torch.device(device).index
    return torch.cuda.current_device() if index is None else index
