"""The files of RKNN-Toolkit 1.x in a repository."""

from __future__ import annotations

from pathlib import PurePosixPath

from opkit.code_layout import wrapped
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
from opkit.runtimes.rknn.settings import settings
from opkit.runtimes.rknn.toolkit_class import toolkit_class
from opkit.runtimes.rknn.vx_requirements import drift
from opkit.text import render
from opkit.toolchains.abi import ABIS, Abi
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
    both = settings(spec).has_vx_kernel
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
    abis = (ABIS[name] for name in rknnop.ABIS)
    return {f"makefile.linux.{abi.name}": _makefile(spec, abi) for abi in abis}


def _makefile(spec: OpSpec, abi: Abi) -> str:
    sources = kernel_sources(spec)
    folders = (".", "include", *(folder.path for folder in spec.include))
    suffixes = dict.fromkeys(PurePosixPath(source).suffix for source in sources)
    return render(
        "runtimes/rknn/templates/makefile.linux",
        lower=spec.lower,
        abi=abi.name,
        compiler="gcc" if abi.name == "x64" else f"{abi.triple}-gcc",
        cxx=_CXX if has_cxx(spec) else "",
        options=" ".join((*optimization(abi.name, "gnu"), *abi.gnu_flags)),
        flags=" ".join(("-fPIC", *EXACT, *ERRORS, *spec.cflags)),
        include=" ".join(f"-I{folder}" for folder in folders),
        objects=" ".join(f"$(OUT)/{source}.o" for source in sources),
        rules="\n".join(map(_rule, suffixes)),
    )


def _rule(suffix: str) -> str:
    is_cxx = suffix in CXX_SUFFIXES
    language = CXX_LANGUAGE if is_cxx else (*C_LANGUAGE, *C_ERRORS)
    compiler = "CXX" if is_cxx else "CC"
    return _RULE.format(suffix=suffix, compiler=compiler, language=" ".join(language))


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
        **(page if settings(spec).has_vx_kernel else {}),
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
        lists="".join(f"{_list_member(param)}\n" for param in spec.params if param.type.is_list),
        read=wrapped(f"static inline vx_status {lower}_read(", [call, arguments], ")"),
        reads="".join(f"{_read_param(spec, param)}\n" for param in spec.params),
        write=wrapped(f"static inline vx_status {lower}_write(", [call, arguments], ")"),
        writes="\n".join(_write(spec, output) for output in spec.outputs),
        invalidate=wrapped(f"static inline void {lower}_invalidate(", [call], ")"),
        invalidates="\n".join(_invalidate(spec, output) for output in spec.outputs),
        release=wrapped(f"static inline void {lower}_release(", [arguments], ")"),
    )


_CHECK_PARAMS = """\
    char problem[512];
    if (!{lower}_allows(&arguments->params, problem, sizeof problem)) {{
        return opkit_fail(call, VX_ERROR_INVALID_VALUE, NULL, "%s", problem);
    }}
"""


def _index(spec: OpSpec, parameter: Tensor | Param) -> str:
    """Return the enumerator of a parameter's index among the references."""
    return f"{spec.lower.upper()}_INDEX_{parameter.name.upper()}"


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
            [_index(spec, tensor), usage, *_name_and_place(tensor.name, group)],
            "},",
        )
        for tensor, usage, group in rows
    ]


def _name_and_place(name: str, group: str) -> tuple[str, str]:
    return f'"{name}"', f"&arguments->{group}.{name}"


def _list_member(param: Param) -> str:
    """Return the member with the items of a list."""
    return f"    int32_t {param.name}_items[OPKIT_RKNN_MAX_ITEMS];"


def _read_param(spec: OpSpec, param: Param) -> str:
    """Return the statement that reads a param."""
    delivery = DELIVERIES[param.type.name]
    function, *arguments = delivery.reader
    member = f"arguments->params.{param.name}"
    values = {
        "name": param.name,
        "member": member,
        "type": delivery.type,
        "length": param.length or 0,
    }
    more = [argument.format(**values) for argument in arguments]
    return _try(function, ["call", _index(spec, param), f'"{param.name}"', *more])


def _write(spec: OpSpec, output: Tensor) -> str:
    """Return the statement that writes an output."""
    where = ["call", _index(spec, output), *_name_and_place(output.name, "outputs")]
    return _try("opkit_write_tensor", where)


def _invalidate(spec: OpSpec, output: Tensor) -> str:
    """Return the statement that makes an output invalid."""
    where = ["call", _index(spec, output), f'"{output.name}"']
    return wrapped("    (void)opkit_invalidate_tensor(", where, ");")


def _try(function: str, arguments: list[str]) -> str:
    return wrapped(f"    OPKIT_TRY({function}(", arguments, "));")


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
