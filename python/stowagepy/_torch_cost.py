"""How long an op takes: the larger of its arithmetic and its traffic on one large GPU."""

from __future__ import annotations

from typing import Any

# In a nanosecond. What an op really takes differs by small factors; only ratios matter for rewriting.
FLOPS = 500_000.0
BYTES = 3_000.0


def flops_of(target: Any, args: Any, kwargs: Any, out: Any) -> int:
    """The floating point operations of matrix products, convolutions and attention; 0 for what moves bytes."""
    from torch.utils import flop_counter

    packet = getattr(target, "overloadpacket", None)
    formula = flop_counter.flop_registry.get(packet)
    try:
        if formula is not None:
            return int(formula(*args, **kwargs, out_val=out))
        return _attention_flops(getattr(packet, "__name__", ""), args)
    except (RuntimeError, AssertionError, TypeError, ValueError, IndexError):
        return 0


def _attention_flops(name: str, args: Any) -> int:
    """Of attention on a CPU, which torch has no formula for."""
    from torch.utils import flop_counter

    if name == "_scaled_dot_product_flash_attention_for_cpu":
        query, key, value = (each.shape for each in args[:3])
        return int(flop_counter.sdpa_flop_count(query, key, value))
    if name == "_scaled_dot_product_flash_attention_for_cpu_backward":
        grad, query, key, value = (each.shape for each in args[:4])
        return int(flop_counter.sdpa_backward_flop_count(grad, query, key, value))
    return 0


def cost_of(flops: int, traffic: int) -> int:
    """Nanoseconds."""
    return max(1, round(max(flops / FLOPS, traffic / BYTES)))
