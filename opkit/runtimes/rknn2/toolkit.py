"""The version of RKNN-Toolkit2 for simulations: the one that the tests run with."""

from __future__ import annotations

DISTRIBUTION = "rknn-toolkit2"
# .ci/rknn2_environment reads this line.
VERSION = "2.5.0"
PACKAGES = f"{DISTRIBUTION}=={VERSION} 'setuptools<81'"
"""The arguments of `pip install` in a shell. The toolkit needs pkg_resources, which newer versions
of setuptools do not have."""
