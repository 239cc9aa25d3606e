"""RKNN-Toolkit2 as a runtime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import yaml

from opkit.complaint import Complaint
from opkit.description.parser import PC
from opkit.description.reader import Reader
from opkit.description.spec import OpSpec, Param, Tensor
from opkit.runtimes.interface import Product, Readme, Runtime
from opkit.runtimes.rknn2 import settings
from opkit.runtimes.rknn2.chips import REFUSED_TARGETS, TARGETS
from opkit.runtimes.rknn2.limits import LIMITS, TENSOR_TYPES, unreadable_numbers
from opkit.runtimes.rknn2.settings import Settings

if TYPE_CHECKING:
    from opkit.check.executors import Executor
    from opkit.runtimes.invocation import CallingConvention, Kernel, SimulatedKernel


class Rknn2(Runtime):
    """RKNN-Toolkit2."""

    name = settings.NAME
    title = "RKNN-Toolkit2"
    frameworks = ("onnx", "tensorflow")
    targets = TARGETS
    default_target = "rk3588"
    next_steps = (
        "python $folder/rknn2/convert.py MODEL.onnx, with a Python that has RKNN-Toolkit2\n"
        "scons deploy, in $folder: how $product gets onto a board\n"
    )
    refused_targets = REFUSED_TARGETS
    tensor_types = TENSOR_TYPES
    starter = f"target_platform: RK3588  # {', '.join(TARGETS)}\n"
    limits = LIMITS
    converter = "RKNN-Toolkit2"
    keys = settings.KEYS

    def settings(self, reader: Reader, entries: Mapping[str, yaml.Node]) -> Settings:
        """Return what `op_type` says; refuse params that no node can have."""
        return settings.read_settings(reader, entries)

    def complaints(self, spec: OpSpec) -> Iterator[Complaint]:
        """Warn of defaults that no attribute of a model can be."""
        for param in spec.params:
            for number in unreadable_numbers(param.default)[:1]:
                yield Complaint(
                    "",
                    f"{number} is out of range for an attribute, at which librknnrt aborts; it "
                    "works only where nodes leave the attribute out",
                    field=f"params.{param.name}.default",
                    severity="warning",
                )

    def name_refusal(self, name: str) -> str:
        """Refuse what would be a file, a type or a function of librknnrt's."""
        is_taken = name.lower() in ("rknn", "get_rknn", "rknn_custom_op")
        return "is taken by the generated code; choose another name" if is_taken else ""

    def once_only_files(self, spec: OpSpec) -> Mapping[str, str]:
        """Return nothing: the operator's math is all that has to be written."""
        return {}

    def generated_files(self, spec: OpSpec, reference: str) -> Mapping[str, str]:
        """Return the callbacks in C, the plugin and its registration, and the converter's files."""
        from opkit.files import copies
        from opkit.runtimes.rknn2 import converter
        from opkit.runtimes.rknn2.c_files import c_files

        return {
            **copies.headers("runtimes/rknn2/*.h"),
            **copies.declarations("runtimes/rknn2/include", "include/librknnrt"),
            **c_files(spec),
            **converter.files(spec),
        }

    includes = ("include/librknnrt",)
    product_pattern = "lib*_*"

    def scons_tools(self) -> Sequence[ModuleType]:
        """Return the tools for plugins."""
        from opkit.runtimes.rknn2.scons import TOOLS

        return TOOLS

    def scons_notes(self, spec: OpSpec) -> str:
        """Return where plugins are."""
        return (
            f"The plugin is build/<target>/librkcst_{spec.lower}.so.\n"
            f"Applications take build/<target>/lib{spec.lower}_custom_op.a."
        )

    def declare(self, env: Any, request: Any) -> Sequence[Any]:
        """Declare the plugin for this PC, what runs it, and `deploy`."""
        from opkit.build.harness import harness
        from opkit.runtimes.rknn2.scons.deploy import deploy
        from opkit.runtimes.rknn2.scons.host import host_runtime
        from opkit.runtimes.rknn2.scons.plugin import FOLDER, plugin

        if "deploy" in request.commands:
            deploy(env, self.products(env, request.targets_of(self)))
        library, _ = plugin(env, PC, debug=True)
        env.Clean(library, [FOLDER, "build/check", "build/report.html", "build/results"])
        return [*harness(env), *host_runtime(env), library]

    def products(self, env: Any, targets: Mapping[str, str]) -> Sequence[Any]:
        """Return the nodes of plugins and static libraries."""
        from opkit.runtimes.rknn2.scons.plugin import FOLDER, deliver, plugin

        built = {abi: plugin(env, abi) for abi in dict.fromkeys(targets.values())}
        products = [
            node for target, abi in targets.items() for node in deliver(env, target, built[abi])
        ]
        env.Clean(products, [FOLDER])
        return products

    def harness_parts(self, env: Any) -> Any:
        """Return its parts of static harnesses."""
        from opkit.runtimes.rknn2.scons.host import HARNESS_PARTS

        return HARNESS_PARTS

    def simulators(self, env: Any, targets: Sequence[str]) -> tuple[Sequence[Executor], str]:
        """Return what starts the toolkit's simulator."""
        from opkit.runtimes.rknn2.scons import simulator

        return simulator.simulators(env, targets)

    def integer_note(self, input_: Tensor) -> str:
        """Return what librknnrt makes of integers, unless the input's dtype is declared."""
        if input_.dtype:
            return ""
        return (
            "librknnrt 1.6.0 hands them over as float32, and so does the check; to compute with "
            "integers, declare the input's `dtype` in op.yml"
        )

    def calling_convention(self, abi: str = "") -> CallingConvention:
        """Return what becomes of values, and what a status means."""
        from opkit.runtimes.rknn2.calling_convention import CONVENTION

        return CONVENTION

    def cpu_kernel(self, spec: OpSpec, root: Path) -> Kernel:
        """Return the plugin on the stand-in for librknnrt."""
        from opkit.runtimes.rknn2.host_kernel import cpu_kernel

        return cpu_kernel(spec, root)

    def simulated_kernel(self, spec: OpSpec, executor: Executor, root: Path) -> SimulatedKernel:
        """Return the reference in the toolkit's simulator."""
        from opkit.runtimes.rknn2.simulator import SimulatedReference

        return SimulatedReference(spec, executor, root)

    def delivery(self, param: Param) -> tuple[str, str]:
        """Return where a kernel gets a param from, and of which type."""
        kind = f"an attribute of kind {param.type.onnx}"
        return "a constant input" if param.source else kind, param.type.c_type

    def properties(self, spec: OpSpec) -> Mapping[str, str]:
        """Return the operator's name in models."""
        return {"Type in models": settings.settings(spec).op_type}

    def built_products(self, root: Path) -> Sequence[Product]:
        """Return what is in the plugins."""
        from opkit.runtimes.rknn2.plugins import built_plugins

        return built_plugins(root)

    def readme(self, spec: OpSpec) -> Readme:
        """Return what is to be known of plugins, layouts and chips."""
        from opkit.runtimes.rknn2 import readme

        return readme.readme(spec)
