"""The operator's own C and C++ sources."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.errors import OpkitError
from opkit.toolchains.flags import is_cxx


def kernel_sources(spec: OpSpec) -> list[str]:
    """Return the paths of the sources, the kernel list's first.

    Raises:
        OpkitError: op.yml lists the file of the kernel list, which is compiled anyway.
    """
    kernel = f"rknn_kernel_{spec.lower}.c"
    for source in spec.sources:
        if source.path == kernel:
            raise OpkitError(
                f"{source.where}: {kernel} is compiled anyway; delete it from the list"
            )
    return [kernel, *(source.path for source in spec.sources)]


def has_cxx(spec: OpSpec) -> bool:
    """Return whether any of the sources is C++."""
    return any(is_cxx(source.path) for source in spec.sources)
