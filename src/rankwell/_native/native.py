"""The compiled kernel, where the install could build it: `library` is None without it, and NumPy
does the same work.
"""

import os
from types import ModuleType

# As in _native.c. A checkout may still hold what was compiled from older sources; it is left alone
# until the next install.
INTERFACE = 8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankwell._native import _native as library
else:
    library: ModuleType | None
    try:
        from rankwell._native import _native as library
    except ImportError:
        library = None
    if (
        os.environ.get("RANKWELL_KERNEL") == "numpy"
        or getattr(library, "interface", None) != INTERFACE
    ):
        library = None


def name() -> str:
    """The implementation in use: `native` or `python`."""
    return "python" if library is None else "native"  # pyright: ignore[reportUnnecessaryComparison]
