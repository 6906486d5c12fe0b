"""Stowage as PyTorch's CUDA allocator:

    import stowage_torch
    stowage_torch.enable()          # before torch uses the GPU

or, for a part of a program, torch's own allocator with memory from Stowage:

    with torch.cuda.use_mem_pool(stowage_torch.pool()): ...

docs/torch.md says what works and what does not. Needs only torch and the library libstowage_torch.so.
"""

import contextlib
import ctypes
import json
import os
import pathlib

__all__ = ["enable", "is_enabled", "pool", "stats", "snapshot", "empty_cache", "reset_peaks", "iteration"]

LIBRARY = "libstowage_torch.so"
VARIABLE = "STOWAGE_TORCH_LIBRARY"

# torch's setter, and the function that it is given.
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
    """What this process has loaded. It must stay loaded as long as torch uses memory from it."""

    library = None  # ctypes.CDLL
    path = None
    allocator = None  # torch's object, once enabled
    pool_allocator = None
    options = None


def enable(plan_ahead=False, limit=None, checks=False, library=None):
    """From now on, all of torch's CUDA memory comes from Stowage.

    plan_ahead: work inside `iteration()` is recorded once and then served from a plan. limit: how many bytes of each device may be
    reserved. checks: misuse, such as a double free, aborts with a message. library: the path of libstowage_torch.so.

    Raises RuntimeError if there is no GPU, torch has already used it, or another allocator was chosen. Repeating the same call
    has no effect.
    """
    options = (bool(plan_ahead), limit, bool(checks))
    if _State.allocator is not None:
        if options != _State.options:
            raise RuntimeError("stowage_torch is already enabled with other options")
        return
    import torch

    _require_gpu(torch)
    if torch.cuda.is_initialized():
        raise RuntimeError("stowage_torch.enable() must be called before torch uses the GPU")
    backend = torch.cuda.memory.get_allocator_backend()
    if backend != "native":
        raise RuntimeError(f"torch already uses another allocator: {backend!r}")
    if limit is not None and limit <= 0:
        raise ValueError(f"a limit of {limit} bytes is not allowed")
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
    """A torch.cuda.MemPool whose memory comes from Stowage; `arguments` are passed on to MemPool.

    For programs that use torch's own allocator. Raises RuntimeError after `enable`, because torch has MemPool only for its own
    allocator. All pools share one allocator.
    """
    import torch

    _require_gpu(torch)
    if is_enabled():
        raise RuntimeError("all memory already comes from Stowage, and torch.cuda.MemPool needs torch's own allocator")
    path = _load(library)
    if _State.pool_allocator is None:
        _State.pool_allocator = torch.cuda.memory.CUDAPluggableAllocator(path, "stowage_torch_alloc_or_null", "stowage_torch_free")
    return torch.cuda.MemPool(_State.pool_allocator.allocator(), **arguments)


def stats(device=None):
    """A dictionary of a device's statistics (docs/torch.md); None if nothing was allocated on it. Default: the current device."""
    function = _function("stowage_torch_stats")
    function.restype = ctypes.c_size_t
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    number, room = _number(device), 4096
    while True:
        text = ctypes.create_string_buffer(room)
        length = function(number, text, room)
        if length < room:
            return json.loads(text.value)
        room = length + 256  # the numbers may grow until the next call


def snapshot(path):
    """Writes a snapshot of all devices' memory, for pytorch.org/memory_viz."""
    _call("stowage_torch_snapshot", os.fsencode(path))


def empty_cache():
    """Returns idle memory to the devices. torch.cuda.empty_cache() does the same once enabled."""
    _function("stowage_torch_empty_cache")()


def reset_peaks():
    """Resets peaks to the current values, and counts to 0."""
    _call("stowage_torch_reset_peaks")


@contextlib.contextmanager
def iteration():
    """One iteration of repeating work, for example a training step. Needs enable(plan_ahead=True)."""
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
        raise RuntimeError("torch sees no GPU, or was built without CUDA")


def _candidates(library):
    if library is not None:
        return [pathlib.Path(library)]
    if os.environ.get(VARIABLE):
        return [pathlib.Path(os.environ[VARIABLE])]
    return [pathlib.Path(__file__).resolve().parent / LIBRARY]


def _load(library):
    """Loads the library on the first call; returns its path."""
    if _State.library is not None:
        return _State.path
    candidates = _candidates(library)
    path = next((each for each in candidates if each.is_file()), None)
    if path is None:
        looked = ", ".join(str(each) for each in candidates)
        raise FileNotFoundError(f"{LIBRARY} not found: looked at {looked}; set its path with enable(library=…) or {VARIABLE}")
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
