"""OpSpec -> text: tables, readers and skeletons, against expected text and real tools."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

from opkit.description.spec import OpSpec
from opkit.runtimes import parse
from opkit.runtimes.rknn.deliveries import DELIVERIES
from opkit.runtimes.rknn.kernel_skeletons import vx_arguments
from opkit.runtimes.rknn.scons.package import package_description
from opkit.toolchains.abi import ABIS
from rknn_op.creation.description_texts import adapted
from tests.compiling import compile_c
from tests.files.texts import INCLUDES, STUB, generated_files, once_only_files
from tests.marks import quick_first
from tests.repositories import EXAMPLE_NAMES, EXAMPLES, RKNN_EXAMPLES, ROOT

HEAD = "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"
TYPE_NAMES = list(DELIVERIES)
EVERY_TYPE = "params:\n" + "".join(
    f"  p_{name.removeprefix('VX_TYPE_').lower()}: {{type: {name}}}\n" for name in TYPE_NAMES
)
HOSTILE = "a */ b /* c ??/ \\\\ 'd' $x ${y} %s {{z}} // e"
DESCRIPTIONS = {
    "no_params": "name: NoParams\n" + HEAD,
    "every_type": "name: EveryType\n" + HEAD + EVERY_TYPE,
    "one_letter": "name: A\n" + HEAD,
    "longest": f"name: {'L' * 127}\n" + HEAD + f"params: {{{'p' * 127}: {{type: VX_TYPE_ARRAY}}}}",
    "long": f"name: {'SpatialTransformer' * 2}\n"
    "inputs:\n  feature_map_of_the_backbone: {type: VX_TYPE_TENSOR, doc: what the layer before this"
    " one computed of a picture that may have any number of channels}\n"
    "outputs: {transformed_feature_map: {type: VX_TYPE_TENSOR}}\n"
    "params:\n"
    "  number_of_sampling_points: {type: VX_TYPE_ARRAY, length: 2}\n"
    "  interpolate_between_neighbors: {type: VX_TYPE_BOOL}\n"
    "  smallest_distance_to_border: {type: VX_TYPE_FLOAT32}\n",
    "many": "name: Many\ninputs:\n"
    + "".join(f"  i{n}: {{type: VX_TYPE_TENSOR}}\n" for n in range(9))
    + "outputs:\n"
    + "".join(f"  o{n}: {{type: VX_TYPE_TENSOR}}\n" for n in range(5)),
    "output_dtypes": "name: OutputDtypes\ninputs: {x: {type: VX_TYPE_TENSOR}}\n"
    "outputs: {index: {type: VX_TYPE_TENSOR, dtype: int16, doc: of the largest},"
    " value: {type: VX_TYPE_TENSOR}}\n",
    "integer_output": "name: IntegerOutput\ninputs: {x: {type: VX_TYPE_TENSOR}}\n"
    "outputs: {y: {type: VX_TYPE_TENSOR, dtype: int8}}\n",
    "names_of_ours": "name: Names\n"
    "inputs: {inputs: {type: VX_TYPE_TENSOR}, params: {type: VX_TYPE_TENSOR}}\n"
    "outputs: {outputs: {type: VX_TYPE_TENSOR}, call: {type: VX_TYPE_TENSOR}}\n"
    "params: {parameter_count: {type: VX_TYPE_INT8}, arguments: {type: VX_TYPE_BOOL},"
    " none: {type: VX_TYPE_ARRAY}, data: {type: VX_TYPE_CHAR}}\n",
    "hostile_docs": "name: Hostile\n"
    f'inputs: {{x: {{type: VX_TYPE_TENSOR, doc: "{HOSTILE}"}}}}\n'
    f'outputs: {{y: {{type: VX_TYPE_TENSOR, doc: "{HOSTILE}"}}}}\n'
    f'params: {{p: {{type: VX_TYPE_ARRAY, doc: "{HOSTILE}"}}}}\n',
    **{
        name: adapted((EXAMPLES / name / f"{name}.yml").read_text(), ["rknn"])[0]
        for name in RKNN_EXAMPLES
    },
}
OTHER_EXAMPLES = {
    name: (EXAMPLES / name / f"{name}.yml").read_text()
    for name in set(EXAMPLE_NAMES) - set(RKNN_EXAMPLES)
}
"""The examples whose runtimes have separate tests of their files."""


OURS = (
    *("generated/", "include/", "docs/", ".github/", "rknn_op_", "makefile"),
    "rknn_kernel_mish.vx",  # of an elementwise operator
)
VX_FILES = {"docs/vx.md", "rknn_kernel_everytype.vx"}
"""The files that an operator without a VX kernel lacks."""


def all_files(spec: OpSpec) -> dict[str, str]:
    skeletons = once_only_files(spec)
    reference = skeletons[f"{spec.lower}_reference.py"]
    return skeletons | generated_files(spec, reference)


@pytest.fixture(params=DESCRIPTIONS)
def files(request: pytest.FixtureRequest) -> dict[str, str]:
    return all_files(parse(DESCRIPTIONS[request.param]))


def test_parameter_table() -> None:
    spec = parse(DESCRIPTIONS["resize_area"])
    header = all_files(spec)["generated/resizearea_params.h"]
    enumerators = re.search(r"enum \{\n(.*?)\}", header, re.DOTALL)
    rows = re.findall(r"\[(\w+)\] = \{(\w+), (\w+), (\w+)\}", header)
    assert enumerators is not None
    assert enumerators[1].replace(",", "").split() == [
        "RESIZEAREA_INDEX_INPUT",
        "RESIZEAREA_INDEX_OUTPUT",
        "RESIZEAREA_INDEX_SIZE",
        "RESIZEAREA_INDEX_ALIGN_CORNERS",
        "RESIZEAREA_PARAMETER_COUNT",
    ]
    required = "VX_PARAMETER_STATE_REQUIRED"
    assert rows == [
        ("RESIZEAREA_INDEX_INPUT", "VX_INPUT", "VX_TYPE_TENSOR", required),
        ("RESIZEAREA_INDEX_OUTPUT", "VX_OUTPUT", "VX_TYPE_TENSOR", required),
        ("RESIZEAREA_INDEX_SIZE", "VX_INPUT", "VX_TYPE_ARRAY", required),
        ("RESIZEAREA_INDEX_ALIGN_CORNERS", "VX_INPUT", "VX_TYPE_SCALAR", required),
    ]


def test_param_types_have_matching_rows() -> None:
    header = all_files(parse(DESCRIPTIONS["every_type"]))["generated/everytype_params.h"]
    rows = dict(re.findall(r"\[EVERYTYPE_INDEX_P_(\w+)\] = \{VX_INPUT, (\w+),", header))
    assert rows == {
        name.removeprefix("VX_TYPE_"): "VX_TYPE_ARRAY"
        if name == "VX_TYPE_ARRAY"
        else "VX_TYPE_SCALAR"
        for name in TYPE_NAMES
    }


def test_readers_of_arrays_know_the_length() -> None:
    params = "params: {a: {type: VX_TYPE_ARRAY, length: 3}, b: {type: VX_TYPE_ARRAY}}\n"
    header = all_files(parse(f"name: A\n{HEAD}{params}"))["generated/a_params.h"]
    calls = re.findall(
        r"opkit_read_int32_array\(\s+call,\s+(\w+),\s+\"(\w)\",\s+(\d+),\s+(\S+),\s+(\S+)\)\)",
        header,
    )
    assert calls == [
        ("A_INDEX_A", "a", "3", "arguments->a_items", "&arguments->params.a"),
        ("A_INDEX_B", "b", "0", "arguments->b_items", "&arguments->params.b"),
    ]


def test_vx_kernel_arguments() -> None:
    assert vx_arguments(parse(DESCRIPTIONS["resize_area"])) == [
        "__read_only image2d_array_t input",
        "__write_only image2d_array_t output",
        "vx_array_int size",
        "bool align_corners",
    ]


def test_vx_kernel_locals_do_not_collide() -> None:
    spec = parse("name: A\n" + HEAD + "params: {coord: {type: VX_TYPE_INT32}}\n")
    kernel = once_only_files(spec)["rknn_kernel_a.vx"]
    assert "int4 coord_ = " in kernel
    assert "VXC_WriteImage2DArray(y, coord_, elements, " in kernel


def test_package_description() -> None:
    spec = parse(
        "name: TwoIn\nvx_version: 2\n"
        "inputs: {z: {type: VX_TYPE_TENSOR, doc: d}, a: {type: VX_TYPE_TENSOR}}\n"
        "outputs: {y: {type: VX_TYPE_TENSOR, dtype: int16}}\n"
        "params: {q: {type: vx_type_array, length: 1, default: [2], source: const:q, doc: e},"
        " b: {type: VX_TYPE_BOOL}}\n"
    )
    text = package_description(spec, "rv1126")
    assert text.splitlines() == [
        "name: TwoIn",
        "framework: tensorflow",
        "target_platform: rv1126",
        "inputs:",
        "  z:",
        "    type: VX_TYPE_TENSOR",
        "  a:",
        "    type: VX_TYPE_TENSOR",
        "outputs:",
        "  y:",
        "    type: VX_TYPE_TENSOR",
        "params:",
        "  q:",
        "    type: VX_TYPE_ARRAY",
        "  b:",
        "    type: VX_TYPE_BOOL",
        "kernel_index: 0",
        "op_version: 2",
        "out_binary: TwoIn.rknnop",
        "op_py_file: rknn_op_twoin.py",
        "vx_file: rknn_kernel_twoin.vx",
    ]
    assert yaml.safe_load(text)["params"] == {
        "q": {"type": "VX_TYPE_ARRAY"},
        "b": {"type": "VX_TYPE_BOOL"},
    }


def test_cpu_only_operator_has_no_vx_code() -> None:
    spec = parse("kernels: [cpu]\n" + DESCRIPTIONS["every_type"])
    both = parse(DESCRIPTIONS["every_type"])
    files, files_of_both = all_files(spec), all_files(both)
    assert set(files_of_both) - set(files) == VX_FILES
    for path, text in files.items():
        if path.startswith(("docs/", "include/")) or path.endswith(".json"):
            continue  # the same for every operator
        lines = text.replace("vx_kernel_EveryType_list", "").splitlines()
        named = [
            line
            for line in lines
            if re.search(r"\bvx_kernel(?!_description_t)|VX kernel|\.vx\b|launch", line)
        ]
        assert named == [], path
    assert package_description(spec, "rv1126") == package_description(both, "rv1126")


@pytest.mark.parametrize("name", ["resize_area", "truncate_div", "many", "names_of_ours"])
def test_compute_shows_first_input_access(name: str) -> None:
    spec = parse(DESCRIPTIONS[name])
    first = f"inputs->{spec.inputs[0].name}"
    math = all_files(spec)[f"{spec.lower}_compute.h"]
    comment, code = math.split("#ifndef")
    assert f"{first}.float32[row * {first}.shape[1] + column]" in comment
    for output in spec.outputs:
        assert f"        outputs->{output.name}.float32[i] = {first}.float32[i];\n" in code


@pytest.mark.parametrize(
    ("runtimes", "expected"),
    [
        (
            "rknn",
            [
                " check  # compares every case with numpy, on this PC",
                "        # builds and packs build/rk1808/Copy.rknnop",
            ],
        ),
        (
            "rknn, pplnn",
            [
                " check           # compares every case with numpy, on this PC",
                "                 # builds and packs build/rk1808/Copy.rknnop",
                " target=riscv64  # compiles all of it for riscv64",
            ],
        ),
    ],
)
def test_readme_has_the_command_of_each_product(runtimes: str, expected: list[str]) -> None:
    tensors = "inputs: {x: {type: VX_TYPE_TENSOR}}\noutputs: {y: {type: VX_TYPE_TENSOR}}\n"
    files = all_files(parse(f"name: Copy\nruntimes: [{runtimes}]\n{tensors}"))
    scons = "    .venv/bin/scons"
    found = [line for line in files["README.md"].splitlines() if line.startswith(scons)]
    assert found == [f"{scons}{each}" for each in expected]


@pytest.mark.parametrize("runtimes", ["rknn", "rknn2", "pplnn", "rknn, rknn2, pplnn"])
@pytest.mark.parametrize("more", ["", "elementwise: true\n"])
def test_readme_is_one_page(runtimes: str, more: str) -> None:
    text = all_files(parse(f"name: Copy\nruntimes: [{runtimes}]\n{HEAD}{more}"))["README.md"]
    assert text.startswith("# Copy\n\nA custom operator for ")
    assert len(text.encode()) <= 5000
    titles = re.findall(r"^## (.*)", text, re.MULTILINE)
    assert titles == ["Your first edit", "Commands", "Files", "Read on"]
    assert ".cruft.json" not in text


def test_first_edit_keeps_the_other_outputs() -> None:
    tensor = "type: VX_TYPE_TENSOR"
    description = (
        f"name: Copy\nruntimes: [rknn2]\ninputs: {{x: {{{tensor}}}}}\n"
        f"outputs: {{y: {{{tensor}}}, z: {{{tensor}}}, n: {{{tensor}, dtype: int32}}}}\n"
    )
    text = all_files(parse(description))["README.md"]
    assert (
        "    return {\n"
        '        "y": -inputs["x"],\n'
        '        "z": np.array(inputs["x"]),\n'
        '        "n": np.zeros(inputs["x"].shape, "int32"),\n'
        "    }\n"
    ) in text


@pytest.mark.parametrize(
    ("runtimes", "converter"),
    [("pplnn", ""), ("rknn", "RKNN-Toolkit"), ("pplnn, rknn2", "RKNN-Toolkit2")],
)
def test_reference_begins_with_its_purpose(runtimes: str, converter: str) -> None:
    text = once_only_files(parse(f"name: Copy\nruntimes: [{runtimes}]\n{HEAD}"))[
        "copy_reference.py"
    ]
    _, purpose, _ = text.split('"""', 2)
    first, *rest = purpose.split("\n")
    assert first == "Copy in numpy: the expected outputs for every kernel."
    if converter:
        assert rest[1].startswith(f"{converter} runs this file while it converts a model.")
        assert rest[-1] == ""
    else:
        assert rest == []


def test_arguments_of_the_math_are_aligned() -> None:
    tensor = "type: VX_TYPE_TENSOR"
    doc = f"{40 * 'a'} {40 * 'b'}"
    text = once_only_files(
        parse(
            f"name: Copy\ninputs: {{x: {{{tensor}, doc: First  one.}}}}\n"
            f"outputs: {{output: {{{tensor}}}}}\n"
            f"params: {{p: {{type: VX_TYPE_INT32, doc: '{doc}'}}}}\n"
        )
    )["copy_compute.h"]
    assert (
        " * Computes the outputs:\n"
        " *\n"
        " *   inputs->x        First one.\n"
        f" *   params->p        {40 * 'a'}\n"
        f" *                    {40 * 'b'}\n"
        " *   outputs->output\n"
        " *\n"
    ) in text


def test_readme_names_existing_pages_and_files() -> None:
    files = all_files(parse(f"name: Copy\nruntimes: [rknn, rknn2, pplnn]\n{HEAD}"))
    text = files["README.md"]
    pages = re.findall(r"\| `(\w+\.md)` \|", text)
    assert {"rknn.md", "rknn2.md", "pplnn.md", "repository.md"} <= {*pages}
    assert [page for page in pages if not (ROOT / "docs" / page).is_file()] == []
    yours = re.findall(r"`([\w/]+\.\w+)`", text.partition("## Files")[2].partition("## Read on")[0])
    assert [path for path in yours if path not in {*files, "op.yml", "requirements.txt"}] == [
        "requirements.lock"
    ]


def test_generation_is_deterministic() -> None:
    for text in DESCRIPTIONS.values():
        assert all_files(parse(text)) == all_files(parse(text))


def test_generated_files_are_marked(files: dict[str, str]) -> None:
    for path, text in files.items():
        if path.endswith(".json"):  # has no comments
            continue
        first = text.splitlines()[0].lower()
        ours = path.startswith(OURS)
        assert ("generated" in first and "do not edit" in first) == ours, path


def test_no_placeholders_or_stray_spaces(files: dict[str, str]) -> None:
    for path, text in files.items():
        assert not re.search(r"[ \t]+$", text, re.MULTILINE), path
        assert text.endswith("\n"), path
        assert not text.endswith("\n\n"), path
        assert "\n\n\n\n" not in text, path


@pytest.mark.parametrize("name", quick_first(10, sorted({*DESCRIPTIONS, *OTHER_EXAMPLES})))
def test_line_length(name: str) -> None:
    """A line that holds a name of more than 60 characters cannot always be broken."""
    for path, text in all_files(parse((DESCRIPTIONS | OTHER_EXAMPLES)[name])).items():
        if path.endswith(".py"):
            ast.parse(text)
        for number, line in enumerate(text.splitlines(), 1):
            breakable = max(map(len, re.findall(r"\w+", line)), default=0) <= 60
            is_c = path.endswith((".c", ".h", ".cc", ".vx"))
            assert len(line) <= 100 or not (breakable and is_c), f"{path}:{number}: {line}"


def write(files: dict[str, str], root: Path) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


@pytest.mark.slow
def test_c_compiles_everywhere_without_a_warning(files: dict[str, str], tmp_path: Path) -> None:
    write(files, tmp_path)
    (kernel,) = (tmp_path / path for path in files if path.endswith(".c") and path != STUB)
    includes = [f"-I{tmp_path / name}" for name in (".", *INCLUDES)]
    for abi in ABIS.values():
        result = compile_c(tmp_path / "kernel.o", kernel, "-c", *includes, abi=abi)
        assert result.returncode == 0, result.stderr
