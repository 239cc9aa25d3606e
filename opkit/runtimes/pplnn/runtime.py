"""PPLNN as a runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import yaml

from opkit.description.parser import PC
from opkit.description.reader import Reader
from opkit.description.spec import OpSpec
from opkit.runtimes.interface import Product, Readme, Runtime, Target
from opkit.runtimes.pplnn import settings
from opkit.runtimes.pplnn.names import SOURCES
from opkit.runtimes.pplnn.settings import Settings

if TYPE_CHECKING:
    from opkit.runtimes.invocation import CallingConvention, Kernel

TARGETS = {
    target.name: target for target in (Target("riscv64", "riscv64"), Target("x64-pplnn", PC))
}


class Pplnn(Runtime):
    """PPLNN's riscv and x86 engines."""

    name = settings.NAME
    title = "PPLNN"
    frameworks = ("onnx", "tensorflow")
    targets = TARGETS
    default_target = "riscv64"
    next_steps = "scons pplnn-apply root=PPLNN, in $folder, with your checkout of ppl.nn\n"
    starter = (
        "# domain: custom  # of the operator's nodes in ONNX models\n"
        "# opset: [1, 1]  # the versions of that domain which have the operator\n"
    )
    keys = settings.KEYS

    def settings(self, reader: Reader, entries: Mapping[str, yaml.Node]) -> Settings:
        """Return what `domain` and `opset` say."""
        return settings.read_settings(reader, entries)

    def name_refusal(self, name: str) -> str:
        """Refuse what would give a class the name of its base, or a header that of another."""
        lower = name.lower()
        is_taken = lower in ("riscv", "riscvopt", "x86", "x86opt") or lower.startswith("ppl_")
        return "is taken by the generated code; choose another name" if is_taken else ""

    def once_only_files(self, spec: OpSpec) -> Mapping[str, str]:
        """Return the shape rule, if an output needs one."""
        from opkit.runtimes.pplnn import skeletons

        return skeletons.once_only_files(spec)

    def required_files(self, spec: OpSpec) -> Sequence[str]:
        """Return the file of the shape rule, if an output needs one."""
        from opkit.runtimes.pplnn import skeletons

        return tuple(skeletons.once_only_files(spec))

    def generated_files(self, spec: OpSpec, reference: str) -> Mapping[str, str]:
        """Return the sources for ppl.nn, and what the harness calls."""
        from opkit.runtimes.pplnn import generated

        return generated.generated_files(spec)

    cxx_folders = (SOURCES, "build/opkit/runtimes/pplnn/declarations")
    product_pattern = "libpplnn_*.a"

    def scons_tools(self) -> Sequence[ModuleType]:
        """Return the tools for libraries and harnesses."""
        from opkit.runtimes.pplnn.scons import TOOLS

        return TOOLS

    def scons_notes(self, spec: OpSpec) -> str:
        """Return what is built for the targets."""
        return (
            f"build/<target>/libpplnn_{spec.lower}.a is the math as PPLNN's kernels call it.\n"
            "The sources in pplnn/src/ become part of ppl.nn, which builds them itself."
        )

    def declare(self, env: Any, request: Any) -> Sequence[Any]:
        """Declare what runs the kernel on this PC."""
        from opkit.runtimes.pplnn.scons.host import host

        return host(env)

    def products(self, env: Any, targets: Mapping[str, str]) -> Sequence[Any]:
        """Return the nodes of the libraries, and of the sources that were compiled."""
        from opkit.runtimes.pplnn.scons.library import library

        return [library(env, target, abi) for target, abi in targets.items()]

    def harness_parts(self, env: Any) -> Any:
        """Return its parts of static harnesses."""
        from opkit.runtimes.pplnn.scons.host import harness_parts

        return harness_parts(env)

    def calling_convention(self, abi: str = "") -> CallingConvention:
        """Return what becomes of values, and what a status means."""
        from opkit.runtimes.pplnn.calling_convention import CONVENTION

        return CONVENTION

    def cpu_kernel(self, spec: OpSpec, root: Path) -> Kernel:
        """Return the kernel on this PC."""
        from opkit.runtimes.pplnn.host_kernel import host_kernel

        return host_kernel(spec, root)

    def built_products(self, root: Path) -> Sequence[Product]:
        """Return the sizes of the libraries."""
        return [
            Product(path.relative_to(root).as_posix(), cells={"size": path.stat().st_size})
            for target in TARGETS
            for path in sorted(root.glob(f"build/{target}/{self.product_pattern}"))
        ]

    def readme(self, spec: OpSpec) -> Readme:
        """Return what is to be known of the sources and of the ways into ppl.nn."""
        from opkit.runtimes.pplnn import readme

        return readme.readme(spec)
