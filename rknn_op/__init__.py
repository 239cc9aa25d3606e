"""The command `rknn-op`: makes, builds and checks operator repositories.

Imports nothing that takes time: until `__main__` runs, Ctrl-C prints a traceback.
"""

import os
import sys

_FOLDER = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120  pathlib is slow
_INSTALLED = f"{_FOLDER}/template"
ROOT = _INSTALLED if os.path.isdir(_INSTALLED) else os.path.dirname(_FOLDER)  # noqa: PTH112, PTH120
"""The template with opkit: beside this file when installed, else the checkout."""

sys.path.insert(0, ROOT)
