"""What opkit knows of RKNN-Toolkit 1.x."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from opkit.description.reader import Reader
from opkit.description.spec import OpSpec
from opkit.description.types import ParamType
from opkit.runtimes.interface import Readme, Runtime, TestText
from opkit.runtimes.rknn import readme, settings, skeletons
from opkit.runtimes.rknn.chips import TARGETS
from opkit.runtimes.rknn.generated import generated_files
from opkit.runtimes.rknn.settings import Settings


class Rknn(Runtime):
    """RKNN-Toolkit 1.x."""

    name = settings.NAME
    title = "RKNN-Toolkit"
    frameworks = ("tensorflow",)
    targets = TARGETS
    default_target = "rk1808"
    keys = settings.KEYS
    foreign_keys = settings.PACKAGE_KEYS

    def settings(self, reader: Reader, entries: Mapping[str, yaml.Node]) -> Settings:
        """Return what `kernels` and `kernel_index` say."""
        return settings.read_settings(reader, entries)

    def refusal(self, type_: ParamType) -> str:
        """Refuse what the toolkit does not deliver."""
        if type_.delivered is not None:
            return ""
        return f"RKNN-Toolkit does not deliver it; use several {type_.element.vx_name}"

    def once_only_files(self, spec: OpSpec) -> Mapping[str, str]:
        """Return the kernels' files."""
        return skeletons.once_only_files(spec)

    def generated_files(self, spec: OpSpec, reference: str) -> Mapping[str, str]:
        """Return kernel_params[] and its reader, the toolkit's class, and the makefiles."""
        return generated_files(spec, reference)

    def required_files(self, spec: OpSpec) -> Sequence[str]:
        """Return the files of the kernels."""
        return tuple(skeletons.once_only_files(spec))

    def drift(self, root: Path, spec: OpSpec) -> Sequence[str]:
        """Compare the VX kernel with op.yml."""
        from opkit.runtimes.rknn.drift import drift

        return drift(root, spec)

    def readme(self, spec: OpSpec) -> Readme:
        """Return what is to be known of kernels, chips and the toolkit's class."""
        return readme.readme(spec)

    def tests(self, spec: OpSpec) -> TestText:
        """Return the test of the VX kernel."""
        return skeletons.tests(spec)
