"""What torch knows of a tensor without computing it: its bytes, and whose bytes they are."""

from __future__ import annotations

import math
from typing import Any

from stowagepy._errors import UnsupportedError

# Ops that return their input, or a view of it, without saying so in their schema.
_SILENT_VIEWS = frozenset({"aten::_unsafe_view", "aten::dropout", "aten::feature_dropout", "aten::alpha_dropout"})


def whole(number: Any) -> int:
    """An int, or the value that a symbolic size had in the example."""
    if isinstance(number, int):
        return number
    hint = getattr(getattr(number, "node", None), "hint", None)
    if hint is None:
        raise UnsupportedError(f"the size {number} depends on data, which nothing is known of before it runs")
    return int(hint)


def shape_of(tensor: Any) -> list[int]:
    return [whole(size) for size in tensor.shape]


def strides_of(tensor: Any) -> list[int] | None:
    """None for what has no strides, such as a sparse tensor."""
    try:
        return [whole(stride) for stride in tensor.stride()]
    except (RuntimeError, AttributeError, TypeError):
        return None


def extent_of(tensor: Any) -> int:
    """The bytes from its first element to its last, with the gaps between them."""
    shape, strides = shape_of(tensor), strides_of(tensor)
    if 0 in shape:
        return 0
    if strides is None:
        return math.prod(shape) * int(tensor.itemsize)
    return (1 + sum((size - 1) * stride for size, stride in zip(shape, strides))) * int(tensor.itemsize)


def start_of(tensor: Any) -> int:
    """The bytes before it in its storage."""
    try:
        return whole(tensor.storage_offset()) * int(tensor.itemsize)
    except (RuntimeError, NotImplementedError, AttributeError):
        return 0


def storage_key(tensor: Any) -> int | None:
    """The same for tensors that share their bytes; None if torch does not tell."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError, AttributeError):
        return None


def dtype_of(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def same_layout(one: Any, other: Any) -> bool:
    """Whether element i of one is where element i of the other is, and each has all bytes between."""
    if one.dtype != other.dtype or shape_of(one) != shape_of(other) or strides_of(one) is None:
        return False
    return strides_of(one) == strides_of(other) and extent_of(one) == math.prod(shape_of(one)) * int(one.itemsize)


def schema_of(target: Any) -> Any:
    """The schema of an operator; None for a Python function."""
    return getattr(target, "_schema", None)


def has_tag(target: Any, name: str) -> bool:
    import torch

    return getattr(torch.Tag, name, None) in getattr(target, "tags", ())


def may_view(target: Any) -> bool:
    """Whether an output of the op may be bytes of an input that it does not write."""
    import torch

    schema = schema_of(target)
    if schema is None:
        return False
    if schema.name in _SILENT_VIEWS:
        return True
    if any(value.alias_info is not None and not value.alias_info.is_write for value in schema.returns):
        return True
    # An op that is made of others does what those do.
    return bool(target.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd))


def written_arguments(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments that the op writes to."""
    schema = schema_of(target)
    if schema is None:
        return []
    written = []
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        if argument.name in kwargs:
            written.append(kwargs[argument.name])
        elif position < len(args):
            written.append(args[position])
    return [each for each in written if each is not None]


def on_meta(tensor: Any, start: int, storage: Any) -> Any:
    """A tensor of this shape, without data, `start` bytes after the beginning of `storage`."""
    import torch

    empty = torch.empty(0, dtype=tensor.dtype, device="meta")
    return empty.set_(storage, start // int(tensor.itemsize), shape_of(tensor), strides_of(tensor) or [])


def meta_storage(size: int) -> Any:
    import torch

    return torch.empty(size, dtype=torch.uint8, device="meta").untyped_storage()
