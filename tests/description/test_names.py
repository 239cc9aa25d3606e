"""Every valid name in a description makes code that compiles, in every runtime."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path

import pytest

from opkit.common.errors import OpkitError
from opkit.description.reader import DescriptionError
from opkit.description.spec import OpSpec, Param, Tensor
from opkit.description.types import PARAM_TYPES
from opkit.description.words import Taken, taken_by
from opkit.opencl import clang
from opkit.runtimes import parse
from opkit.runtimes.rknn.kernel_skeletons import vx_kernel
from opkit.runtimes.rknn.settings import VX_PARAMETERS
from opkit.runtimes.rknn.toolkit_class import toolkit_class
from opkit.toolchains.abi import ABIS, Abi
from tests.compiling import HOST, OPKIT, compile_c
from tests.files.texts import (
    DECLARATIONS,
    INCLUDES,
    STUB,
    generated_files,
    once_only_files,
)
from tests.marks import quick_first, slow_first
from tests.runtimes.rknn.vx.test_vx_names import LANGUAGE

RUNTIMES = ("rknn", "rknn2", "pplnn")
FOLDERS = [OPKIT / "runtimes" / name for name in RUNTIMES]
MATH_HEADERS = "assert ctype errno fenv float inttypes limits math stdalign stdbool stdint stdio"
C_HEADERS = [f"{name}.h" for name in f"{MATH_HEADERS} stdlib string time".split()]
C_FILES = (".c", ".cc", ".h")
TYPES = ("VX_TYPE_INT64", "VX_TYPE_ARRAY", "VX_TYPE_BOOL", "VX_TYPE_FLOAT32")


def described(
    name: str = "Xqz", chosen: Iterable[str] = RUNTIMES, params: Iterable[str] = ("xqz_param",)
) -> str:
    """Return the description of an operator."""
    document = {
        "name": name,
        "runtimes": list(chosen),
        "inputs": {"xqz_in": {"type": "VX_TYPE_TENSOR"}},
        "outputs": {"xqz_out": {"type": "VX_TYPE_TENSOR"}},
        "params": {param: {"type": "VX_TYPE_INT32"} for param in params},
    }
    return json.dumps(document)  # which is YAML


def is_accepted(name: str, chosen: Iterable[str] = RUNTIMES) -> bool:
    """Return whether an operator may have the name."""
    try:
        parse(described(name, chosen))
    except DescriptionError:
        return False
    return True


def files_of(spec: OpSpec) -> dict[str, str]:
    once = once_only_files(spec)
    return once | generated_files(spec, once[f"{spec.lower}_reference.py"])


def write(spec: OpSpec, folder: Path) -> list[Path]:
    """Write an operator's files; return its sources in C and C++."""
    folder.mkdir()
    files = files_of(spec)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return [folder / path for path in files if path.endswith((".c", ".cc")) and path != STUB]


def language_of(source: Path) -> str:
    return "c11" if source.suffix == ".c" else "c++11"


def folders(root: Path) -> list[str]:
    """Return the -I arguments for an operator's sources."""
    return [
        f"-I{path}"
        for path in (root, root / "pplnn/src", *(root / name for name in INCLUDES), DECLARATIONS)
    ]


def assert_compiles(source: Path, root: Path, abi: Abi = HOST) -> None:
    arguments = [str(source), "-c", "-O0", *folders(root)]
    language = language_of(source)
    result = compile_c(root / "object.o", *arguments, abi=abi, language=language)
    assert result.returncode == 0, f"{source}: {result.stderr[:3000]}"


# ---- The table of macros, against the headers ----------------------------------------------------


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """Return a repository of all runtimes, and two sources that include all its headers."""
    root = tmp_path_factory.mktemp("plain") / "Xqz"
    sources = write(parse(described()), root)
    standard = "".join(f"#include <{name}>\n" for name in C_HEADERS)
    every = [root / "every.c", root / "every.cc"]
    for source in every:
        text = "".join(f'#include "{path}"\n' for path in sources if path.suffix == source.suffix)
        source.write_text(f"{standard}{text}")
    return root, every


def macros(source: Path, root: Path, abi: Abi) -> dict[str, str]:
    """Return the object-like macros at the end of a source, with their expansions."""
    output = root / f"{source.name}.{abi.name}.macros"
    arguments = [str(source), "-E", "-dM", "-Wno-error", *folders(root)]
    result = compile_c(output, *arguments, abi=abi, language=language_of(source))
    assert result.returncode == 0, result.stderr
    return dict(re.findall(r"^#define (\w+)(?: (.*))?$", output.read_text(), re.MULTILINE))


@pytest.mark.parametrize("abi", quick_first(2, ABIS.values()), ids=lambda abi: abi.name)
@pytest.mark.parametrize("language", [0, 1], ids=["c", "c++"])
def test_every_macro_in_scope_is_taken(
    plain: tuple[Path, list[Path]], abi: Abi, language: int
) -> None:
    root, every = plain
    found = macros(every[language], root, abi)
    assert len(found) > 500
    assert {
        name for name, text in found.items() if name != text and not taken_by(name, "Xqz")
    } == set()


def test_words_other_than_macros_are_free() -> None:
    """The patterns of reserved names match macro-like names alone."""
    words = "EPS EDGE EXP SIGMA PI N K T MAX MIN INT UINT8 FLT M_X MOD bit_width signature FP16"
    words += " INDEX index exp log gamma y0 std string vector other len map dict self params"
    for name in (*words.split(), *"int_max pool_h Xqz_h min_MAX E2 ETA EMA TIME CLOCK".split()):
        assert taken_by(name, "Xqz") == "", name


# ---- Names of inputs, outputs and params ---------------------------------------------------------


def words_in_scope(*taken: Taken) -> list[str]:
    """Return the names in generated files and in headers that are not reserved."""
    headers = [*FOLDERS[0].glob("*.h"), *(OPKIT / "compute").glob("*.h")]
    headers += [path for folder in FOLDERS for path in (folder / "include").rglob("*.h")]
    headers += [FOLDERS[1] / "custom_op.h", FOLDERS[2] / "glue/tensors.h"]
    texts = [
        *(text for path, text in files_of(parse(described())).items() if path.endswith(C_FILES)),
        *(path.read_text() for path in headers),
        "string vector basic_string memcpy strlen log exp index round gamma y0 j0 signgam remove",
        "read write malloc free abort exit begin end function pair swap stat time nullptr_t major",
        "isnan signbit assert self cls len dict print map shape dtype ndarray array std other",
    ]
    code = [re.sub(r"(?s)/\*.*?\*/|//.*?$|\".*?\"", "", text) for text in texts]
    words = {word for text in code for word in re.findall(r"\b[A-Za-z]\w*", text)}
    unique = {word.lower(): word for word in sorted(words) if not word.lower().startswith("xqz")}
    return [
        word
        for word in unique.values()
        if not taken_by(word, "Xqz") and not any(word in each for each in taken)
    ]


def with_names(chosen: tuple[str, ...], section: str, names: list[str]) -> OpSpec:
    """Return an operator with more names in a section than any runtime takes."""
    spec = parse(described(chosen=chosen))
    tensors = tuple(map(Tensor, names))
    if section == "inputs":
        return spec._replace(inputs=tensors)
    if section == "outputs":
        return spec._replace(outputs=tensors)
    types = cycle(PARAM_TYPES[name] for name in TYPES)
    return spec._replace(params=tuple(map(Param, names, types)))


SOURCES = {
    "rknn": ("rknn_kernel_xqz.c",),
    "rknn2": ("rknn2/xqz_custom_op.c",),
    "pplnn": (
        "pplnn/src/ppl/nn/models/onnx/parsers/custom/parse_xqz_param.cc",
        "generated/xqz_pplnn.cc",
        "pplnn/src/ppl/nn/oputils/custom/xqz_glue.cc",
    ),
}
"""The files in which names of inputs, outputs and params are code."""


def assert_names_compile(runtime: str, section: str, folder: Path, abi: Abi = HOST) -> None:
    root = folder / section
    names = words_in_scope(VX_PARAMETERS)
    assert len(names) > 500
    write(with_names((runtime,), section, names), root)
    for path in SOURCES[runtime]:
        assert_compiles(root / path, root, abi)


@pytest.mark.parametrize("runtime", ["rknn", "rknn2"])
def test_free_names_of_params_compile(runtime: str, tmp_path: Path) -> None:
    assert_names_compile(runtime, "params", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("section", slow_first(1, ["inputs", "outputs", "params"]))
@pytest.mark.parametrize(
    ("runtime", "abi"),
    [("rknn", "armhf"), ("rknn2", "aarch64"), ("pplnn", "riscv64")],
)
def test_free_names_compile_everywhere(
    runtime: str, section: str, abi: str, tmp_path: Path
) -> None:
    assert_names_compile(runtime, section, tmp_path, ABIS[abi])


@pytest.mark.slow
@pytest.mark.parametrize("section", ["inputs", "outputs", "params"])
def test_free_names_compile_in_vx(section: str, vx_folder: Path) -> None:
    names = [word for word in LANGUAGE if not taken_by(word) and word not in VX_PARAMETERS]
    names = sorted({*names, *words_in_scope(VX_PARAMETERS)})
    assert {"max", "exp", "convert_int", "remainder"} <= {*names}
    flags = (*clang.language(1), *clang.code(True, False))
    source = vx_folder / f"free_{section}.cl"
    source.write_text(vx_kernel(with_names(("rknn",), section, names)))
    clang.clang(
        *("-x", "cl", *flags, *clang.prelude(vx_folder, flags)),
        *("-ferror-limit=0", "-fsyntax-only", str(source)),
        folder=vx_folder,
    )


# ---- Names of operators --------------------------------------------------------------------------


@pytest.mark.slow
def test_operators_that_would_break_the_class_are_refused() -> None:
    spec = parse(described(chosen=("rknn",)))
    reference = once_only_files(spec)["xqz_reference.py"]
    reference += "def params_from_tf(node_def, constants):\n    return {}\n"
    for name in {*re.findall(r"[A-Za-z_]\w*", toolkit_class(spec, reference))}:
        try:
            toolkit_class(spec._replace(name=name), reference)
        except (OpkitError, SyntaxError):
            assert not is_accepted(name, ("rknn",)), name
    assert not any(is_accepted(name, ("rknn",)) for name in dir(builtins))


@pytest.mark.parametrize("name", ["dict_", "Map", "Len", "Range", "Arguments", "Compute", "init"])
def test_operator_may_be_called(name: str) -> None:
    assert is_accepted(name=name)


@pytest.mark.parametrize(
    "name", quick_first(1, ["Compute", "Destroy", "init", "kernel_hooks", "custom_op"])
)
def test_operator_named_like_opkit_function_compiles(name: str, tmp_path: Path) -> None:
    for source in write(parse(described(name, chosen=("rknn", "rknn2"))), tmp_path / name):
        assert_compiles(source, tmp_path / name)
