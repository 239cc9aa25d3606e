"""The files of RKNN-Toolkit 1.x in a repository."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opkit.complaint import Complaint
from opkit.description.spec import OpSpec
from opkit.runtimes.files import Files, RuntimeTexts
from opkit.runtimes.rknn import skeletons
from opkit.runtimes.rknn.describe import DESCRIBE
from opkit.runtimes.rknn.elementwise import generated_vx
from opkit.runtimes.rknn.generated import generated_files
from opkit.runtimes.rknn.readme import readme

_REFERENCE_RULES = (
    "Its own Python is 3.5 to 3.8: no f-strings, no annotations, and nothing but numpy and the "
    "standard library."
)


def _texts(spec: OpSpec) -> RuntimeTexts:
    return RuntimeTexts(
        readme=readme(spec),
        tests=skeletons.tests(spec),
        once_only=skeletons.once_only_files(spec),
        converter=DESCRIBE.converter,
        reference_rules=_REFERENCE_RULES,
    )


def _drift(root: Path, spec: OpSpec, cache: Path) -> Sequence[Complaint]:
    # A new repository, which has no drift, need not wait for the reader of VX kernels.
    from opkit.runtimes.rknn.drift import drift

    return drift(root, spec, cache)


FILES = Files(
    texts=_texts,
    generated=generated_files,
    from_scalar=generated_vx,
    required=lambda spec: tuple(skeletons.once_only_files(spec)),
    drift=_drift,
)
