"""`rknn-op import`: repositories in the style of the vendor's tool."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from opkit import repository
from rknn_op.runtimes.rknn.vendor.python_class import translated_shape_rule
from tests.check.target_repositories import counts
from tests.marks import quick_first, slow_first
from tests.repositories import ROOT, Repository
from tests.rknn_op.command import rknn_op, snapshot, succeeded

DATA = ROOT / "tests" / "data" / "vendor_repository"
OLD = "AddScaled"
KERNEL = "rknn_kernel_addscaled.c"
VX = "rknn_kernel_addscaled.vx"
CLASS = """\
import tensorflow as tf
from rknn.api import RKNNCustomOP, IoMap, Shape


class AddScaled(RKNNCustomOP):
    op = 'AddScaled'
    def_input = [IoMap('in0', 'in', 'input port 0'), IoMap('in1', 'in', 'input port 1')]
    def_output = [IoMap('out0', 'out', 'output port 0')]

    def load_params_from_tf(self, node_def, tensor_data_map):
        p = dict()
        p['scale'] = node_def.attr['scale'].f
        p['offsets'] = tensor_data_map['C:out0'].tolist()
        return p

    def compute_output_shape(self, inputs_shape, params):
        outputs_shape = [Shape() for i in range(len(self.def_output))]
        outputs_shape[0].set_shape(shape=inputs_shape[0].format('nhwc'), fmt='nhwc')
        return outputs_shape

    def compute_output_tensor(self, const_tensor, inputs_tensor, params):
        scaled = inputs_tensor[1] * params['scale']
        return [inputs_tensor[0] - scaled + sum(params['offsets'])]
"""
UNWRITTEN = """\
    raise NotImplementedError(
        "the math of AddScaled in numpy is to be written here; then delete this line"
    )
"""
WRITTEN = """\
    scaled = inputs["input1"] * params["scale"]
    return {"output0": inputs["input0"] - scaled + sum(params["offsets"])}
"""
TESTS = """\
import pytest

from opkit.testing import cases, check_cpu_kernel, check_vx_kernel, uniform

SHAPES = [{"input0": (7,), "input1": (7,)}, {"input0": (1, 4, 5, 3), "input1": (1, 4, 5, 3)}]
CASES = cases(
    shapes=SHAPES, values=[uniform(-1, 1)], params=[{"scale": 0.5, "offsets": [1, 2]}],
    dtype="float16",
)
COPIES = cases(
    shapes=SHAPES[1:], values=[uniform(-1, 1)], params=[{"scale": 0, "offsets": [0]}],
    dtype="float16",
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cpu_kernel(case):
    check_cpu_kernel(case, max_ulp=0)


@pytest.mark.parametrize("case", COPIES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, max_ulp=0)
"""

pytestmark = pytest.mark.usefixtures("folder")


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.fixture
def old(folder: Path) -> Path:
    """Return a repository of the vendor's tool, in the working directory."""
    path = folder / OLD
    shutil.copytree(DATA, path)
    (path / "rknn_op_addscaled.py").write_text(CLASS)
    for abi in ("x64", "aarch64", "armhf"):
        (path / f"makefile.linux.{abi}").write_text("all:\n\ttrue\n")
    return path


def dry_run() -> str:
    """Return the output of `import --dry-run`, which makes and changes nothing."""
    before = snapshot(Path())
    result = succeeded("import", OLD, "--dry-run")
    assert snapshot(Path()) == before
    assert [path.name for path in Path().iterdir()] == [OLD]
    return result.stdout


def warnings(report: str) -> list[str]:
    _, _, rest = report.partition("\nWarnings:\n")
    return [line.strip() for line in rest.partition("\n\n")[0].splitlines()]


def test_import_keeps_kernels_and_rewrites_the_rest(folder: Path, old: Path) -> None:
    before = snapshot(old)
    result = succeeded("import", OLD)
    assert snapshot(old) == before
    new = folder / f"{OLD}_imported"
    assert sorted(path.name for path in folder.iterdir()) == [OLD, new.name]
    made = snapshot(new)
    for name in (KERNEL, "rknn_kernel_addscaled.vx", "addscaled_halves.h"):
        assert made[name] == before[name]
        assert name in result.stdout
    spec = repository.load(new)
    assert [each.name for each in spec.parameters] == [
        *("input0", "input1", "output0", "scale", "offsets")
    ]
    assert [param.source for param in spec.params] == [None, "const:C"]
    assert spec.kernels == ("cpu", "vx")
    text = made["op.yml"].decode()
    assert "-Wno-unused-parameter" in text
    assert not {"out_binary", "op_py_file", "vx_file", "op_version"} & {*text.split(":")}
    assert repository.update(new) == spec
    assert snapshot(new) == made
    reference = made["addscaled_reference.py"].decode()
    assert "    #     scaled = inputs_tensor[1] * params['scale']\n" in reference
    tests = made["tests/test_addscaled.py"].decode()
    assert '{"input0": (1, 4, 6, 3), "input1": (1, 4, 6, 3)}' in tests
    assert 'params=[{"scale": 0.5, "offsets": [1, 1]}],\n' in tests
    assert repository.drift(new, spec, new / "build") == []


@pytest.mark.slow
def test_imported_operator_builds_and_equals_its_reference(folder: Path, old: Path) -> None:
    succeeded("import", OLD, "--path", "here/New")
    new = Repository(folder / "here/New")
    unwritten = new.scons("check", check=False)
    assert "link build/x64/libaddscaled.so" in unwritten.stdout
    assert "warning" not in unwritten.stderr
    assert unwritten.returncode == 2
    assert "NotImplementedError: the math of AddScaled in numpy is to be written" in " ".join(
        unwritten.stdout.split()
    )
    change(new.path / "addscaled_reference.py", UNWRITTEN, WRITTEN)
    (new.path / "tests/test_addscaled.py").write_text(TESTS)
    checked = new.scons("check")
    assert counts(checked.stdout) == {"CPU kernel": 2, "VX kernel": 1}
    reference = new.path / "addscaled_reference.py"
    times = reference.stat()
    change(reference, "- scaled", "+ scaled")
    os.utime(reference, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "FAILED" in new.scons("check", check=False).stdout


def test_inexact_halves_have_cases_that_pass(folder: Path, old: Path) -> None:
    tests = "tests/test_addscaled.py"
    reason = "with max_ulp=1 and no special values, because of float_to_half()"
    result = rknn_op("import", OLD, "-p", "inexact")
    assert re.search(rf"^  {tests} +{re.escape(reason)}$", result.stdout, re.MULTILINE)
    inexact = (folder / "inexact" / tests).read_text()
    assert "check_cpu_kernel(case, max_ulp=1)" in inexact
    assert "check_vx_kernel(case, max_ulp=0)" in inexact
    assert "values=[uniform(-1, 1)]," in inexact
    change(old / KERNEL, "float_to_half", "convert")
    result = rknn_op("import", OLD, "-p", "exact")
    assert tests not in result.stdout.partition("Next:")[0]
    exact = (folder / "exact" / tests).read_text()
    assert "check_cpu_kernel(case, max_ulp=0)" in exact
    assert "values=[uniform(-1, 1), special()]," in exact


@pytest.mark.parametrize("declaration", ["vx_int32 sign", "vx_int32 other, sign", "vx_uint32 sign"])
def test_shift_into_the_sign_is_not_reported(folder: Path, old: Path, declaration: str) -> None:
    change(old / KERNEL, "vx_int32 sign = half & 0x8000;", f"{declaration};")
    rknn_op("import", OLD)
    description = " ".join((folder / f"{OLD}_imported/op.yml").read_text().replace("#", "").split())
    comment = f"-fno-sanitize=shift: {KERNEL}:33 shifts a bit into the sign of an integer."
    assert (comment in description) == ("uint" not in declaration)
    assert ("-fno-sanitize=shift]" in description) == ("uint" not in declaration)


def without_statements(vx: Path) -> None:
    head, _, _ = vx.read_text().partition("{")
    vx.write_text(f"{head}{{\n    /* Write it here: {{ it; }} */\n    ; // later\n}}\n")


def test_empty_vx_kernel_is_left_out(folder: Path, old: Path) -> None:
    without_evidence(old / KERNEL)
    without_statements(old / VX)
    result = succeeded("import", OLD)
    assert warnings(result.stdout) == [
        f"{OLD}/op.yml:10: inputs: listed as input1, input0, but {OLD}/{VX}:4 says input0, input1: "
        "took that",
        f"{OLD}/op.yml:5: params: listed as offsets, scale, but kernel_params[] in "
        f"{OLD}/{KERNEL}:19 says scale, offsets: took that",
        f"{OLD}/{VX}:4: the VX kernel has no statement, so it was left out, and op.yml has "
        "`kernels: [cpu]`; to write one, add vx there: `scons` makes a .vx file to start from",
    ]
    assert f"\nNot taken: {VX}\n" in result.stdout
    new = folder / f"{OLD}_imported"
    assert not (new / VX).exists()
    assert repository.load(new).kernels == ("cpu",)
    assert f"# The VX kernel was left out: {VX}:4 has no" in (new / "op.yml").read_text()
    assert "check_vx_kernel" not in (new / "tests/test_addscaled.py").read_text()
    change(new / "op.yml", "kernels: [cpu]", "kernels: [cpu, vx]")
    repository.update(new)
    assert "VXC_WriteImage" in (new / VX).read_text()


def test_vx_kernel_beside_an_empty_one_is_taken(old: Path) -> None:
    change(old / VX, "__kernel", "__kernel void half(image2d_array_t input) {}\n__kernel")
    assert not [line for line in warnings(dry_run()) if "no statement" in line]


VENDOR_OPERATORS = {
    # Folder below the vendor's custom_op -> (operator, line of numpy).
    "rknn_custom_op_math/exp": ("Exp", 'np.exp(inputs["input"])'),
    "rknn_custom_op_math/truncatediv": ("TruncateDiv", 'inputs["input0"] / inputs["input1"]'),
    "rknn_custom_op_resize/resize_area": (
        "ResizeArea",
        'inputs["input"][0][np.ix_(*(np.arange(n) * size // n for n, size in '
        'zip(params["size"], inputs["input"].shape[1:])))]',
    ),
}


@pytest.mark.slow
@pytest.mark.skipif(
    "RKNN_CUSTOM_OPS" not in os.environ,
    reason="RKNN_CUSTOM_OPS is not the folder custom_op of RKNN-Toolkit's examples",
)
@pytest.mark.parametrize(
    "place", slow_first(1, VENDOR_OPERATORS), ids=lambda place: Path(place).name
)
def test_vendor_operator_passes_with_a_line_of_numpy(folder: Path, place: str) -> None:
    name, math = VENDOR_OPERATORS[place]
    vendor = Path(os.environ["RKNN_CUSTOM_OPS"]) / place
    succeeded("import", vendor, "-p", "new")
    new = Repository(folder / "new")
    reference = new.path / f"{name.lower()}_reference.py"
    line = f'    return {{"output": {math}}}\n'
    change(reference, UNWRITTEN.replace("AddScaled", name), line)
    if name == "ResizeArea":  # its VX kernel's launch has 64 x 64 work items for every output
        change(new.path / "op.yml", "[cpu, vx]", "[cpu]")
        tests = new.path / f"tests/test_{name.lower()}.py"
        change(tests, "def test_vx_kernel", "def no_test")
        (new.path / f"rknn_kernel_{name.lower()}.vx").unlink()
    checked = new.scons("check")
    assert checked.stderr == ""
    assert re.search(r"^CPU kernel +\d+ ", checked.stdout, re.MULTILINE)


def test_report_names_sources_and_steps(old: Path) -> None:
    (old / "notes.txt").write_text("")
    report = dry_run()
    assert report.startswith(f"AddScaled, would be imported from {OLD} into {OLD}_imported\n")
    assert re.search(rf"^  {KERNEL} +as it is$", report, re.MULTILINE)
    assert "\nNot taken: notes.txt\n" in report
    steps = [line for line in report.splitlines() if line.startswith("  1. ")]
    assert steps == [f"  1. cd {OLD}_imported"]
    assert report.index("scons") < report.index("write addscaled_reference.py")
    assert warnings(report) == [
        f"{OLD}/op.yml:10: inputs: listed as input1, input0, but kernel_params[] in "
        f"{OLD}/{KERNEL}:19 says input0, input1: took that",
        f"{OLD}/op.yml:5: params: listed as offsets, scale, but kernel_params[] in "
        f"{OLD}/{KERNEL}:19 says scale, offsets: took that",
    ]


def test_truth_value_is_a_byte(old: Path) -> None:
    change(old / "op.yml", "VX_TYPE_FLOAT32", "VX_TYPE_BOOL")
    before = warnings(dry_run())
    change(old / KERNEL, "VX_TYPE_SCALAR", "VX_TYPE_UINT8")
    assert warnings(dry_run()) == before


@pytest.mark.parametrize("evidence", ["comments", "variables"])
def test_order_needs_one_piece_of_evidence(old: Path, evidence: str) -> None:
    text = (old / KERNEL).read_text()
    if evidence == "comments":
        text = text.replace("vx_tensor input", "vx_tensor from")
    else:
        text = text.replace("/* input", "/* the tensor ")
    (old / KERNEL).write_text(text)
    assert "inputs: listed as input1, input0, but" in dry_run()


def without_evidence(kernel: Path) -> None:
    text = kernel.read_text().replace("vx_tensor input", "vx_tensor from")
    kernel.write_text(text.replace("/* input", "/* the tensor "))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("__kernel void", "kernel __attribute__((reqd_work_group_size(8, 1, 1)))\nvoid"),
        ("__read_only image2d_array_t input0", "/* , */ __read_only image2d_array_t INPUT0 // )\n"),
        ("float scale, vx_array_int offsets", "float factor, vx_array_int numbers"),
        ("__kernel", "__kernel void half(__read_only image2d_array_t input1) {}\n__kernel"),
    ],
    ids=["as it is", "attribute", "comments", "other params", "two kernels"],
)
def test_order_of_vx_kernel_is_used_without_order_in_c(old: Path, before: str, after: str) -> None:
    without_evidence(old / KERNEL)
    change(old / VX, before, after)
    found = warnings(dry_run())[0]
    line = "5" if before == "__kernel" else "4"
    assert found == (
        f"{OLD}/op.yml:10: inputs: listed as input1, input0, but {OLD}/{VX}:{line} says input0, "
        "input1: took that"
    )


def test_c_file_counts_more_than_vx_kernel(old: Path) -> None:
    text = (old / VX).read_text().replace("input1", "input2").replace("input0", "input1")
    (old / VX).write_text(text.replace("input2", "input0"))
    found = warnings(dry_run())
    assert f"{OLD}/{KERNEL}:19 says input0, input1: took that" in found[2]
    assert found[:2] == [
        f"{OLD}/{VX}:4: takes {name} as parameter {there}, but {OLD}/{KERNEL} says {here}: took "
        "that of the C file; both get the same list, so that one of them is wrong"
        for name, there, here in (("input1", 0, 1), ("input0", 1, 0))
    ]


def test_position_taken_in_the_c_file_is_not_taken_from_the_vx_kernel(old: Path) -> None:
    """The C file names the position of input0 alone."""
    change(old / KERNEL, "vx_tensor input1", "vx_tensor from")
    change(old / KERNEL, "/* input1 */", "")
    text = (old / VX).read_text().replace("input1", "input2").replace("input0", "input1")
    (old / VX).write_text(text.replace("input2", "input0"))
    assert f"{OLD}/{KERNEL}:19 says input0, input1: took that" in warnings(dry_run())[1]


def without_params(old: Path) -> None:
    """Remove the names of the params."""
    change(old / KERNEL, "vx_array offsets", "vx_array list")
    change(old / KERNEL, "&scale", "&factor")
    change(old / VX, "float scale, vx_array_int offsets", "float factor, vx_array_int list")


def test_last_param_takes_the_last_row(old: Path) -> None:
    without_params(old)
    write_rows(old, "input input output array scalar")
    change(old / KERNEL, "VX_TYPE_SCALAR", "VX_TYPE_INT32")
    found = [line for line in warnings(dry_run()) if "inputs" not in line]
    assert found == [
        f"{OLD}/{KERNEL}:24: VX_TYPE_INT32 for scale, which is VX_TYPE_FLOAT32 in op.yml; the "
        "runtime refuses that"
    ]


def test_order_of_params_by_their_kinds_in_the_table(old: Path) -> None:
    without_params(old)
    assert warnings(dry_run())[1] == (
        f"{OLD}/op.yml:5: params: listed as offsets, scale, but kernel_params[] in "
        f"{OLD}/{KERNEL}:19 says scale, offsets: took that"
    )


def test_comment_below_the_last_row_is_of_no_row(old: Path) -> None:
    expected = warnings(dry_run())
    head, table, rest = (old / KERNEL).read_text().partition("kernel_params[] = {\n")
    (old / KERNEL).write_text(head + table + rest.replace("};\n", "    /* input0 */ };\n", 1))
    assert warnings(dry_run()) == expected


OTHER_ORDER = "(int input1, int input0, int output0, int scale, int offsets)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("image2d_array_t input", "image2d_array_t from"),
        ("float scale, ", ""),
        ("__kernel", f"__kernel void other{OTHER_ORDER} {{}}\n__kernel"),
        ("__kernel void", "static void"),
    ],
    ids=["other names", "count", "two orders", "no kernel"],
)
def test_vx_kernel_without_order(old: Path, before: str, after: str) -> None:
    without_evidence(old / KERNEL)
    change(old / VX, before, after)
    assert "input1, input0, though" in dry_run()


def without_order(old: Path) -> None:
    """Remove all evidence of the order of the inputs."""
    without_evidence(old / KERNEL)
    (old / VX).write_text((old / VX).read_text().replace("input", "from"))


def test_order_without_a_table_is_that_of_the_variables(old: Path) -> None:
    change(old / KERNEL, "static vx_param_description_t", "static struct other")
    found = warnings(dry_run())
    assert found == [
        f"{OLD}/{KERNEL}:1: no table of vx_param_description_t that can be read; how many "
        "parameters the kernel takes, and in which order, was not compared with op.yml",
        f"{OLD}/op.yml:10: inputs: listed as input1, input0, but {OLD}/{KERNEL} says input0, "
        "input1: took that",
        f"{OLD}/op.yml:5: params: listed as offsets, scale, but {OLD}/{KERNEL} says scale, "
        "offsets: took that",
    ]


ROWS = {
    "input": "    {VX_INPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},\n",
    "output": "    {VX_OUTPUT, VX_TYPE_TENSOR, VX_PARAMETER_STATE_REQUIRED},\n",
    "scalar": "    {VX_INPUT, VX_TYPE_SCALAR, VX_PARAMETER_STATE_REQUIRED},\n",
    "array": "    {VX_INPUT, VX_TYPE_ARRAY, VX_PARAMETER_STATE_REQUIRED},\n",
}


def write_rows(old: Path, order: str) -> None:
    """Replace the rows of the table of parameters."""
    head, _, rest = (old / KERNEL).read_text().partition("kernel_params[] = {\n")
    _, _, tail = rest.partition("};\n")
    rows = "".join(ROWS[kind] for kind in order.split())
    (old / KERNEL).write_text(f"{head}kernel_params[] = {{\n{rows}}};\n{tail}")


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("input input output scalar array", []),
        ("input input output array scalar", []),
        ("input output input scalar array", ["22: an input behind outputs"]),
        ("input input scalar output array", ["23: an output behind params"]),
        ("scalar input input output array", ["21: an input behind params"]),
        (
            "output scalar input array input",
            ["22: an input behind params", "24: an input behind params"],
        ),
    ],
)
def test_rows_in_another_order_than_the_runtime_has(
    old: Path, order: str, expected: list[str]
) -> None:
    write_rows(old, order)
    found = [line for line in warnings(dry_run()) if " behind " in line]
    assert found == [
        f"{OLD}/{KERNEL}:{each}; the runtime's order is inputs, outputs, params"
        for each in expected
    ]


def test_lost_order_is_kept_with_a_warning(old: Path) -> None:
    without_order(old)
    found = warnings(dry_run())
    assert found[0] == (
        f"{OLD}/op.yml:10: inputs: the vendor's tool lists them in random order, and {OLD}/{KERNEL}"
        " does not say in which it takes them; took input1, input0, though their numbers say "
        "otherwise: compare with the kernel"
    )


@pytest.mark.parametrize(
    "edits",
    [
        [("/* input0 */", "/* input1 */"), ("vx_tensor input0", "vx_tensor other")],
        [
            ("/* input1 */", ""),
            ("/* input0 */", "/* input1 */"),
            ("vx_tensor input1", "vx_tensor b"),
        ],
    ],
    ids=["one name, two places", "two names, one place"],
)
def test_contradicting_evidence_is_ignored(old: Path, edits: list[tuple[str, str]]) -> None:
    for before, after in edits:
        change(old / KERNEL, before, after)
    (old / VX).write_text((old / VX).read_text().replace("input", "from"))
    assert "input1, input0, though" in dry_run()


@pytest.mark.parametrize(
    ("before", "after", "warning"),
    [
        (
            "{VX_INPUT, VX_TYPE_ARRAY, VX_PARAMETER_STATE_REQUIRED},",
            "",
            f"{OLD}/{KERNEL}:19: kernel_params[] has 2 inputs, 1 output, 0 arrays, 1 scalar, "
            "op.yml 2 inputs, 1 output, 1 array, 1 scalar",
        ),
        (
            "VX_TYPE_SCALAR",
            "VX_TYPE_INT32",
            f"{OLD}/{KERNEL}:23: VX_TYPE_INT32 for scale, which is VX_TYPE_FLOAT32 in op.yml",
        ),
        (
            "kernel_params[] = {\n",
            "kernel_params[] = {{VX_INPUT, VX_TYPE_SCALAR, 0},\n",
            "2 inputs, 1 output, 1 array, 2 scalars, op.yml",
        ),
        ("static vx_param_description_t", "static struct other", f"{OLD}/{KERNEL}:1: no table"),
        (
            "vx_kernel_AddScaled_list",
            "vx_kernel_addscaled_list",
            "vx_kernel_addscaled_list, but the runtime looks up vx_kernel_AddScaled_list",
        ),
        (
            "&vx_kernel_AddScaled_vx, NULL",
            "NULL",
            "has one kernel, so rknn_kernel_addscaled.vx is not",
        ),
        ('"addscaled_halves.h"', '"absent.h"', f"{KERNEL}:13: 'absent.h' not found in {OLD}"),
        ('"addscaled_halves.h"', '"op.yml"', "'op.yml' was not taken"),
        ('"addscaled_halves.h"', '"/etc/hosts"', "'/etc/hosts' was not taken: it is absolute"),
        (
            '"addscaled_halves.h"',
            f'"{"a/" * 9000}b.h"',
            "characters)' was not taken: it is too long",
        ),
        ('"addscaled_halves.h"', '".cruft.json"', "'.cruft.json' was not taken"),
        ('"addscaled_halves.h"', '"../op.yml"', "'../op.yml' was not taken: it may lead out"),
    ],
)
def test_kernel_that_contradicts_the_description(
    old: Path, before: str, after: str, warning: str
) -> None:
    change(old / KERNEL, before, after)
    assert any(warning in line for line in warnings(dry_run())), warnings(dry_run())


@pytest.mark.parametrize(
    ("before", "after", "warning"),
    [
        ("op = 'AddScaled'", "op = 'Other'", ":5: op is 'Other', but op.yml has `name: AddScaled`"),
        (", IoMap('in1', 'in', 'input port 1')", "", ":5: def_input has 1 ports, op.yml 2"),
        ("p['scale']", "p['factor']", ":12: sets the param 'factor', which op.yml does not have"),
        ("attr['scale']", "attr['alpha']", ":12: scale is the node's attribute alpha"),
        ("def load", "def 1", ":10: is not Python 3"),
        ("compute_output_tensor", "compute", ":1: has no class with a method compute_output_ten"),
        ("p = dict()", "print 'p'", ":11: is not Python 3"),
    ],
)
def test_class_that_contradicts_the_description(
    old: Path, before: str, after: str, warning: str
) -> None:
    change(old / "rknn_op_addscaled.py", before, after)
    assert any(warning in line for line in warnings(dry_run())), warnings(dry_run())


RULE = """\
def compute_output_shape(self, inputs_shape, params):
    '''The result is larger.'''
    results = [Shape() for port in self.def_output]
    shape = inputs_shape[1].format("nhwc")
    for axis, size in enumerate(params["size"]):
        shape[axis + 1] *= int(size)
    results[0].set_shape(shape, "nhwc")
    results[1].set_shape(fmt="nhwc", shape=[len(shape)])
    return results
"""
SPELLED = """\
results = {}
shape = list(input_shapes['b'])
for axis, size in enumerate(params['size']):
    shape[axis + 1] *= int(size)
results['c'] = tuple(shape)
results['d'] = tuple([len(shape)])
return results
"""


def spelled(rule: str) -> list[str] | None:
    method = ast.parse(rule).body[0]
    assert isinstance(method, ast.FunctionDef)
    return translated_shape_rule(method, ["a", "b"], ["c", "d"])


def test_shape_rule_is_spelled_for_the_reference() -> None:
    assert spelled(RULE) == SPELLED.splitlines()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('.format("nhwc")', '.format("nchw")'),
        ('(shape, "nhwc")', '(shape, "nchw")'),
        ("inputs_shape[1]", "inputs_shape[2]"),
        ("int(size)", "self.scale"),
        ("int(size)", "np.prod(size)"),
        ("int(size)", "open(size)"),
        ("results[1].set", "results[0].set"),
        ("results[1].set_shape(fmt", "results[1].other(fmt"),
        ("return results", "return results[:1]"),
        ("    return results", "    results.append(Shape())\n    return results"),
        ("    return results", ""),
        ("int(size)", "f'{size}'"),
        (", params)", ", values)"),
    ],
)
def test_shape_rule_that_takes_a_person(before: str, after: str) -> None:
    assert before in RULE
    assert spelled(RULE.replace(before, after)) is None


def test_class_is_not_run(folder: Path, old: Path) -> None:
    trap = f"open({str(folder / 'trap')!r}, 'w')\n"
    (old / "rknn_op_addscaled.py").write_text(trap + CLASS)
    succeeded("import", OLD)
    assert not (folder / "trap").exists()


def test_no_character_of_the_class_leaves_its_comment(folder: Path, old: Path) -> None:
    text = CLASS.replace(
        "return outputs", "x = self\n        y = '''\n\x0cimport os\n'''\n        return outputs"
    )
    (old / "rknn_op_addscaled.py").write_text(text)
    succeeded("import", OLD)
    made = (folder / f"{OLD}_imported/addscaled_reference.py").read_text()
    lines = [line.strip() for line in made.splitlines() if "import os" in line]
    assert lines == ["# import os"]
    assert '"the shape rule of AddScaled is to be written here' in made


@pytest.mark.parametrize("depth", [300, 3000, 100_000])
@pytest.mark.parametrize("operator", ["1+", "-", "f.", "("], ids=["sum", "minus", "dot", "bracket"])
def test_class_nested_deeply(old: Path, depth: int, operator: str) -> None:
    text = CLASS.replace(
        "outputs_shape = ", f"deep = {operator * depth}x\n        outputs_shape = "
    )
    (old / "rknn_op_addscaled.py").write_text(text)
    assert "would be imported" in dry_run()


def test_headers_of_headers_are_taken(folder: Path, old: Path) -> None:
    (old / "sub").mkdir()
    change(old / KERNEL, '"addscaled_halves.h"', '"sub/one.h"')
    (old / "sub/one.h").write_text('#include "two.h"\n#include "VX/vx.h"\n')
    (old / "sub/two.h").write_text('#include "one.h"\n#include "addscaled_halves.h"\n')
    assert not any("#include" in line or ".h'" in line for line in warnings(dry_run()))
    succeeded("import", OLD)
    for name in ("sub/one.h", "sub/two.h", "addscaled_halves.h"):
        assert (folder / f"{OLD}_imported" / name).read_bytes() == (old / name).read_bytes()


def test_as_many_headers_as_allowed(old: Path) -> None:
    (old / KERNEL).write_text("".join(f'#include "{index}.h"\n' for index in range(64)))
    assert sum("not found in" in line for line in warnings(dry_run())) == 64


def test_long_chain_of_headers(old: Path) -> None:
    change(old / KERNEL, "addscaled_halves.h", "0.h")
    for index in range(2000):
        (old / f"{index}.h").write_text(f'#include "{index + 1}.h"\n')
    assert f"{OLD}/63.h: includes more than 64 headers" in rknn_op("import", OLD).stderr


def test_without_vx_and_class(old: Path) -> None:
    (old / "rknn_kernel_addscaled.vx").unlink()
    (old / "rknn_op_addscaled.py").unlink()
    assert f"{OLD}: rknn_op_addscaled.py not found" in dry_run()
    succeeded("import", OLD, "-p", "new")
    spec = repository.load(Path("new"))
    assert spec.kernels == ("cpu",)
    assert "check_vx_kernel" not in Path("new/tests/test_addscaled.py").read_text()


def test_other_case_line_ends_and_encodings(folder: Path, old: Path) -> None:
    for name in (KERNEL, "rknn_op_addscaled.py"):
        (old / name).rename(old / name.upper())
    kernel = old / KERNEL.upper()
    data = kernel.read_bytes().replace(b"\n", b"\r\n") + b"/* \xe9\xff */\r\n"
    kernel.write_bytes(b"\xef\xbb\xbf" + data)
    description = old / "op.yml"
    description.write_bytes(b"\xef\xbb\xbf" + description.read_bytes().replace(b"\n", b"\r\n"))
    result = succeeded("import", OLD)
    assert f"{OLD}/{KERNEL}:19 says".lower() in result.stdout.lower()
    new = folder / f"{OLD}_imported"
    assert (new / KERNEL).read_bytes() == kernel.read_bytes()
    assert f"\n/{KERNEL} -text\n" in (new / ".gitattributes").read_text()
    assert b"\r" not in (new / "op.yml").read_bytes()


HARM = {
    # Shell commands in the folder -> the message.
    "rm op.yml": "op.yml not found; it has: addscaled_halves.h, makefile.linux.aarch64",
    "ls | grep -v op.yml | xargs rm": f"{KERNEL} not found",
    "touch SConstruct generated": "`rknn-op update` brings it to this version",
    f"cp {KERNEL} RKNN_{KERNEL[5:]}; mv {KERNEL} Rknn_{KERNEL[5:]}": "differ in case only",
    ">op.yml": "op.yml:1: description: is empty",
    "sed -i 's/0: {type: .*}/0: {}/' op.yml": ":12: inputs.input0.type: is missing",
    "sed -i s/FLOAT32/FLOAT/ op.yml": ":7: params.scale.type: invalid 'VX_TYPE_FLOAT'",
    "sed -i s/op_version/version_of_op/ op.yml": ":9: version_of_op: unknown key",
    "echo 'sources: [a.c]' >>op.yml": "which the vendor's tool does not know",
    "sed -i 's/kernel_index: 0/kernel_index: 1/' op.yml; rm *.vx": ":4: kernel_index: 1 is the VX",
    f"sed -i 's/x: 0/x: 1/' op.yml; echo 'kernel void addscaled() {{}}' >{VX}": (
        f"but the folder has none: no {VX} with a statement, or a kernel list without it"
    ),
    r"printf 'name: \351\n' >op.yml": ":1: not valid UTF-8",
    r"sed -i 's/name: Add/name: \x1b[31m/' op.yml": "op.yml:14: invalid YAML",
    r"sed -i 's/name: Add.*/name: \"\\e[31m\"/' op.yml": r":14: name: '\x1b[31m' is not a C ident",
    f"truncate -s 1T {KERNEL}": f"{OLD}/{KERNEL}: has 1,099,511,627,776 bytes",
    f"rm {KERNEL}; mkdir {KERNEL}": f"{OLD}/{KERNEL}: is a folder, not a file",
    f"rm {KERNEL}; mkfifo {KERNEL}": f"{OLD}/{KERNEL}: is a device or a pipe",
    f"ln -sf nowhere {KERNEL}": f"{OLD}/{KERNEL}: cannot be read: No such file",
    f"rm {KERNEL}; ln -s {KERNEL} {KERNEL}": f"{OLD}/{KERNEL}: cannot be read: ",
    "ln -sf /dev/zero op.yml": f"{OLD}/op.yml: is a link out of {OLD}",
    f"for i in $(seq 65); do echo '#include \"'$i.h'\"'; done >{KERNEL}": "more than 64 headers",
}


@pytest.mark.parametrize("commands", HARM)
def test_refusals_name_their_file(old: Path, commands: str) -> None:
    subprocess.run(["sh", "-c", commands], cwd=old, check=True)
    names = sorted(path.name for path in old.iterdir())
    for arguments in ([OLD], [OLD, "--dry-run"]):
        result = rknn_op("import", *arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert isinstance(result.exception, SystemExit)
        assert result.stderr.startswith("error: ")
        assert HARM[commands] in result.stderr
        assert result.stderr[:-1].isprintable()
    assert [path.name for path in Path().iterdir()] == [OLD]
    assert sorted(path.name for path in old.iterdir()) == names


@pytest.mark.parametrize("name", ["op.yml", KERNEL, "addscaled_halves.h", "rknn_op_addscaled.py"])
def test_links_out_of_the_folder_are_not_followed(old: Path, folder: Path, name: str) -> None:
    target = folder.parent / "outside"
    (old / name).rename(target)
    (old / name).symlink_to(target)
    result = rknn_op("import", OLD)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"error: {OLD}/{name}: is a link out of {OLD}; ")
    assert [path.name for path in folder.iterdir()] == [OLD]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent"], "absent: cannot be listed: No such file"),
        ([f"{OLD}/op.yml"], f"{OLD}/op.yml is not a folder"),
        ([OLD, "-p", OLD], f"{OLD} is in {OLD}, which stays as it is"),
        ([OLD, "-p", f"{OLD}/new"], f"{OLD}/new is in {OLD}, which stays as it is"),
        ([OLD, "-p", "there"], "there already exists"),
        (["x" * 300], "cannot be listed: File name too long"),
        ([OLD, "-p", "loop"], "loop already exists"),
        ([OLD, "-p", "a b"], "invalid folder name 'a b'"),
        (["/"], "op.yml not found"),
        (["\udcff\x1b[31m"], "cannot be listed"),
    ],
)
def test_invalid_folders(old: Path, arguments: list[str], message: str) -> None:
    Path("there").touch()
    Path("loop").symlink_to("loop")
    before = snapshot(Path())
    result = rknn_op("import", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert result.stderr[:-1].isprintable()
    assert snapshot(Path()) == before


def test_folder_by_a_dot(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(old)
    succeeded("import", ".")
    assert repository.load(Path(f"../{OLD}_imported")).name == "AddScaled"


@pytest.mark.parametrize(
    "text",
    quick_first(
        3,
        [
            "{" * 125_000,
            "/*" * 125_000,
            '"' + "\\" * 212_000,
            "vx_param_description_t a[" * 10_000,
            "vx_param_description_t a[] = {" + "{VX_INPUT, VX_TYPE_TENSOR}, /* a */ " * 7_000,
            "vxCopyScalar((vx_scalar)p[0], (" + " " * 212_000,
            "#define A" + " " * 212_000,
            '#include "VX/vx.h"\n' * 12_000,
            "a = (vx_tensor)p[0];" * 12_000,
            "kernel void a(" * 15_000,
            "kernel void a(" + "int input0, " * 17_000 + ")",
            "kernel" + " " * 212_000,
            "kernel void" + " " * 212_000,
            "kernel void a() {" + ";" * 212_000,
            "f2f16" * 42_000,
            "int " + "a, " * 70_000,
            "int a; " + "a <<= 16; " * 21_000,
        ],
    ),
    ids=lambda text: text[:24],
)
@pytest.mark.parametrize("file", [KERNEL, VX])
def test_reading_takes_no_longer_than_the_file_is_large(old: Path, file: str, text: str) -> None:
    (old / file).write_text(text)
    start = os.times().user
    assert warnings(dry_run())
    assert os.times().user - start < 5  # processor seconds; quadratic time would be minutes
