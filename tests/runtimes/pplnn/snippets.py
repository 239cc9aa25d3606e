"""Code that ppl.nn's headers refuse, and code beside it that they take.

Ours and the real ones are held to both: whatever ours take that the real ones refuse is an operator
that is right here and does not compile in ppl.nn.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.runtimes.pplnn.engines import STRICT, cxx


@dataclass(frozen=True)
class Snippet:
    """A statement that is refused.

    Attributes:
        includes: what the source includes.
        refused: the statement.
        accepted: the statement that differs from it in nothing but the mistake.
        more: what the source includes for it, too.
    """

    includes: tuple[str, ...]
    refused: str
    accepted: str
    more: tuple[str, ...] = ()


_OF_MATH = ("ppl/common/retcode.h", "ppl/nn/common/input_output_info.h", "ppl/nn/ir/attr.h")
_LOG = ("ppl/nn/common/logger.h", "ppl/nn/models/onnx/param_parser_manager.h")
_ENUM = "::onnx::AttributeProto_AttributeType_INT"
_TENSOR = "info.GetInput<ppl::nn::TensorImpl>(0)->GetShape();"
_PARSERS = "ppl::nn::onnx::ParamParserManager"
_KERNEL = (
    "struct Kernel : ppl::nn::KernelImpl { Kernel() : KernelImpl(nullptr) {} "
    "ppl::common::RetCode Execute(ppl::nn::KernelExecContext *) override { return 0; }"
)
_RESHAPE = "ppl::common::RetCode Reshape(ppl::nn::InputOutputInfo *) const override { return 0; }"

SNIPPETS = {
    "enum in a log line": Snippet(
        _LOG, f"LOG(ERROR) << {_ENUM};", f"LOG(ERROR) << static_cast<int32_t>({_ENUM});"
    ),
    "unknown level": Snippet(_LOG, 'LOG(NOTICE) << "";', 'LOG(WARNING) << "";'),
    "data type without its header": Snippet(
        _OF_MATH,
        "(void)sizeof(ppl::common::datatype_t);",
        "(void)sizeof(ppl::common::datatype_t);",
        ("ppl/common/types.h",),
    ),
    "tensor without its header": Snippet(
        _OF_MATH,
        f"ppl::nn::InputOutputInfo info; (void){_TENSOR}",
        f"ppl::nn::InputOutputInfo info; (void){_TENSOR}",
        ("ppl/nn/runtime/tensor_impl.h",),
    ),
    "log line without its header": Snippet(
        _OF_MATH, 'LOG(ERROR) << "";', 'LOG(ERROR) << "";', ("ppl/nn/common/logger.h",)
    ),
    "another table of parsers": Snippet(
        _LOG, f"{_PARSERS} table;", f"(void){_PARSERS}::GetInstance();"
    ),
    "kernel without Reshape()": Snippet(
        ("ppl/nn/runtime/kernel_impl.h",),
        f"{_KERNEL} }} kernel;",
        f"{_KERNEL} {_RESHAPE} }} kernel;",
    ),
}


def check(snippet: Snippet, options: list[str], folder: Path) -> None:
    """Hold headers to a snippet.

    Args:
        snippet: what they refuse and what they take.
        options: of the compiler, for the folders of the headers.
        folder: where the source is written.

    Raises:
        AssertionError: they take what is to be refused, or refuse what is to be taken.
    """
    accepted = _compile(snippet.accepted, (*snippet.includes, *snippet.more), options, folder)
    assert accepted.returncode == 0, accepted.stderr
    refused = _compile(snippet.refused, snippet.includes, options, folder)
    assert refused.returncode != 0, snippet.refused


def _compile(
    statement: str, includes: tuple[str, ...], options: list[str], folder: Path
) -> subprocess.CompletedProcess[str]:
    source = folder / "snippet.cc"
    lines = [f'#include "{path}"' for path in includes]
    source.write_text("\n".join([*lines, f"void Function();\nvoid Function() {{ {statement} }}\n"]))
    command = [*cxx(), *STRICT, "-fsyntax-only", *options, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
