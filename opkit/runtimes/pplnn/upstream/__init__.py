"""The operator in the form of ppl.nn's own operators: the content of patches for its x86 engine.

Unlike the overlay, an operator in this form is a part of ppl.nn: it has ppl.nn's license, names,
format and guards, and its math is in ppl.kernel.cpu.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from opkit import runtimes
from opkit.common.errors import OpkitError
from opkit.description.file import read_description
from opkit.runtimes.pplnn.describe import settings
from opkit.runtimes.pplnn.upstream.form import Form, filled, refusals
from opkit.runtimes.pplnn.upstream.kernel_cpu import kernel_files
from opkit.runtimes.pplnn.upstream.nn import nn_files


@dataclass(frozen=True)
class Contribution:
    """An operator for ppl.nn and ppl.kernel.cpu.

    Attributes:
        nn: path -> text of the new files in ppl.nn.
        kernel_cpu: path -> text of the new files in ppl.kernel.cpu.
        parser_lines: the lines for ppl.nn's table of parsers: includes, and the registration.
        engine_lines: those for the x86 engine's table of operators.
        classes: the names of the new classes of the engine.
    """

    nn: Mapping[str, str]
    kernel_cpu: Mapping[str, str]
    parser_lines: tuple[list[str], list[str]]
    engine_lines: tuple[list[str], list[str]]
    classes: tuple[str, ...]


def contribution(repository: Path, author: str) -> Contribution:
    """Return the operator of a repository in ppl.nn's own form.

    Raises:
        OpkitError: op.yml is invalid, or the operator does not fit into the form.
    """
    spec = runtimes.parse(read_description(repository / "op.yml"), "op.yml")
    if problems := [*refusals(spec)]:
        raise OpkitError("\n".join(problems))

    def read(path: str) -> str | None:
        file = repository / path
        return file.read_text(encoding="utf-8") if file.is_file() else None

    form = Form(spec, author, read)
    return Contribution(
        nn=nn_files(form),
        kernel_cpu=kernel_files(form),
        parser_lines=_parser_lines(form),
        engine_lines=(
            [f'#include "ppl/nn/engines/x86/optimizer/ops/{form.space}/{form.stem}_op.h"'],
            filled(
                f"    RegisterOptKernelCreator<{form.title}Op>(", _entry(form), ");"
            ).splitlines(),
        ),
        classes=(f"{form.title}Op", f"{form.title}Kernel"),
    )


def _entry(form: Form) -> list[str]:
    domain, (first, last) = settings(form.spec).domain, settings(form.spec).opset
    return [f'"{domain}"', f'"{form.spec.name}"', str(first), str(last)]


def _parser_lines(form: Form) -> tuple[list[str], list[str]]:
    if not form.spec.params:
        line = filled("    PPL_REGISTER_OP_WITHOUT_PARAM(", [*_entry(form), "nullptr"], ");")
        return [], line.splitlines()
    header = f'#include "ppl/nn/models/onnx/parsers/{form.space}/parse_{form.stem}_param.h"'
    parts = [f"{form.title}Param", f"Parse{form.title}Param", f"Pack{form.title}Param"]
    entry = [*_entry(form), *(f"ppl::nn::{form.space}::{part}" for part in parts)]
    return [header], filled("    PPL_REGISTER_OP_WITH_PARAM(", entry, ");").splitlines()
