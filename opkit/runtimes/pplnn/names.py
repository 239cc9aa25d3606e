"""How files, classes and functions in ppl.nn's tree are called.

Paths are ppl.nn's own: what is `src/ppl/nn/...` there is `pplnn/src/ppl/nn/...` in a repository.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from opkit.description.spec import OpSpec
from opkit.description.words import taken_by
from opkit.runtimes.pplnn.settings import settings

SOURCES = "pplnn/src"
"""The folder of a repository that stands for ppl.nn's own `src`."""

ENGINES = ("riscv", "x86")

_PPL_NAMESPACES = frozenset("arm common cuda internal ir nn onnx ppl riscv std utils x86".split())


@dataclass(frozen=True)
class Names:
    """The names of an operator in ppl.nn's tree.

    Attributes:
        stem: what files are called.
        title: what classes and functions are called.
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
        """The path of what engines call, without suffix."""
        return f"ppl/nn/oputils/{self.folder}/{self.stem}"

    @property
    def glue(self) -> str:
        """The path of what calls the math in C, without suffix; it knows nothing of ppl.nn."""
        return f"ppl/nn/oputils/{self.folder}/{self.stem}_glue"

    @property
    def files(self) -> str:
        """The path of the header that says where the structs of the math are."""
        return f"ppl/nn/oputils/{self.folder}/{self.stem}_files.h"

    @property
    def math_files(self) -> str:
        """The path of the header that says where the math itself is."""
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
    """Return the folder and namespace of a domain: an identifier that means nothing else."""
    folder = re.sub(r"\W", "_", domain) or "ai_onnx"
    is_taken = folder in _PPL_NAMESPACES or taken_by(folder)
    return f"{folder}_domain" if is_taken else folder
