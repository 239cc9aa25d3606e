"""The names of files, classes and functions in ppl.nn's tree.

Paths are ppl.nn's own: `src/ppl/nn/...` there is `pplnn/src/ppl/nn/...` in a repository.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from opkit.description.spec import OpSpec
from opkit.description.words import taken_by
from opkit.runtimes.pplnn.describe import settings

SOURCES = "pplnn/src"
"""The folder of a repository that stands for ppl.nn's own `src`."""

ENGINES = ("riscv", "x86")

_PPL_NAMESPACES = frozenset("arm common cuda internal ir nn onnx ppl riscv std utils x86".split())


class Names(NamedTuple):
    """The names of an operator in ppl.nn's tree.

    Attributes:
        stem: the stem of the files' names.
        title: the name in classes and functions.
        folder: the folder of the domain, and its C++ namespace.
    """

    stem: str
    title: str
    folder: str

    @property
    def param(self) -> str:
        """The path of the param struct."""
        return f"ppl/nn/params/{self.folder}/{self.stem}_param"

    @property
    def parser(self) -> str:
        """The path of the parser and the packer of attributes, without suffix."""
        return f"ppl/nn/models/onnx/parsers/{self.folder}/parse_{self.stem}_param"

    @property
    def math(self) -> str:
        """The path of the source with the functions for the engines, without suffix."""
        return f"ppl/nn/oputils/{self.folder}/{self.stem}"

    @property
    def glue(self) -> str:
        """The path of the glue to the math in C, without suffix; it does not depend on ppl.nn."""
        return f"ppl/nn/oputils/{self.folder}/{self.stem}_glue"

    @property
    def files(self) -> str:
        """The path of the header that includes the structs of the math."""
        return f"ppl/nn/oputils/{self.folder}/{self.stem}_files.h"

    @property
    def math_files(self) -> str:
        """The path of the header that includes the math."""
        return f"ppl/nn/oputils/{self.folder}/{self.stem}_math_files.h"

    def op(self, engine: str) -> str:
        """Return the path of the op of an engine, without suffix."""
        return f"ppl/nn/engines/{engine}/optimizer/ops/{self.folder}/{self.stem}_op"

    def kernel(self, engine: str) -> str:
        """Return the path of the kernel of an engine, without suffix."""
        return f"ppl/nn/engines/{engine}/kernels/{self.folder}/{self.stem}_kernel"


def names(spec: OpSpec) -> Names:
    """Return the names of an operator."""
    title = spec.name[0].upper() + spec.name[1:]
    return Names(spec.lower, title, domain_folder(settings(spec).domain))


def domain_folder(domain: str) -> str:
    """Return the folder and namespace of a domain: an identifier that is not taken."""
    folder = re.sub(r"\W", "_", domain) or "ai_onnx"
    is_taken = folder in _PPL_NAMESPACES or taken_by(folder)
    return f"{folder}_domain" if is_taken else folder
