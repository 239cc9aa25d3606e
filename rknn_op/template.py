"""Where the template is, with opkit in it: beside this file when installed, else in the checkout.

Importing this module puts opkit on the path.
"""

from __future__ import annotations

import sys
from pathlib import Path

_INSTALLED = Path(__file__).parent / "template"
ROOT = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
OPKIT = ROOT / "{{cookiecutter.op_name}}" / "opkit"

sys.dont_write_bytecode = True  # opkit's folder is copied as it is: nothing may be added to it
sys.path.insert(0, str(OPKIT.parent))
