"""OpSpec -> text: every file of an operator repository that depends on the description.

Nothing here reads or writes the repository; that is opkit.repository's part.
"""

from __future__ import annotations

from opkit.emit.description import package_description
from opkit.emit.generated import generated_files
from opkit.emit.skeletons import skeleton_files, vx_arguments

__all__ = ["generated_files", "package_description", "skeleton_files", "vx_arguments"]
