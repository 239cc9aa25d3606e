"""RKNN-Toolkit 1.x as a runtime."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import yaml

from opkit.description.parser import PC
from opkit.description.reader import Reader
from opkit.description.spec import OpSpec, Param, Tensor
from opkit.runtimes.interface import Product, Readme, Runtime, TestText
from opkit.runtimes.rknn import operator_rules, settings, target_table
from opkit.runtimes.rknn.chips import CHIPS, TARGETS
from opkit.runtimes.rknn.deliveries import DELIVERIES, OUTPUT_TYPES, REFUSALS, TENSOR_TYPES
from opkit.runtimes.rknn.limits import LIMITS
from opkit.runtimes.rknn.names import operator_name_refusal
from opkit.runtimes.rknn.settings import Settings

if TYPE_CHECKING:
    from opkit.check.run_log import CheckedKernel
    from opkit.complaint import Complaint
    from opkit.mutation.sources import MutableSource
    from opkit.runtimes.invocation import CallingConvention, Kernel


class Rknn(Runtime):
    """RKNN-Toolkit 1.x."""

    name = settings.NAME
    title = "RKNN-Toolkit"
    frameworks = ("tensorflow",)
    targets = TARGETS
    default_target = "rk1808"
    next_steps = (
        "rknn-op inspect $product\n"
        'rknn.register_op("$product"), in RKNN-Toolkit, before rknn.load_tensorflow(...)\n'
    )
    starter = (
        f"target_platform: RK1808  # {', '.join(CHIPS)}\n"
        "# kernels: [cpu]  # for an operator without a VX kernel, the one for the NPU\n"
    )
    limits = LIMITS
    tensor_types = TENSOR_TYPES
    lost_outputs = tuple(dtype for dtype in TENSOR_TYPES if dtype not in OUTPUT_TYPES)
    converter = "RKNN-Toolkit"
    keys = settings.KEYS
    foreign_keys = settings.PACKAGE_KEYS

    def settings(self, reader: Reader, entries: Mapping[str, yaml.Node]) -> Settings:
        """Return what `kernels`, `kernel_index` and `vx_version` say; check a VX kernel's names."""
        return settings.read_settings(reader, entries)

    def name_refusal(self, name: str) -> str:
        """Refuse what the driver would split, and names that the generated code needs."""
        return operator_name_refusal(name)

    def type_refusal(self, type_name: str) -> str:
        """Refuse what the toolkit does not deliver."""
        return REFUSALS.get(type_name, "")

    def complaints(self, spec: OpSpec) -> Iterable[Complaint]:
        """Return tensors that get lost, and values that arrive as others, in silence."""
        return operator_rules.complaints(spec)

    reference_rules = (
        "The toolkit carries this file into its own Python, 3.5 to 3.8: no f-strings, no "
        "annotations, and nothing but numpy and the standard library."
    )

    def once_only_files(self, spec: OpSpec) -> Mapping[str, str]:
        """Return the kernels' files."""
        from opkit.runtimes.rknn import skeletons

        return skeletons.once_only_files(spec)

    def generated_files(self, spec: OpSpec, reference: str) -> Mapping[str, str]:
        """Return kernel_params[] and its reader, the toolkit's class, and the makefiles."""
        from opkit.runtimes.rknn.generated import generated_files

        return generated_files(spec, reference)

    def required_files(self, spec: OpSpec) -> Sequence[str]:
        """Return the files of the kernels."""
        from opkit.runtimes.rknn import skeletons

        return tuple(skeletons.once_only_files(spec))

    def drift(self, root: Path, spec: OpSpec) -> Sequence[Complaint]:
        """Compare the VX kernel with op.yml."""
        from opkit.runtimes.rknn.drift import drift

        return drift(root, spec)

    product_pattern = "*.rknnop"

    def scons_tools(self) -> Sequence[ModuleType]:
        """Return the tools for libraries, packages, harnesses and debugging."""
        from opkit.runtimes.rknn.scons import TOOLS

        return TOOLS

    def scons_notes(self, spec: OpSpec) -> str:
        """Return where packages are, and what chips must run at least."""
        table = "\n".join(f"  {line}" for line in target_table.plain().splitlines())
        return (
            f"The package is build/<target>/{spec.name}.rknnop.\n\n"
            f"What a chip must run at least, and where to look it up:\n\n{table}"
        )

    def declare(self, env: Any, request: Any) -> Sequence[Any]:
        """Declare the libraries and the commands for the VX kernel."""
        from opkit.runtimes.rknn import rknnop
        from opkit.runtimes.rknn.scons.device_library import device_library
        from opkit.runtimes.rknn.scons.host import host
        from opkit.runtimes.rknn.scons.vx_debugger import vx_debugger
        from opkit.runtimes.rknn.scons.vx_kernel import vx_kernel

        needed = [device_library(env, PC)]
        if request.for_this_pc or request.commands:
            needed += host(env)
        if not request.for_this_pc:
            for abi in rknnop.ABIS:
                device_library(env, abi)
        vx_kernel(env)
        vx_debugger(env, request, needed)
        env.Clean(needed[0], ["build/check", "build/report.html", "build/results"])
        return needed

    def products(self, env: Any, targets: Mapping[str, str]) -> Sequence[Any]:
        """Return the nodes of packages."""
        from opkit.runtimes.rknn import rknnop
        from opkit.runtimes.rknn.scons.device_library import device_library
        from opkit.runtimes.rknn.scons.package import package

        libraries = [device_library(env, abi) for abi in rknnop.ABIS]
        return [package(env, target, libraries) for target in targets]

    def harness_parts(self, env: Any) -> Any:
        """Return its parts of static harnesses."""
        from opkit.runtimes.rknn.scons.host import harness_parts

        return harness_parts(env)

    lost_tensors = "librknn_runtime leaves them empty and no call fails"

    def integer_note(self, input_: Tensor) -> str:
        """Return what the converter makes of integers."""
        return "RKNN-Toolkit hands custom operators float16, in which integers are exact up to 2048"

    def calling_convention(self, abi: str = "") -> CallingConvention:
        """Return what becomes of values, and what a status means."""
        from opkit.runtimes.rknn import armhf, armhf_convention, calling_convention

        return armhf_convention if abi == armhf.ABI else calling_convention

    def cpu_kernel(self, spec: OpSpec, root: Path) -> Kernel:
        """Return the CPU kernel on the host runtime."""
        from opkit.runtimes.rknn.host_kernels import cpu_kernel

        return cpu_kernel(spec, root)

    def mutable_sources(self, spec: OpSpec) -> Sequence[MutableSource]:
        """Return the .vx file."""
        from opkit.runtimes.rknn.vx.mutation import VxSource

        return [VxSource(spec)] if settings.settings(spec).has_vx_kernel else []

    def expected_kernels(self, spec: OpSpec) -> Mapping[CheckedKernel, str]:
        """Return the VX kernel, if the board runs it."""
        from opkit.runtimes.rknn.kernels import expected_kernels

        return expected_kernels(spec)

    def editor_commands(self, root: Path, spec: OpSpec) -> Any:
        """Return the commands for .vx files."""
        from opkit.runtimes.rknn import editor

        return editor.commands(root, spec)

    def delivery(self, param: Param) -> tuple[str, str]:
        """Return what librknn_runtime makes of a param."""
        type_ = DELIVERIES[param.type.name].type
        if not param.type.is_list:
            return "a scalar of", type_
        return f"an array of {param.length or f'1 to {LIMITS.items}'}", type_

    def properties(self, spec: OpSpec) -> Mapping[str, str]:
        """Return the chip, and which kernel the board runs."""
        from opkit.runtimes.rknn import packages

        return packages.properties(spec)

    def built_products(self, root: Path) -> Sequence[Product]:
        """Return what is in the packages."""
        from opkit.runtimes.rknn import packages

        return packages.built_packages(root)

    def readme(self, spec: OpSpec) -> Readme:
        """Return what is to be known of kernels, chips and the toolkit's class."""
        from opkit.runtimes.rknn import readme

        return readme.readme(spec)

    def tests(self, spec: OpSpec) -> TestText:
        """Return the test of the VX kernel."""
        from opkit.runtimes.rknn import skeletons

        return skeletons.tests(spec)
