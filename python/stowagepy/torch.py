"""PyTorch: graphs of what it traces, and the memory of a training step before it runs.

Torch itself is imported only when something of it is given.
"""

from stowagepy._estimate import Estimate, Share, estimate
from stowagepy._from_torch import from_torch

__all__ = ["Estimate", "Share", "estimate", "from_torch"]
