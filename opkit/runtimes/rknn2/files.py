"""The files of RKNN-Toolkit2 in a repository: the callbacks, the plugin, the converter's files."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.files import copies
from opkit.runtimes.files import Files, RuntimeTexts
from opkit.runtimes.rknn2 import converter as converters
from opkit.runtimes.rknn2.c_files import c_files
from opkit.runtimes.rknn2.describe import DESCRIBE
from opkit.runtimes.rknn2.readme import readme
from opkit.runtimes.rknn2.settings import settings


def _texts(spec: OpSpec) -> RuntimeTexts:
    converter = "" if settings(spec).is_standard else DESCRIBE.converter
    return RuntimeTexts(readme=readme(spec), converter=converter)


def _generated(spec: OpSpec, reference: str) -> dict[str, str]:
    return {
        **copies.headers("runtimes/rknn2/*.h"),
        **copies.declarations("runtimes/rknn2/include", "include/librknnrt"),
        **c_files(spec),
        **converters.files(spec),
    }


FILES = Files(texts=_texts, generated=_generated)
