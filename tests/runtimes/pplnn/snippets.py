"""Code that ppl.nn's headers reject, and similar code that they accept.

The tests check both opkit's declarations and the real headers: an operator with code that only
opkit's declarations accept would pass here, but not compile in ppl.nn.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.runtimes.pplnn.engines import STRICT, cxx


@dataclass(frozen=True)
class Snippet:
    """A rejected statement, and a similar one that is accepted.

    Attributes:
        includes: the headers of the source.
        refused: the rejected statement.
        accepted: the same statement without the mistake.
        more: additional headers of the source.
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
    """Check headers by a snippet.

    Args:
        snippet: the rejected and the accepted statement.
        options: of the compiler, for the folders of the headers.
        folder: of the written source.

    Raises:
        AssertionError: the headers accept the rejected statement, or reject the accepted one.
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
