"""The files of RKNN-Toolkit 1.x in a repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from opkit.common.code_layout import wrapped
from opkit.common.text import render
from opkit.description.spec import OpSpec, Param, Tensor
from opkit.files import generation
from opkit.files.c_parts import allowed_file, allowed_header
from opkit.files.elementwise import half_type
from opkit.files.operator_texts import CASE_DTYPE, has_only
from opkit.runtimes.files import Files, Readme, RuntimeTexts
from opkit.runtimes.rknn import kernel_skeletons, rknnop
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.describe import DESCRIBE
from opkit.runtimes.rknn.elementwise_vx import generated_vx
from opkit.runtimes.rknn.kernel_source import has_cxx, kernel_sources, kernels_header
from opkit.runtimes.rknn.settings import has_vx_kernel
from opkit.runtimes.rknn.toolkit_class import toolkit_class
from opkit.runtimes.rknn.vx_requirements import drift
from opkit.toolchains.abi import ABIS
from opkit.toolchains.flags import (
    C_ERRORS,
    C_LANGUAGE,
    CXX_LANGUAGE,
    CXX_SUFFIXES,
    ERRORS,
    EXACT,
    optimization,
)

_PRODUCT = "builds and packs build/{target}/{name}.rknnop"
_COMMANDS = """\
| `scons target=rv1126` | builds and packs for that chip; `target=all`: for every chip |
"""
_VX_COMMANDS = """\
| `scons vx` | compiles the VX kernel for this PC |
| `scons vx-gdb case=NAME run=1` | stops in the VX kernel, in that case |
"""
_PAGES = """\
| chips, versions, errors on the board, conversion with RKNN-Toolkit 1.x | `rknn.md` |
"""
_VX_PAGES = """\
| the VX kernel, for the NPU | [docs/vx.md](docs/vx.md) |
"""


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on kernels, chips and the toolkit's class."""
    lower, target = spec.lower, DESCRIBE.target_of(spec)
    both = has_vx_kernel(spec)
    vx = f"rknn_kernel_{lower}.vx"
    is_written = both and not spec.elementwise
    return Readme(
        runtime="Rockchip's RKNN-Toolkit 1.x",
        target=target,
        product=_PRODUCT.format(name=spec.name, target=target),
        files=(f"rknn_kernel_{lower}.c", *((vx,) if is_written else ())),
        generated=(
            f"rknn_op_{lower}.py",
            "makefile.linux.*",
            *((vx,) if both and spec.elementwise else ()),
        ),
        commands=_COMMANDS + (_VX_COMMANDS if both else ""),
        edit=_edit(spec, vx) if is_written else "",
        pages=(_VX_PAGES if both else "") + _PAGES,
    )


def _edit(spec: OpSpec, vx: str) -> str:
    """Return the paragraph on the same math in the VX kernel."""
    if has_only(spec, CASE_DTYPE):
        return render("runtimes/rknn/templates/README_edit.md", vx=vx)
    return (
        f"The VX kernel in `{vx}` needs the same math; without it, its cases fail. To go\n"
        "without such a kernel, write `kernels: [cpu]` in `op.yml`."
    )


# Objects are rebuilt when a source, a header or this file changes: op.yml's flags are in it.
_RULE = """\
$(OUT)/%{suffix}.o: %{suffix} $(firstword $(MAKEFILE_LIST))
	@mkdir -p $(@D)
	$({compiler}) {language} $(CFLAGS) $(FLAGS) $(INCLUDE) -MMD -MP -c -o $@ $<
"""

_CXX = """\
ifeq ($(origin CXX),default)
CXX = $(patsubst %gcc,%g++,$(CC))
endif
"""


def makefiles(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the makefile of each ABI.

    Raises:
        OpkitError: op.yml lists the file of the kernel list as another source.
    """
    sources = kernel_sources(spec)
    folders = (".", "include", *(folder.path for folder in spec.include))
    rules = []
    for suffix in dict.fromkeys(PurePosixPath(source).suffix for source in sources):
        is_cxx = suffix in CXX_SUFFIXES
        language = " ".join(CXX_LANGUAGE if is_cxx else (*C_LANGUAGE, *C_ERRORS))
        compiler = "CXX" if is_cxx else "CC"
        rules.append(_RULE.format(suffix=suffix, compiler=compiler, language=language))
    return {
        f"makefile.linux.{abi.name}": render(
            "runtimes/rknn/templates/makefile.linux",
            lower=spec.lower,
            abi=abi.name,
            compiler="gcc" if abi.name == "x64" else f"{abi.triple}-gcc",
            cxx=_CXX if has_cxx(spec) else "",
            options=" ".join((*optimization(abi.name, "gnu"), *abi.gnu_flags)),
            flags=" ".join(("-fPIC", *EXACT, *ERRORS, *spec.cflags)),
            include=" ".join(f"-I{folder}" for folder in folders),
            objects=" ".join(f"$(OUT)/{source}.o" for source in sources),
            rules="\n".join(rules),
        )
        for abi in (ABIS[name] for name in rknnop.ABIS)
    }


def generated_files(spec: OpSpec, reference_source: str) -> dict[str, str]:
    """Return path -> text of every generated file.

    Args:
        spec: the operator.
        reference_source: the text of `<lower>_reference.py`, a part of the toolkit's class.

    Raises:
        OpkitError: the reference cannot run in RKNN-Toolkit's Python, or op.yml lists the file of
            the kernel list as another source.
    """
    page = {"docs/vx.md": generation.copy("runtimes/rknn/docs/vx.md")}
    return {
        # All: a user's file may launch a VX kernel that op.yml no longer has.
        **generation.headers("runtimes/rknn/*.h"),
        **generation.declarations("runtimes/rknn/include", "include"),
        **(page if has_vx_kernel(spec) else {}),
        "generated/openvx_stub.c": generation.copy("runtimes/rknn/openvx_stub.c"),
        f"generated/{spec.lower}_params.h": _params_header(spec),
        **allowed_file(spec),
        f"generated/{spec.lower}_kernels.h": kernels_header(spec),
        f"generated/{spec.lower}.exports": render(
            "runtimes/rknn/templates/exports", name=spec.name
        ),
        f"rknn_op_{spec.lower}.py": toolkit_class(spec, reference_source),
        **makefiles(spec),
    }


def _params_header(spec: OpSpec) -> str:
    lower = spec.lower
    allowed = allowed_header(spec)
    call, arguments = "const struct opkit_call *call", f"struct {lower}_arguments *arguments"
    lists = [param.name for param in spec.params if param.type.is_list]
    invalidates = [
        wrapped(
            "    (void)opkit_invalidate_tensor(",
            ["call", _index(spec, output), f'"{output.name}"'],
            ");",
        )
        for output in spec.outputs
    ]
    return render(
        "runtimes/rknn/templates/params.h",
        name=spec.name,
        lower=lower,
        upper=lower.upper(),
        indices="\n".join(f"    {_index(spec, parameter)}," for parameter in spec.parameters),
        descriptions="\n".join(_descriptions(spec)),
        tensors="\n".join(_tensors(spec)),
        allowed_include=f'#include "{allowed}"\n' if allowed else "",
        check_params=_CHECK_PARAMS.format(lower=lower) if allowed else "",
        half=half_type(spec),
        lists="".join(f"    int32_t {name}_items[OPKIT_RKNN_MAX_ITEMS];\n" for name in lists),
        read=wrapped(f"static inline vx_status {lower}_read(", [call, arguments], ")"),
        reads="".join(f"{each}\n" for each in _reads(spec)),
        write=wrapped(f"static inline vx_status {lower}_write(", [call, arguments], ")"),
        writes="\n".join(
            _try(spec, "opkit_write_tensor", output, f"&arguments->outputs.{output.name}")
            for output in spec.outputs
        ),
        invalidate=wrapped(f"static inline void {lower}_invalidate(", [call], ")"),
        invalidates="\n".join(invalidates),
        release=wrapped(f"static inline void {lower}_release(", [arguments], ")"),
    )


def _descriptions(spec: OpSpec) -> list[str]:
    """Return the rows of kernel_params[]."""
    rows: list[tuple[Tensor | Param, str, str]] = [
        *((tensor, "VX_INPUT", "VX_TYPE_TENSOR") for tensor in spec.inputs),
        *((tensor, "VX_OUTPUT", "VX_TYPE_TENSOR") for tensor in spec.outputs),
        *((param, "VX_INPUT", DELIVERIES[param.type.name].reference) for param in spec.params),
    ]
    return [
        wrapped(
            f"    [{_index(spec, parameter)}] = {{",
            [direction, type_, "VX_PARAMETER_STATE_REQUIRED"],
            "},",
        )
        for parameter, direction, type_ in rows
    ]


def _tensors(spec: OpSpec) -> list[str]:
    """Return the rows that map each tensor to its member."""
    rows = [
        *((tensor, "VX_READ_ONLY", "inputs") for tensor in spec.inputs),
        *((tensor, "VX_WRITE_ONLY", "outputs") for tensor in spec.outputs),
    ]
    return [
        wrapped(
            "        {",
            [_index(spec, each), usage, f'"{each.name}"', f"&arguments->{group}.{each.name}"],
            "},",
        )
        for each, usage, group in rows
    ]


def _reads(spec: OpSpec) -> Iterator[str]:
    """Yield the statements that read the params."""
    for param in spec.params:
        delivery = DELIVERIES[param.type.name]
        function, *arguments = delivery.reader
        values = {
            "name": param.name,
            "member": f"arguments->params.{param.name}",
            "type": delivery.type,
            "length": param.length or 0,
        }
        yield _try(spec, function, param, *(each.format(**values) for each in arguments))


def _try(spec: OpSpec, function: str, parameter: Tensor | Param, *arguments: str) -> str:
    """Return the statement that calls a function for a parameter, or returns its error."""
    where = ["call", _index(spec, parameter), f'"{parameter.name}"']
    return wrapped(f"    OPKIT_TRY({function}(", [*where, *arguments], "));")


_CHECK_PARAMS = """\
    char problem[512];
    if (!{lower}_allows(&arguments->params, problem, sizeof problem)) {{
        return opkit_fail(call, VX_ERROR_INVALID_VALUE, NULL, "%s", problem);
    }}
"""


def _index(spec: OpSpec, parameter: Tensor | Param) -> str:
    """Return the enumerator of a parameter's index among the references."""
    return f"{spec.lower.upper()}_INDEX_{parameter.name.upper()}"


_REFERENCE_RULES = (
    "Its own Python is 3.5 to 3.8: no f-strings, no annotations, and nothing but numpy and the "
    "standard library."
)


def _texts(spec: OpSpec) -> RuntimeTexts:
    return RuntimeTexts(
        readme=readme(spec),
        tests=kernel_skeletons.tests(spec),
        once_only=kernel_skeletons.once_only_files(spec),
        converter=DESCRIBE.converter,
        reference_rules=_REFERENCE_RULES,
    )


FILES = Files(
    texts=_texts,
    generated=generated_files,
    from_scalar=generated_vx,
    required=lambda spec: tuple(kernel_skeletons.once_only_files(spec)),
    drift=drift,
)
