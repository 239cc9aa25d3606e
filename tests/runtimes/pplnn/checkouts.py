"""Small trees with the parts of ppl.nn that apply.py reads, in the project's own words."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

from opkit.runtimes.pplnn import apply
from tests.check.target_repositories import need

PARSERS = "src/ppl/nn/models/onnx/param_parser_manager.cc"
PARSERS_HEADER = "src/ppl/nn/models/onnx/param_parser_manager.h"
RISCV_OPS = "src/ppl/nn/engines/riscv/optimizer/riscv_ops.cc"
X86_OPS = "src/ppl/nn/engines/x86/optimizer/x86_ops.cc"
HOSTS = (PARSERS, RISCV_OPS, X86_OPS)
STRAY = "src/ppl/nn/models/onnx/register_resources.cc"

_PARSERS_TEXT = """\
#include "ppl/nn/models/onnx/param_parser_manager.h"
#include "ppl/nn/models/onnx/parsers/onnx/parse_north_param.h"
using namespace std;
using namespace ppl::common;

namespace ppl { namespace nn { namespace onnx {

struct Helper {
};

#define PPL_REGISTER_OP_WITH_PARAM(domain, type, first, last, param, parse, pack) \\
    Add<param>(domain, type, first, last, parse, pack)

ParamParserManager::ParamParserManager() {
    // north
    PPL_REGISTER_OP_WITH_PARAM("", "North", 1, 16, NorthParam, ParseNorthParam, PackNorthParam);
    {
        PPL_REGISTER_OP_WITHOUT_PARAM("", "South", 1, 16, nullptr);
    }
}

void After() {
}

}}} // namespace ppl::nn::onnx
"""
_OPS_TEXT = """\
#include "ppl/nn/engines/{engine}/optimizer/ops/onnx/north_op.h"
using namespace std;

namespace ppl {{ namespace nn {{ namespace {engine} {{

void RegisterBuiltinOpImpls();

template <typename T>
static void RegisterOptKernelCreator(const string& domain, const string& type, Range range) {{
}}

// NOTE: sorted by type
void RegisterBuiltinOpImpls() {{
    // onnx
    RegisterOptKernelCreator<NorthOp>("", "North", 1, 16);
}}

}}}}}} // namespace ppl::nn::{engine}
"""

VERSIONS: dict[str, dict[str, str]] = {}
"""Version -> path -> text of its files. HEAD equals v0.10.0 in these parts."""
VERSIONS["v0.9.2"] = {
    PARSERS: _PARSERS_TEXT,
    PARSERS_HEADER: "struct ParamParserExtraArgs;\ntypedef int (*PackParamFunc)(int);\n",
    RISCV_OPS: _OPS_TEXT.format(engine="riscv"),
    X86_OPS: _OPS_TEXT.format(engine="x86"),
    "src/ppl/nn/oputils/onnx/reshape_north.cc": "// north\n",
    "README.md": "# A tree\n",
}
VERSIONS["v0.10.0"] = {**VERSIONS["v0.9.2"], STRAY: "// calls RegisterParsers()\n"}

OLD_VERSIONS = {
    "v0.9.0": {
        **VERSIONS["v0.9.2"],
        "src/ppl/nn/engines/riscv/impls/src/north_fp32.cpp": "// north\n",
    },
    "v0.7.1": {**VERSIONS["v0.9.2"], PARSERS_HEADER: "struct ParamParserExtraArgs;\n"},
    "v0.6.3": {**VERSIONS["v0.9.2"], PARSERS_HEADER: "class ParamParserManager;\n"},
    "v0.6.2": {path: text for path, text in VERSIONS["v0.9.2"].items() if path != RISCV_OPS},
}
"""Unsupported version, the last that lacks one feature -> path -> text of its files."""


@dataclass(frozen=True)
class Checkout:
    """A tree of files."""

    root: Path

    def write(self, path: str, data: str | bytes) -> None:
        """Write a file."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(data.encode() if isinstance(data, str) else data)

    def read(self, path: str) -> str:
        """Return the text of a file."""
        return (self.root / path).read_text()

    def git(self, *arguments: str) -> str:
        """Run git in the tree; return its stdout."""
        need("git", "git")
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
        command = ["git", *who, "-C", str(self.root), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def commit(self) -> None:
        """Commit all files; make the tree a git repository if it is not one."""
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "All of it")

    def content(self) -> dict[str, str]:
        """Return path -> digest and mode of each file, or an empty text for a folder."""
        return {
            path.relative_to(self.root).as_posix(): _summary(path) if path.is_file() else ""
            for path in self.root.rglob("*")
            if ".git" not in path.relative_to(self.root).parts
        }


def _summary(path: Path) -> str:
    return f"{hashlib.sha1(path.read_bytes()).hexdigest()} {path.stat().st_mode:o}"


def make_checkout(root: Path, version: str = "v0.10.0", is_git: bool = False) -> Checkout:
    """Make the tree of a version."""
    checkout = Checkout(root)
    for path, text in (VERSIONS | OLD_VERSIONS)[version].items():
        checkout.write(path, text)
    if is_git:
        checkout.commit()
    return checkout


def run(repository: Path, checkout: Checkout, *options: str) -> int:
    """Run apply.py of a repository on a checkout; return the exit status."""
    return apply.main([str(checkout.root), *options], repository)
