"""The nearest tests of each source: run after a change of it."""

from __future__ import annotations

RKNN, PPLNN, RKNN2 = (f"tests/runtimes/{name}" for name in ("rknn", "pplnn", "rknn2"))
VX = f"{RKNN}/vx/test_vx"

NEAREST: dict[str, tuple[str, ...]] = {
    # What everything may use.
    "opkit/": ("tests/description", "tests/files", "tests/template/test_ownership.py"),
    "opkit/common/file_io.py": (
        *("tests/test_scratch.py", "tests/template/test_manifest.py", "tests/build/test_lock.py"),
        *("tests/toolchains/test_elfcheck.py", f"{RKNN}/test_rknnop.py"),
    ),
    "opkit/common/complaint.py": (
        "tests/description/test_complaints.py",
        "tests/rknn_op/test_lint.py",
    ),
    "opkit/manifest.py": ("tests/template/test_manifest.py",),
    "opkit/common/code_layout.py": ("tests/files/test_layout.py",),
    "opkit/repository.py": (
        *("tests/template/test_ownership.py", "tests/template/test_manifest.py"),
        *("tests/rknn_op/test_update.py", "tests/build/test_build.py"),
    ),
    "opkit/sconstruct.py": ("tests/build/test_build.py", "tests/build/test_lock.py"),
    "opkit/common/scratch.py": ("tests/test_scratch.py",),
    "opkit/common/text.py": ("tests/files/test_text.py",),
    "opkit/version.py": ("tests/template/test_manifest.py", "tests/rknn_op/test_update.py"),
    # The description, and the texts of a repository.
    "opkit/description/": tuple(
        f"tests/description/test_{name}.py"
        for name in (
            "limits",
            "bad_descriptions",
            "spec",
            "types",
            "complaints",
            "hostile",
            "names",
        )
    ),
    "opkit/files/": ("tests/files", "tests/description/test_spec.py", "tests/test_docs.py"),
    "opkit/ci/": ("tests/template/test_ci.py", "tests/template/test_ownership.py"),
    # The build.
    "opkit/build/": ("tests/build/test_build.py", "tests/build/test_extra_sources.py"),
    "opkit/build/compile_commands.py": ("tests/build/test_editor.py",),
    "opkit/build/compiler_output.py": (
        "tests/build/test_compile_and_link.py",
        "tests/build/test_c_library.py",
    ),
    "opkit/build/debugger.py": ("tests/build/test_debugger.py",),
    "opkit/build/host_check.py": ("tests/check/test_host_check.py", "tests/check/test_sanitize.py"),
    "opkit/build/mutate.py": ("tests/mutate/test_mutate.py",),
    "opkit/build/scons_state.py": ("tests/build/test_lock.py",),
    "opkit/build/harness.py": ("tests/check/test_target_check.py",),
    "opkit/build/user_cache.py": ("tests/build/test_user_cache.py",),
    "opkit/toolchains/": ("tests/toolchains/test_toolchains.py", "tests/build/test_build.py"),
    "opkit/toolchains/clang_ast.py": ("tests/mutate/test_changes.py",),
    "opkit/toolchains/elf.py": ("tests/toolchains/test_elfcheck.py",),
    # The cases.
    "opkit/check/": ("tests/check/test_testing.py", "tests/check/test_host_check.py"),
    "opkit/check/cases.py": ("tests/check/test_cases.py", "tests/check/test_mistakes.py"),
    "opkit/check/debug.py": ("tests/build/test_debugger.py",),
    "opkit/check/debug_info.py": ("tests/check/test_harness.py",),
    "opkit/check/executors.py": ("tests/check/test_target_check.py",),
    "opkit/check/harness/": ("tests/check/test_harness.py", f"{RKNN}/test_host_runtime.py"),
    "opkit/check/mistakes.py": ("tests/check/test_mistakes.py", "tests/check/test_testing.py"),
    "opkit/check/operators.py": ("tests/check/test_mistakes.py", "tests/check/test_testing.py"),
    "opkit/check/results.py": ("tests/check/test_results.py", "tests/report"),
    "opkit/check/run_log.py": ("tests/check/test_run_log.py",),
    "opkit/check/sanitizers.py": ("tests/check/test_sanitize.py",),
    "opkit/compute/": ("tests/compute", f"{RKNN}/test_host_runtime.py"),
    "opkit/mutation/": ("tests/mutate/test_changes.py", "tests/mutate/test_trials.py"),
    "opkit/report/": ("tests/report",),
    # The runtimes.
    "opkit/runtimes/": ("tests/runtimes/test_runtimes.py", "tests/check/test_testing.py"),
    "opkit/runtimes/invocation.py": ("tests/check/test_harness.py", "tests/check/test_testing.py"),
    "opkit/runtimes/pplnn/": (f"{PPLNN}/test_check.py", f"{PPLNN}/test_sources.py"),
    "opkit/runtimes/pplnn/apply.py": (f"{PPLNN}/test_apply.py",),
    "opkit/runtimes/pplnn/glue/": (f"{PPLNN}/test_views.py", f"{PPLNN}/test_check.py"),
    "opkit/runtimes/pplnn/overlay.py": (f"{PPLNN}/test_overlay.py", f"{PPLNN}/test_cmake.py"),
    "opkit/runtimes/pplnn/scons/": (f"{PPLNN}/test_overlay.py", f"{PPLNN}/test_apply.py"),
    "opkit/runtimes/rknn/": (
        *("tests/files/test_emit.py", "tests/description/test_names.py"),
        f"{RKNN}/test_kernels.py",
    ),
    "opkit/runtimes/rknn/scons/": ("tests/build/test_build.py",),
    "opkit/runtimes/rknn/host_kernels.py": (
        f"{RKNN}/test_armhf_convention.py",
        *(f"{RKNN}/test_params.py", f"{RKNN}/test_output_dtypes.py"),
        f"{RKNN}/test_host_runtime.py",
    ),
    "opkit/runtimes/rknn/dot_product.py": (f"{RKNN}/test_dot_product.py",),
    "opkit/runtimes/rknn/build.py": ("tests/build/test_editor.py",),
    "opkit/runtimes/rknn/host_runtime/": (f"{RKNN}/test_host_runtime.py",),
    "opkit/runtimes/rknn/files.py": (f"{RKNN}/test_makefiles.py",),
    "opkit/runtimes/rknn/program_binary.py": (f"{RKNN}/test_program_binary.py",),
    "opkit/runtimes/rknn/python_versions.py": (f"{RKNN}/test_toolkit_class.py",),
    "opkit/runtimes/rknn/report.py": ("tests/report",),
    "opkit/runtimes/rknn/rknnop.py": (f"{RKNN}/test_rknnop.py", f"{RKNN}/test_program_binary.py"),
    "opkit/runtimes/rknn/toolkit_class.py": (f"{RKNN}/test_toolkit_class.py",),
    "opkit/runtimes/rknn/vx/": (
        *(f"{VX}_runner.py", f"{VX}_language.py", f"{VX}_declarations.py", f"{VX}_names.py"),
        f"{VX}_tensors.py",
    ),
    "opkit/runtimes/rknn/vx/drift.py": (f"{VX}_drift.py",),
    "opkit/runtimes/rknn/check.py": ("tests/mutate/test_mutate_vx.py",),
    "opkit/runtimes/rknn/vx/runtime/": (
        *(f"{VX}_instructions.py", f"{VX}_faults.py", f"{VX}_memory.py", f"{VX}_runner.py"),
        *(f"{VX}_border.py", f"{VX}_builtins.py", f"{VX}_tensors.py"),
    ),
    "opkit/runtimes/rknn/vx/runtime/mathematics.c": (f"{VX}_floats.py", f"{VX}_builtins.py"),
    "opkit/runtimes/rknn/vx/runtime/numbers.c": (f"{VX}_numbers.py",),
    "opkit/runtimes/rknn2/": (
        *(f"{RKNN2}/test_tensors.py", f"{RKNN2}/test_attributes.py", f"{RKNN2}/test_settings.py"),
    ),
    "opkit/runtimes/rknn2/converter_class.py": (f"{RKNN2}/test_converter_class.py",),
    "opkit/runtimes/rknn2/scons/": (f"{RKNN2}/test_products.py",),
    "opkit/runtimes/rknn2/templates/": (f"{RKNN2}/test_converter_class.py",),
    "opkit/runtimes/rknn2/simulator.py": (f"{RKNN2}/test_simulator.py",),
    "opkit/runtimes/rknn2/tensors.h": (f"{RKNN2}/test_tensors.py", f"{RKNN2}/test_conversions.py"),
    "opkit/runtimes/rknn2/numbers.h": (f"{RKNN2}/test_conversions.py",),
    "opkit/runtimes/rknn2/params.h": (f"{RKNN2}/test_attributes.py",),
    "opkit/runtimes/rknn2/simulator_worker.py": (f"{RKNN2}/test_simulator.py",),
    # The command.
    "rknn_op/": ("tests/rknn_op/test_command.py",),
    "rknn_op/creation/": (
        *("tests/template/test_license.py", "tests/template/test_hooks.py"),
        *("tests/template/test_wheel.py", "tests/template/test_cookiecutter.py"),
    ),
    "rknn_op/creation/operator_library.py": ("tests/rknn_op/test_library.py",),
    "rknn_op/creation/workspaces.py": ("tests/rknn_op/test_workspace.py",),
    "rknn_op/creation/new_repository.py": ("tests/rknn_op/test_command.py",),
    "rknn_op/template.py": ("tests/rknn_op/test_origin.py",),
    "rknn_op/creation/choices.py": ("tests/rknn_op/test_create.py",),
    "rknn_op/creation/plan_report.py": ("tests/rknn_op/test_command.py",),
    "rknn_op/creation/description_schema.py": ("tests/rknn_op/test_schema.py",),
    "rknn_op/runtimes/rknn/dot_products.py": (f"{RKNN}/test_dot_product.py",),
    "rknn_op/runtimes/rknn2/bundles/": ("tests/rknn_op/test_bundle_application.py",),
    "rknn_op/verbs/demo.py": (
        "tests/rknn_op/test_interruption.py",
        "tests/rknn_op/test_command.py",
    ),
    "rknn_op/models/": ("tests/models/test_scan_page.py", "tests/models/test_create_from.py"),
    "rknn_op/models/drafting/": ("tests/models/test_create_from.py",),
    "rknn_op/models/grafting/": ("tests/models/test_graft.py",),
    "rknn_op/models/running/": ("tests/models/test_recording.py", "tests/models/test_stages.py"),
    "rknn_op/upkeep/linting.py": ("tests/rknn_op/test_lint.py",),
    "rknn_op/own_opkit.py": ("tests/template/test_wheel.py", "tests/rknn_op/test_update.py"),
    "rknn_op/upkeep/updating.py": ("tests/rknn_op/test_update.py",),
    "rknn_op/runtimes/rknn/vendor/": ("tests/rknn_op/test_import.py",),
    "rknn_op/runtimes/rknn/verbs/diff.py": ("tests/rknn_op/test_diff.py",),
    "rknn_op/runtimes/rknn/verbs/import_.py": ("tests/rknn_op/test_import.py",),
    "rknn_op/runtimes/rknn/verbs/inspect.py": ("tests/rknn_op/test_inspect.py",),
    "rknn_op/verbs/lint.py": ("tests/rknn_op/test_lint.py",),
    "rknn_op/verbs/schema.py": ("tests/rknn_op/test_schema.py",),
    "rknn_op/verbs/update.py": ("tests/rknn_op/test_update.py",),
}
"""File, or folder with a slash -> its tests, the fastest first."""


def nearest(path: str) -> tuple[str, ...]:
    """Return the nearest tests of a source: those of the longest entry that fits it.

    Args:
        path: the path of the source in the project.
    """
    fitting = [
        entry
        for entry in NEAREST
        if path == entry or (entry.endswith("/") and path.startswith(entry))
    ]
    return NEAREST[max(fitting, key=len)]
