"""Search with torch, on a GPU where there is one: half-precision products, shortlists and exact
scores stay on the device.
"""

from typing import Any

from rankwell._native.products import Multiplier
from rankwell.errors import BadUsage
from rankwell.vectors.neighbours import BACKENDS, Backend, SearchTask, optional


class _Library:
    """torch, imported when it is first used, so that every module can be imported without it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(optional("torch", "torch"), name)


torch: Any = _Library()


def _open(task: SearchTask, device: str | None) -> Any:
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(1, device=device, dtype=torch.float64)
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        raise BadUsage(
            f"torch cannot use the device {device!r} ({str(error).splitlines()[0]}); leave it "
            "out, or name cpu."
        ) from error
    from rankwell.vectors.neighbours.torch_device.sweep import TorchSearch

    return TorchSearch(task, torch.device(device))


BACKENDS.add("torch", Backend(Multiplier, 262_144, 65_536, device=_open))
