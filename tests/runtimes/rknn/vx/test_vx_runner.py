"""Compilation and launch of VX kernels; faults and refused sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opkit.common.errors import OpkitError
from opkit.opencl.pc_compiler import Program
from opkit.runtimes.rknn.vx.compiler import compile_vx
from opkit.runtimes.rknn.vx.launch import Border
from opkit.runtimes.rknn.vx.runner import PAST_END, VxRunResult, emulator
from tests.runtimes.rknn.host_build import vx_runtime
from tests.runtimes.rknn.vx.support import (
    KERNELS,
    Array,
    float32,
    int32,
    int32_array,
    launch,
    line_of,
    run_vx,
)
from tests.time_limits import with_growing_limit


@pytest.fixture(scope="module")
def launches(vx_folder: Path) -> Program:
    return compile_vx(KERNELS / "launches.vx", vx_folder / "cache")


X = np.arange(2 * 3 * 16, dtype=np.int16).reshape(2, 3, 16)


def run_launch(
    program: Program,
    kernel: str,
    size: Sequence[int] = (1,),
    scale: Sequence[int] = (1, 1, 1),
    local: Sequence[int] = (0, 0, 0),
    x: Array = X,
    y: tuple[tuple[int, ...], Any] | None = None,
    **options: Any,
) -> VxRunResult:
    return run_vx(
        *(program, kernel, launch(size, scale, local), {"x": x}, {"y": y or (x.shape, x.dtype)}),
        **options,
    )


# ---- Launches -----------------------------------------------------------------------------------


def test_valid_launch(launches: Program) -> None:
    outcome = run_launch(launches, "copy", (2, 3, 2), (8, 1, 1))
    np.testing.assert_array_equal(outcome.outputs["y"], X)
    assert (outcome.events, outcome.unwritten, outcome.fault) == ([], {}, "")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("has_local_memory", [False, True])
def test_launch_with_an_offset(
    has_local_memory: bool, reverse: bool, vx_folder: Path, tmp_path: Path
) -> None:
    source = tmp_path / "copy.vx"
    text = (KERNELS / "launches.vx").read_text()
    source.write_text(text if has_local_memory else text.split("/* Each work item reads")[0])
    program = compile_vx(source, vx_folder / "cache")
    where = launch((1, 1, 1), (8, 1, 1), offset=(8, 2, 1))
    outcome = run_vx(
        *(program, "copy", where, {"x": X}, {"y": (X.shape, X.dtype)}), reverse=reverse
    )
    np.testing.assert_array_equal(outcome.outputs["y"][1, 2, 8:], X[1, 2, 8:])
    assert (outcome.events, outcome.unwritten) == ([], {"y": (88, (0, 0, 0))})


def test_launch_too_wide(launches: Program) -> None:
    outcome = run_launch(launches, "copy", (3, 3, 2), (8, 1, 1))
    read, write = sorted(outcome.events, key=lambda event: event.kind)
    assert (read.kind, read.tensor, read.count, read.at, read.item) == (
        *("read outside", "x", 48, (16, 0, 0), (16, 0, 0)),
    )
    assert (write.kind, write.tensor, write.count, write.at) == (
        "write outside",
        "y",
        48,
        (16, 0, 0),
    )
    assert re.search(
        r"launches\.vx:11: write outside 'y', 48 times; first at \(x, y, z\) = \(16, 0, 0\) "
        r"by work item \(16, 0, 0\)$",
        str(write),
    )


@pytest.mark.parametrize(
    ("size", "scale", "count", "first"),
    [
        ((1, 3, 2), (8, 1, 1), 48, (0, 0, 8)),
        ((2, 3, 1), (8, 1, 1), 48, (1, 0, 0)),
        ((2, 2, 2), (8, 1, 1), 32, (0, 2, 0)),
        ((2, 3, 2), (1, 1, 1), 42, (0, 0, 9)),
    ],
)
def test_launch_too_small(launches: Program, size: Any, scale: Any, count: int, first: Any) -> None:
    assert run_launch(launches, "copy", size, scale).unwritten == {"y": (count, first)}


def test_launch_too_many_slices(launches: Program) -> None:
    events = run_launch(launches, "copy", (2, 3, 3), (8, 1, 1)).events
    assert {(event.kind, event.count, event.at) for event in events} == {
        ("read of a slice outside", 6, (0, 0, 2)),
        ("write to a slice outside", 6, (0, 0, 2)),
    }


@pytest.mark.parametrize(
    ("kernel", "size", "scale", "local", "message"),
    [
        ("copy", (), (), (), "workDim is 0 (expected 1, 2 or 3)"),
        ("copy", (0, 1), (1, 1), (0, 0), "globalWorkSize[0] is 0"),
        ("copy", (1, 1), (1, 0), (0, 0), "globalWorkScale[1] is 0"),
        ("copy", (4, 4), (1, 1), (2, 0), "localWorkSize is (2, 0): either all of it is 0"),
        (
            "copy",
            (4, 5),
            (1, 1),
            (2, 2),
            "globalWorkSize[1] = 5 is not a multiple of localWorkSize[1]",
        ),
        ("divergent", (4,), (1,), (0,), "waits at a barrier, but localWorkSize is 0"),
        ("stale", (4,), (1,), (2,), "reqd_work_group_size asks for (4, 1, 1)"),
        ("nothing", (4,), (1,), (2,), "no kernel 'nothing' (expected copy, race, crash"),
        ("uniform", (1,), (1,), (0,), "uses the _viv_uniform 'factor', which is never set"),
    ],
)
def test_launch_refused_by_board(
    launches: Program, kernel: str, size: Any, scale: Any, local: Any, message: str
) -> None:
    with pytest.raises(OpkitError, match=re.escape(message)):
        run_launch(launches, kernel, size, scale, local)


def test_parameter_mismatch(launches: Program) -> None:
    message = (
        "kernel 'copy' has the parameters (image2d_array_t input, image2d_array_t output), but "
        "gets tensor, tensor, scalar, array"
    )
    with pytest.raises(OpkitError, match=re.escape(message)):
        run_vx(
            *(launches, "copy", launch((1,)), {"x": X}, {"y": (X.shape, X.dtype)}),
            [int32(1), int32_array(1)],
        )


def test_missing_runtime(launches: Program, tmp_path: Path) -> None:
    vx_runtime = tmp_path / "vx_runtime.so"
    for missing in ("harness", "vx_runtime.so"):
        with pytest.raises(OpkitError, match=f"{missing} not found; run `scons target=x64`"):
            emulator(launches, "copy", vx_runtime)
        (tmp_path / missing).touch()


def test_uniform_wrong_size(launches: Program) -> None:
    with pytest.raises(OpkitError, match="'factor' has 4 bytes, but its value 8"):
        run_launch(launches, "uniform", uniforms={"factor": bytes(8)})
    with pytest.raises(OpkitError, match="has no _viv_uniform 'nowhere'"):
        run_launch(launches, "uniform", uniforms={"factor": bytes(4), "nowhere": bytes(4)})


# ---- Reports ------------------------------------------------------------------------------------


def test_race_shows_in_reverse_order(launches: Program) -> None:
    x = np.ones((1, 1, 16), np.int16)
    one, other = (
        run_launch(launches, "race", (16,), x=x, reverse=reverse) for reverse in (False, True)
    )
    np.testing.assert_array_equal(one.outputs["y"][0, 0], np.arange(1, 17))
    assert not np.array_equal(one.outputs["y"], other.outputs["y"])


def test_crash(launches: Program) -> None:
    outcome = run_launch(launches, "crash", (4,))
    line = line_of("launches.vx", "elements[-100000] = 1;")
    assert re.search(
        rf"launches\.vx:{line}: the kernel crashed with SIGSEGV at address 0x\w+, in work item "
        r"\(2, 0, 0\)$",
        outcome.fault,
    )
    assert outcome.outputs == {}


def test_endless_loop(launches: Program) -> None:
    limit, outcome = with_growing_limit(
        lambda seconds: run_launch(launches, "endless", (4,), limit=seconds),
        lambda outcome: "it was in work item (1, 0, 0)" in outcome.fault,
    )
    line = line_of("launches.vx", "while (get_global_id(0) == 1)")
    assert re.search(
        rf"launches\.vx:({line}|{line + 1}|{line + 2}): the kernel did not end within {limit:g} s; "
        r"it was in work item "
        r"\(1, 0, 0\)$",
        outcome.fault,
    )


def test_endless_loop_ignoring_sigalrm(launches: Program) -> None:
    limit, outcome = with_growing_limit(
        lambda seconds: run_launch(launches, "deaf", (4,), limit=seconds),
        lambda outcome: "in work item" not in outcome.fault,
    )
    assert outcome.fault == (
        f"the kernel timed out after {limit:g} s, and SIGALRM does not stop it"
    )
    assert outcome.timed_out


def test_long_output_keeps_head_and_tail(launches: Program) -> None:
    outcome = run_launch(launches, "prints")
    assert outcome.fault == ""
    assert outcome.printed.startswith("the first line\nthe same line again and again 0\n")
    assert outcome.printed.endswith("the last line")
    assert re.search(r"^\.\.\. \d+ bytes left out \.\.\.$", outcome.printed, re.MULTILINE)
    assert len(outcome.printed) < 10**5


def test_output_before_crash_is_kept(launches: Program) -> None:
    outcome = run_launch(launches, "prints_and_crashes")
    assert "SIGSEGV" in outcome.fault
    assert outcome.printed == "here"


def test_undefined_behavior(launches: Program) -> None:
    y = ((1, 1, 24), np.int32)
    found = run_launch(launches, "undefined", (3,), y=y).undefined
    expected = {
        "v = (int4)(table[index]);": [
            "index outside of the array; work item (2, 0, 0)",
            "read of 4 bytes past the end of the private variable 'table', which has 16 bytes; "
            "work item (2, 0, 0)",
        ],
        "sum = table[index] + 1;": [
            "index outside of the array; work item (2, 0, 0)",
            "read of 4 bytes past the end of the private variable 'table', which has 16 bytes; "
            "work item (2, 0, 0)",
            "signed integer overflow in an addition; work item (1, 0, 0)",
        ],
        "sum += (int)(1e20f * index);": [
            "floating-point number outside of the integer type's range; work item (1, 0, 0)"
        ],
        "sum += sum / zero;": ["division by zero, or its result does not fit; work item (1, 0, 0)"],
    }
    assert sorted(re.sub(r"^.*/(launches\.vx:\d+):\d+", r"\1", text) for text in found) == [
        f"launches.vx:{line_of('launches.vx', code)}: {sentence}"
        for code, sentences in expected.items()
        for sentence in sentences
    ]


def test_invalid_accesses(launches: Program) -> None:
    events = {(event.kind, event.tensor) for event in run_launch(launches, "types").events}
    assert events == {
        ("element size", "y"),
        ("beyond the register", "y"),
        ("write to an input", "x"),
        ("write to a slice outside", "y"),
        ("read_image of another type", "x"),
        ("write_image of another type", "y"),
        ("address within a slice", "x"),
    }


def test_invalid_register_lanes(launches: Program) -> None:
    # Lanes 6 and 7 look two further; later items name bin 12 of 8, too, and lanes 4 to 7 of 4.
    for items, count in ((1, 2), (2, 4 + 1), (3, 6 + 2 + 4)):
        (event,) = run_launch(launches, "lanes", (items,)).events
        assert event.kind == "instruction: names a lane beyond the register"
        assert event.count == count
        assert event.item == (0, 0, 0)
        line = int(str(event.line).rpartition(":")[2])
        assert "VXC_HorzMax3(w, v, ALL)" in launches.source.read_text().splitlines()[line - 1]


def test_divergent_barrier(launches: Program) -> None:
    (event,) = run_launch(launches, "divergent", (4,), local=(4,)).events
    assert event.kind == "barrier that only some work items of a group reach"


def test_local_memory_is_reset_per_group(launches: Program) -> None:
    outcome = run_launch(launches, "stale", (8,), local=(4,), y=((1, 32), np.int32))
    np.testing.assert_array_equal(outcome.outputs["y"], -1)


def test_fill_reveals_uninitialized_reads(launches: Program) -> None:
    x = np.ones((1, 1, 5), np.int16)
    y = ((1, 1, 8), np.int16)
    one, other = (
        run_launch(launches, "copy", x=x, y=y, border=Border(fill=fill)).outputs["y"]
        for fill in (0x7E7E7E7E, 0x3C3C3C3C)
    )
    np.testing.assert_array_equal(one[0, 0, :5], other[0, 0, :5])
    np.testing.assert_array_equal(one[0, 0, 5:], 0x7E7E)
    np.testing.assert_array_equal(other[0, 0, 5:], 0x3C3C)
    assert PAST_END[0] in {event.kind for event in run_launch(launches, "copy", x=x, y=y).events}


@pytest.mark.parametrize(
    ("policy", "value", "outside"),
    [("edge", 0, 1), ("constant", 3, 3), ("constant", b"\x04\x01\xff\xff" + bytes(12), 260)],
)
def test_outputs_are_filled_for_every_border(
    policy: str, value: float | bytes, outside: int, launches: Program
) -> None:
    x = np.ones((1, 1, 5), np.int16)
    border = Border(policy, 0x3C3C3C3C, value)
    outcome = run_launch(launches, "copy", x=x, y=((1, 1, 10), np.int16), border=border)
    np.testing.assert_array_equal(
        outcome.outputs["y"][0, 0], [1] * 5 + [outside] * 3 + [0x3C3C] * 2
    )


# ---- Sources ------------------------------------------------------------------------------------


def write_source(vx_folder: Path, name: str, text: str) -> Path:
    source = vx_folder / f"{name}.vx"
    source.write_text(text)
    return source


EXP = """
__kernel void {name}(image2d_array_t input, __write_only image2d_array_t output, const float k)
{{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    write_imagef(output, at, {expression});
}}
"""


NAMES: dict[str, tuple[str, Callable[[Array], Any]]] = {
    **dict.fromkeys(("exp", "expf"), ("exp(read_imagef(input, at)) * k", lambda x: np.exp(x) * 2)),
    "floor": ("floor(read_imagef(input, at)) * k", lambda x: np.floor(x) * 2),
    "select": ("select(read_imagef(input, at), (float4)(k), (int4)(0))", lambda x: x),
    **dict.fromkeys(
        "memcpy convert_int4 native_exp as_int shuffle printf VXC_Clamp".split(),
        ("read_imagef(input, at)", lambda x: x),
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_kernel_named_like_function(vx_folder: Path, name: str) -> None:
    expression, expected = NAMES[name]
    source = write_source(vx_folder, name, EXP.format(name=name, expression=expression))
    program = compile_vx(source, vx_folder / "cache")
    x = np.linspace(-2, 2, 16, dtype=np.float32).reshape(1, 2, 8)
    outcome = run_vx(
        *(program, name, launch((2, 2, 1), (4, 1, 1)), {"x": x}, {"y": (x.shape, x.dtype)}),
        [float32(2)],
    )
    np.testing.assert_allclose(outcome.outputs["y"], expected(x), 1e-6)


_TABLE = "is not emulated: how its configuration encodes 32 terms of three operands is not known"
_UNKNOWN = "is not emulated: what it computes is not known"
_MACRO = "is not emulated: use the VXC_ macro that stands for it"
_NOT_A_NAME = "is not emulated, or not part of the language"
_ALL_ALIKE = "all arguments must be of one type, and no built-in function takes double"
_NOT_IN = "is not emulated: it does not exist where VX_VERSION is {}"
_EVERYWHERE = {
    **{
        f"VXC_{name}(v, v, v, v, 0, v);": f"VXC_{name} {_TABLE}"
        for name in "DP32x1_b DP16x2_b DP8x4_b DP4x8_b DP2x16_b".split()
    },
    "VXC_AbsDiff(v, v, v, VXC_MODIFIER_SIGNEXT(0, 7, 0, 1, 0));": (
        "VXC_MODIFIER_SIGNEXT with its sign extension is not emulated"
    ),
    **{
        f"VXC_{name}(v, v, v, v);": f"VXC_{name} is not emulated: the unit of an offset"
        for name in "Gather Gather_b Scatter Scatter_b AtomicS AtomicS_b".split()
    },
    "if (v.s0) VXC_Gather(v, v, v, 0); else v = 0;": "VXC_Gather is not emulated",
    **{
        f"m = VXC_MODIFIER_{name}(0, 7, 0, 0);": (
            f"VXC_MODIFIER_{name} is not emulated: the order of its arguments is not known"
        )
        for name in "GATHER SCATTER ATOMIC_S MAGPHASE".split()
    },
    "_viv_asm(GET_IMAGE_STRIDE, v, v);": "board's compiler does not know it",
    "_viv_asm(GET_IMAGE_TYPE, v, v);": _UNKNOWN,
    "_viv_asm(CLAMPCOORD, v, v, v);": _UNKNOWN,
    "_viv_asm(PARAM_CHAIN, v, v, v);": _MACRO,
    "_viv_asm(INTRINSIC, v, v, v);": _MACRO,
    "_viv_asm(INTRINSIC_ST, v, v, v);": _MACRO,
}
# The same of what clang refuses before it makes code, so before it tells the others
_UNREADABLE = {
    "VXC_VertMax3_Integer(v, v, v, v, 0);": f"'VXC_VertMax3_Integer' {_NOT_A_NAME}",
    "VXC_Clamp_Half(v, v, v, v, 0);": f"'VXC_Clamp_Half' {_NOT_A_NAME}",
    "VXC_OP3(add, v, v, v, v);": "'add' is not emulated: of VXC_OP1 to VXC_OP5, img_load",
    "VXC_OP4_ST(dp4x4, v, v, v, v);": "'dp4x4' is not emulated: of VXC_OP1 to VXC_OP5, img_load",
    "v = shuffle(v, (uint4)(0));": "shuffle needs a mask whose elements are as wide as the vector",
    "async_work_group_copy(&n, &m, 1, 0);": "an asynchronous copy is between pointers to the same",
    "atomic_add(&n, n);": f"'atomic_add' is ambiguous; {_ALL_ALIKE}",
    "m = min(m, n);": f"'min' is ambiguous; {_ALL_ALIKE}",
    "const sampler_t r = 0; float4 f = read_imagef(x, r, (int2)(0));": (
        "'read_imagef'; a coordinate is an int"
    ),
    "float4 g = read_imagef(x, (float2)(0));": "'read_imagef'; .* samplers are not emulated",
    "m = get_image_channel_order(x);": "'get_image_channel_order'",
    "m = get_image_channel_data_type(x);": "'get_image_channel_data_type'",
    "const sampler_t s = CLK_FILTER_NEAREST;": "'CLK_FILTER_NEAREST'",
    "float pi = M_PI;": "'M_PI'",
    "VXC_DP8x4(v, v, v, 0, v);": "the configuration of a dot product is a VXC_512Bits",
    "int d = dot((int4)(1), (int4)(2));": "'dot'; it takes float or half",
    "VXC_Nothing(v, v);": f"'VXC_Nothing' {_NOT_A_NAME}",
    "_viv_asm(NOTHING, v, v);": "_viv_asm has no operation 'NOTHING'",
    "vxc_short4 p = (short4)(1);": "'vxc_short4' .*'short4' .*not packed: 32 bits for each",
    "float4 h = convert_float4(v);": "convert_float4 needs a scalar, or a value of as many",
    "float4 k = as_float4(v.lo);": "as_float4 needs a value of the same size",
    "undeclared(v);": "'undeclared'",
}
_BY_VERSION: dict[int, dict[str, str]] = {
    1: {
        **{
            f"VXC_Filter(v, v, v, v, VXC_MODIFIER_FILTER(0, 5, 0, VXC_FM_{mode}, 0));": (
                "VXC_Filter with a mode other than VXC_FM_Max, _Min and _Median is not emulated"
            )
            for mode in "BOX Guassian SobelX SobelY ScharrX ScharrY".split()
        },
        "VXC_BitReplace(v, v, v, v, 0);": _UNKNOWN,
        **{
            f"VXC_{n}(v, v, v, v, 0, v);": f"VXC_{n} {_NOT_IN.format(1)}"
            for n in ("DP16x1_b", "DP8x2_b", "DP4x4_b", "DP2x8_b")
        },
    },
    2: {
        **{
            f"VXC_{n}(v, v, v, v, 0);": f"VXC_{n} {_NOT_IN.format(2)}"
            for n in ("SelectAdd", "IAdd", "MagPhase", "BitReplace", "DP2x16", "Filter")
        }
    },
}


@pytest.mark.parametrize("version", [1, 2])
def test_unsupported_features_are_named(vx_folder: Path, version: int) -> None:
    refused = {**_UNREADABLE, **_EVERYWHERE, **_BY_VERSION[version]}
    statements, first_of_code = list(refused), len(_UNREADABLE)
    parts = [
        part[first : first + 15]  # the compiler stops after twenty errors
        for part in (statements[:first_of_code], statements[first_of_code:])
        for first in range(0, len(part), 15)
    ]
    for index, some in enumerate(parts):
        source = write_source(
            *(vx_folder, f"unavailable_{version}_{index}"),
            "__kernel void k(image2d_array_t x, image2d_array_t y) {\n"
            "    vxc_short8 v = (vxc_short8)(1); int m = 0; long n = 1;\n"
            + "\n".join(some)
            + "}\n",
        )
        with pytest.raises(OpkitError) as caught:
            compile_vx(source, vx_folder / "cache", vx_version=version)
        for line, statement in enumerate(some, 3):
            expected = rf"\.vx:{line}:\d+: error: .*{refused[statement]}"
            assert re.search(expected, str(caught.value)), (statement, str(caught.value))
        assert "opkit/opencl/prelude" not in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("if (v.s0) {", r"missing\.vx:5:2: error: expected '}'"),
        ("nowhere(v);", "'nowhere' is declared, but defined nowhere"),
    ],
)
def test_missing_part_of_source(vx_folder: Path, statement: str, message: str) -> None:
    text = "void nowhere(short8 v);\n__kernel void k(image2d_array_t x, image2d_array_t y) {\n"
    text += f"    short8 v = (short8)(1);\n    {statement}\n}}\n"
    with pytest.raises(OpkitError, match=message):
        run_launch(compile_vx(write_source(vx_folder, "missing", text), vx_folder / "cache"), "k")


@pytest.mark.parametrize("type_", ["short", "long", "double", "half", "char", "float4"])
def test_non_32_bit_scalars_are_refused(vx_folder: Path, type_: str) -> None:
    source = write_source(vx_folder, f"scalar_{type_}", f"__kernel void k({type_} s) {{ }}\n")
    with pytest.raises(OpkitError, match=f"parameter 's' is of type {type_}; the board passes"):
        compile_vx(source, vx_folder / "cache")


def test_source_without_kernel(vx_folder: Path) -> None:
    with pytest.raises(OpkitError, match=r"empty\.vx: no kernel"):
        compile_vx(
            write_source(vx_folder, "empty", "int f(int a) { return a; }\n"), vx_folder / "cache"
        )
    with pytest.raises(OpkitError, match=r"absent\.vx cannot be read"):
        compile_vx(vx_folder / "absent.vx", vx_folder / "cache")


def test_unsupported_host_is_refused(vx_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(OpkitError, match="run on Linux on x86_64, and this is Linux on aarch64"):
        compile_vx(KERNELS / "launches.vx", vx_folder / "cache")


def test_warnings_have_source_lines(vx_folder: Path) -> None:
    text = "__kernel void k(image2d_array_t y)\n{\n    int x = 4;\n    if (x = 5) { x++; }\n}\n"
    program = compile_vx(write_source(vx_folder, "warning", text), vx_folder / "cache")
    assert re.search(r"warning\.vx:4:11: warning: using the result of an assi", program.diagnostics)


def test_compiled_source_is_cached(vx_folder: Path) -> None:
    text = '#include "part.h"\n__kernel void k(image2d_array_t y) { int a = PART; }\n'
    (vx_folder / "part.h").write_text("#define PART 1\n")
    source = write_source(vx_folder, "kept", text)
    libraries = [compile_vx(source, vx_folder / "cache").library for _ in range(2)]
    before = libraries[0].stat().st_mtime_ns
    assert libraries[0] == libraries[1]
    assert compile_vx(source, vx_folder / "cache").library.stat().st_mtime_ns == before
    (vx_folder / "part.h").write_text("#define PART 2\n")
    assert compile_vx(source, vx_folder / "cache").library != libraries[0]
    assert compile_vx(source, vx_folder / "cache", debug=True).library != libraries[0]


@pytest.mark.parametrize("name", ["optional.h", "cl_viv_vx_ext.h"])
def test_source_is_compiled_again_for_a_new_header(name: str, vx_folder: Path) -> None:
    text = """#include "cl_viv_vx_ext.h"
#if __has_include("optional.h")
#include "optional.h"
#endif
#ifndef KERNEL
#define KERNEL before
#endif
__kernel void KERNEL(image2d_array_t y) { }
"""
    folder = vx_folder / f"new-{name}"
    folder.mkdir()
    source = write_source(folder, "kept", text)
    assert [*compile_vx(source, vx_folder / "cache").kernels] == ["before"]
    (folder / name).write_text("#define KERNEL after\n")
    assert [*compile_vx(source, vx_folder / "cache").kernels] == ["after"]


SPEED = """
#include "cl_viv_vx_ext.h"
#define LANES(last) VXC_MODIFIER(0, last, 0, VXC_RM_TowardZero, 0)
__kernel void exp(__read_only image2d_array_t input, __write_only image2d_array_t output)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    vxc_short8 bits;
    vxc_half8 values;
    float4 low, high;
    VXC_ReadImage2DArray(bits, input, at, VXC_5BITOFFSET_XY(0, 0), LANES(7));
    _viv_asm(COPY, values, bits, 16);
    _viv_asm(CONV, low, values.lo);
    _viv_asm(CONV, high, values.hi);
    _viv_asm(CONV_RTE, values.lo, exp(low));
    _viv_asm(CONV_RTE, values.hi, exp(high));
    _viv_asm(COPY, bits, values, 16);
    VXC_WriteImage2DArray(output, at, bits, LANES(7));
}
__kernel void single(__read_only image2d_array_t input, __write_only image2d_array_t output)
{
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    vxc_short8 bits;
    VXC_ReadImage2DArray(bits, input, at, VXC_5BITOFFSET_XY(0, 0), LANES(0));
    VXC_WriteImage2DArray(output, at, bits, LANES(0));
}
"""


@pytest.mark.parametrize(("kernel", "lanes"), [("exp", 8), ("single", 1)])
def test_million_elements(vx_folder: Path, kernel: str, lanes: int) -> None:
    program = compile_vx(write_source(vx_folder, "speed", SPEED), vx_folder / "cache")
    x = np.random.default_rng(0).uniform(-4, 4, (1, 1000, 1000)).astype(np.float16)
    outcome = run_launch(program, kernel, (1000 // lanes, 1000, 1), (lanes, 1, 1), x=x)
    wide = x.astype(np.float32)
    expected = np.exp(wide) if kernel == "exp" else wide
    np.testing.assert_allclose(outcome.outputs["y"], expected, 2**-10)


def test_second_run_compiles_nothing(vx_folder: Path, tmp_path: Path) -> None:
    source = write_source(vx_folder, "first", SPEED)
    vx_runtime()

    def run_and_list_cache() -> dict[Path, int]:
        outcome = run_launch(compile_vx(source, tmp_path), "exp", (2, 3, 2), (8, 1, 1))
        assert outcome.fault == ""
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    first = run_and_list_cache()
    assert first
    assert run_and_list_cache() == first
