"""OpSpec -> text: every file of an operator repository that depends on the description.

Nothing here reads or writes the repository; that is opkit.repository's part.
"""

from __future__ import annotations

from opkit.runtimes.rknn.description import package_description
from opkit.runtimes.rknn.generated import generated_files
from opkit.runtimes.rknn.kernels import missing_vx_kernel
from opkit.runtimes.rknn.skeletons import skeleton_files, vx_arguments, vx_file

__all__ = [
    "generated_files",
    "missing_vx_kernel",
    "package_description",
    "skeleton_files",
    "vx_arguments",
    "vx_file",
]
