"""The files of PPLNN in a repository."""

from __future__ import annotations

from opkit.common.code_layout import wrapped
from opkit.common.text import render
from opkit.description.spec import OpSpec, Param
from opkit.files import generation
from opkit.runtimes.files import Files, Readme, RuntimeTexts
from opkit.runtimes.pplnn import overlay
from opkit.runtimes.pplnn.describe import DESCRIBE, settings
from opkit.runtimes.pplnn.shape_rule import generated_shapes, once_only_files
from opkit.runtimes.pplnn.sources import sources
from opkit.runtimes.pplnn.tree_names import SOURCES, names

_KINDS = {"ints": "INTS", "floats": "FLOATS", "string": "STRING"}
"""Kind of an attribute in ONNX -> the harness' kind of param; all others are SCALAR."""


def generated_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of ppl.nn's sources, their registration, and the harness' table."""
    files = sources(spec)
    return {
        **generation.headers("runtimes/pplnn/glue/*.h", "runtimes/pplnn/harness/*.h"),
        **files,
        **generated_shapes(spec),
        **overlay.generated_files(spec, files),
        operator_source(spec): _operator(spec),
    }


def operator_source(spec: OpSpec) -> str:
    """Return the path of the source with the harness' table of functions."""
    return f"generated/{spec.lower}_pplnn.cc"


def _operator(spec: OpSpec) -> str:
    where = names(spec)
    counts = [str(len(each)) for each in (spec.inputs, spec.outputs, spec.params)]
    counts.append(f"sizeof({spec.lower}_params)")
    rows = "\n".join(_row(spec, param) for param in spec.params)

    table = "PARAMS" if rows else "nullptr"

    def call(function: str, *more: str) -> str:
        opening = f"    return ppl::nn::{where.folder}::{function}{where.title}("
        return wrapped(opening, ["inputs", "own", "outputs", *more], ");")

    return render(
        "runtimes/pplnn/templates/operator.cc",
        name=spec.name,
        lower=spec.lower,
        glue=where.glue,
        infer=call("InferShapesOf"),
        run=call("Run", "memory"),
        threads=_THREADS.format(folder=where.folder, title=where.title) if spec.has_threads else "",
        params=f"\nconst opkit_pplnn_param PARAMS[] = {{\n{rows}\n}};\n" if rows else "",
        table=wrapped("    ", [*counts, table, "InferShapes", "Run"], ","),
    )


_THREADS = """
/* In place of ppl.nn's kernel objects, which keep the threads. */
__attribute__((constructor)) void RetainThreads()
{{
    ppl::nn::{folder}::RetainThreadsOf{title}();
}}

__attribute__((destructor)) void ReleaseThreads()
{{
    ppl::nn::{folder}::ReleaseThreadsOf{title}();
}}
"""


def _row(spec: OpSpec, param: Param) -> str:
    kind = _KINDS.get(param.type.onnx, "SCALAR")
    member = f"{spec.lower}_params, {param.name}"
    size = f"sizeof({spec.lower}_params::{param.name})"
    parts = [f'"{param.name}"', f"OPKIT_PPLNN_{kind}", f"offsetof({member})", size]
    return wrapped("    {", parts, "},")


_PRODUCT = "compiles all of it for {target}"
_COMMANDS = """\
| `scons target=riscv64` | compiles the sources for riscv64; `target=x64-pplnn`: for a PC |
| `scons pplnn-apply root=PPLNN` | lays {name} of {domain} over a checkout of ppl.nn |
| `scons check pplnn=BUILD` | ... and runs every case in the engine of that build |
"""
_PAGES = """\
| the node in a model, the ways into ppl.nn | `pplnn.md` |
"""


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on the sources and the ways into ppl.nn."""
    target = DESCRIBE.target_of(spec)
    domain = settings(spec).domain
    return Readme(
        runtime="OpenPPL's PPLNN",
        target=target,
        product=_PRODUCT.format(target=target),
        files=tuple(once_only_files(spec)),
        generated=(f"{SOURCES}/", *overlay.PLACES, *generated_shapes(spec)),
        commands=_COMMANDS.format(
            name=spec.name, domain=f"the domain `{domain}`" if domain else "ONNX's own domain"
        ),
        pages=_PAGES,
    )


def _texts(spec: OpSpec) -> RuntimeTexts:
    return RuntimeTexts(readme=readme(spec), once_only=once_only_files(spec))


FILES = Files(
    texts=_texts,
    generated=lambda spec, _: generated_files(spec),
    required=lambda spec: tuple(once_only_files(spec)),
)
