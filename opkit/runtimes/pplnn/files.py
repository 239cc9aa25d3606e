"""The files of PPLNN in a repository."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.runtimes.files import Files, RuntimeTexts
from opkit.runtimes.pplnn.generated import generated_files
from opkit.runtimes.pplnn.readme import readme
from opkit.runtimes.pplnn.skeletons import once_only_files


def _texts(spec: OpSpec) -> RuntimeTexts:
    return RuntimeTexts(readme=readme(spec), once_only=once_only_files(spec))


FILES = Files(
    texts=_texts,
    generated=lambda spec, _: generated_files(spec),
    required=lambda spec: tuple(once_only_files(spec)),
)
