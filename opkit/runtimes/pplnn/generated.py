"""The files that every build generates from op.yml."""

from __future__ import annotations

from opkit.c_layout import wrapped
from opkit.description.spec import OpSpec, Param
from opkit.files import copies
from opkit.runtimes.pplnn import overlay
from opkit.runtimes.pplnn.names import names
from opkit.runtimes.pplnn.skeletons import generated_shapes
from opkit.runtimes.pplnn.sources import sources
from opkit.text import render

_KINDS = {"ints": "INTS", "floats": "FLOATS", "string": "STRING"}
"""Kind of an attribute in ONNX -> the harness' kind of param; all others are SCALAR."""


def generated_files(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of ppl.nn's sources, their registration, and the harness' table."""
    files = sources(spec)
    return {
        **copies.headers("runtimes/pplnn/glue/*.h", "runtimes/pplnn/harness/*.h"),
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
