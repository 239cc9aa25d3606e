"""`scons check` and `scons report` run the cases of tests/ on this PC and on other executors."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from SCons.Action import Action
from SCons.Variables import BoolVariable

from opkit import toolchains
from opkit.build import harness
from opkit.build.options import Request
from opkit.check import executors, line_counts, line_coverage, run_log
from opkit.check.sanitizers import ENVIRONMENT, SANITIZERS, parse_sanitizers
from opkit.check.session import FILE, LOG, Session, command
from opkit.common.errors import OpkitError
from opkit.common.text import wrapped
from opkit.description.describe import CPU_KERNEL, LINUX, RuntimeDescription
from opkit.description.parser import PC
from opkit.description.spec import OpSpec
from opkit.files.source_check import idle_keys, unread_params
from opkit.report import ages
from opkit.runtimes import expected_kernels
from opkit.runtimes.build import VendorProgram
from opkit.runtimes.executor import Executor
from opkit.runtimes.interface import Runtime
from opkit.toolchains.abi import ABIS

PAGE = Path("build/report.html")
RECORDS = Path("build/results")
# pytest's exit codes; its import is slow.
NO_TESTS = 5
USAGE_ERROR = 4
_FUZZ = re.compile(r"([1-9][0-9]{0,4})(?::([0-9]{1,9}))?")  # count and seed


@dataclass(frozen=True)
class Program:
    """A program that runs the cases for a target or with sanitizers.

    Attributes:
        name: the executor's name in the table of cases.
        node: SCons' node of the program.
        runtime: the name of the runtime that calls the kernel in it.
        abi: the ABI of the program; empty: this PC, with sanitizers.
        sampled: whether a sample of the cases suffices: the command line does not name the target.
    """

    name: str
    node: Any
    runtime: str
    abi: str = ""
    sampled: bool = False


@dataclass(frozen=True)
class Check:
    """The executors of a check besides this PC.

    Attributes:
        programs: for targets, and with sanitizers.
        simulators: run the reference as part of a converted model.
        vendor_programs: call the kernel by the vendors' own runtimes; the runtime's name and each.
        vendor_executors: the vendors' own runtimes that are programs for this PC.
        missing_simulators: a sentence for each simulator that cannot run here, with the reason.
        notes: on the default targets' ABIs that cannot run here.
    """

    programs: Sequence[Program]
    simulators: Sequence[Executor]
    missing_simulators: Sequence[str]
    vendor_programs: Sequence[tuple[str, VendorProgram]] = ()
    vendor_executors: Sequence[Executor] = ()
    notes: Sequence[str] = ()


USAGE = (
    (
        "scons check",
        "run every case of tests/ on this PC: kernels against numpy; and, in qemu, a sample of "
        "the cases on the instruction set of the default target",
    ),
    ("scons check case=NAME", "... one case; verbose=1 prints the names of all"),
    ("scons target=... check", "... all cases on the instruction set of that target; all: of all"),
    ("scons sanitize=... check", f"... and with the compiler's sanitizers: {','.join(SANITIZERS)}"),
    ("scons report", "run the check and write build/report.html, a page of its results"),
)


def options(variables: Any, operator: OpSpec) -> None:
    """Add the options that choose other executors."""
    names = ",".join(SANITIZERS)
    variables.AddVariables(
        ("qemu", "with check: runs the target's programs; a command, or ssh:HOST for a board", ""),
        BoolVariable(
            "require_target", "with check: fail if the target's programs cannot run", True
        ),
        (
            "sanitize",
            f"with check: compile with sanitizers ({names}); requires gcc or clang. none: "
            "this PC's build does not report undefined behavior",
            "",
        ),
        BoolVariable(
            "quick",
            "with check: this PC only, without reports of undefined behavior and of state kept "
            "between cases",
            False,
        ),
        (
            "fuzz",
            "with check: N random shapes for each test function besides the check's own, new ones "
            "in each run; N:SEED repeats those of a run",
            "",
        ),
        ("workers", "with check: processes that run cases in parallel; a number, or auto", ""),
    )


def _in_parallel(workers: str) -> bool:
    """Return whether the option asks for other processes than pytest's own."""
    return workers not in ("", "1")


def check(env: Any, request: Request) -> None:
    """Refuse invalid executors.

    Raises:
        OpkitError: the cases do not run on the targets' system, `qemu=` conflicts with the
            targets, a sanitizer is unknown, or `workers=` is invalid or pytest-xdist is missing.
    """
    if request.system != LINUX and request.commands & {"check", "report"}:
        raise OpkitError(
            f"os={request.system}: the cases run on this PC and, in qemu, on Linux; run scons "
            "check without os=: the operator's C is the same"
        )
    workers = env["workers"]
    if workers and not re.fullmatch(r"auto|[1-9][0-9]{0,2}", workers):
        raise OpkitError(f"workers: invalid {workers!r} (expected a number up to 999, or auto)")
    if _in_parallel(workers) and importlib.util.find_spec("xdist") is None:
        raise OpkitError(
            f"workers={workers} requires pytest-xdist, which is not installed: "
            f"{sys.executable} -m pip install pytest-xdist"
        )
    if env["fuzz"] and not _FUZZ.fullmatch(env["fuzz"]):
        raise OpkitError(
            f"fuzz: invalid {env['fuzz']!r} (expected a number up to 99999, or N:SEED as a failure "
            "prints it)"
        )
    parse_sanitizers(env["sanitize"])
    if env["qemu"] and not request.abis:
        raise OpkitError(
            "qemu= runs a target's programs; pass the target too, for example target=rv1126"
        )
    if executors.is_board(env["qemu"]) and len(request.abis) > 1:
        raise OpkitError(f"qemu={env['qemu']} is one board; pass its chip with target=")


def declare(env: Any, runtimes: Sequence[Runtime], request: Request) -> Check:
    """Declare the programs for targets and with sanitizers; find the simulators.

    Args:
        env: the environment.
        runtimes: the operator's runtimes.
        request: the requested targets.

    Raises:
        OpkitError: a compiler is missing.
    """
    sanitizers = parse_sanitizers(env["sanitize"])
    programs = []
    not_run: dict[str, list[str]] = {}  # reason -> ABIs of default targets
    for index, runtime in enumerate(runtimes):
        # Without the first runtime's name, as in the name of its kernel on this PC.
        prefix = f"{runtime.name} " if index else ""
        parts = runtime.build.harness_parts(env)
        if not parts:
            continue
        if sanitizers:
            node = harness.sanitized_harness(env, sanitizers, parts)
            programs.append(Program(prefix + ",".join(sanitizers), node, runtime.name))
        for abi in request.abis_of(runtime.describe):
            if abi != PC:
                node = harness.target_harness(env, abi, parts)
                programs.append(Program(prefix + abi, node, runtime.name, abi))
        for abi in _default_abis(env, runtime.describe, request):
            if reason := _refusal(env, abi):
                not_run.setdefault(reason, []).append(abi)
            else:
                node = harness.target_harness(env, abi, parts)
                programs.append(Program(prefix + abi, node, runtime.name, abi, sampled=True))
    simulators = [
        runtime.build.simulators(env, [*request.targets_of(runtime.describe)])
        for runtime in runtimes
    ]
    return Check(
        programs,
        [executor for found, _ in simulators for executor in found],
        [problem for _, problem in simulators if problem],
        [
            (runtime.name, program)
            for runtime in runtimes
            for program in runtime.build.vendor_programs(env, request)
        ],
        [executor for runtime in runtimes for executor in runtime.build.vendor_executors(env)],
        [f"not run on {', '.join(dict.fromkeys(abis))}: {why}" for why, abis in not_run.items()],
    )


def _default_abis(env: Any, runtime: RuntimeDescription, request: Request) -> list[str]:
    """Return the ABI of the runtime's default target, for a sample of the cases.

    Empty if the command line names a target, with `quick=1`, and if that is this PC.
    """
    if request.is_named or env["quick"] or not runtime.targets:
        return []
    target = runtime.targets[runtime.target_of(env["OPERATOR"])]
    abi = request.targets.get(target.name, target.abi)
    return [abi] if abi != PC else []


def _refusal(env: Any, abi: str) -> str:
    """Return the reason why programs of an ABI cannot be built or run here; empty: they can."""
    if not executors.has_emulator(abi):
        return f"no qemu (apt install {executors.EMULATORS})"
    try:
        toolchains.find(env["toolchain"], ABIS[abi], env["prefix"], env["sysroot"])
    except toolchains.ToolchainError:
        return f"no compiler of toolchain={env['toolchain']}"
    return ""


def check_alias(env: Any, needed: Sequence[Any], check: Check, reports: bool) -> None:
    """Declare the alias `check`, which runs every case of tests/ with the current build.

    Args:
        env: the environment.
        needed: the nodes of the libraries and programs for the cases on this PC.
        check: the other executors.
        reports: whether to declare the alias `report`, too, which writes a page of the results.
    """

    def run(target: Any, source: Any, env: Any) -> int:
        if reports:
            # Only the report imports numpy, which is slow.
            from opkit.report.page import write

            shutil.rmtree(RECORDS, ignore_errors=True)
            status = run_cases(env, check, RECORDS)
            print(write(Path(), env["OPERATOR"], RECORDS, status != 0, PAGE))  # of failures, too
        else:
            status = run_cases(env, check)
        found = ages.ages(Path())
        stale = {product: age for product, age in found.items() if age.is_stale}
        for line in ages.lines(found if reports else stale):
            print(line)
        return status

    action = Action(run, f"write {PAGE}" if reports else "check tests/")
    nodes = [*needed, *(program.node for program in check.programs)]
    nodes += [node for _, each in check.vendor_programs for node in (each.node, *each.files)]
    alias = env.Alias("report" if reports else "check", nodes, action)
    env.AlwaysBuild(alias)
    if reports:
        env.Alias("check", alias)


def run_cases(env: Any, check: Check, records: Path | None = None) -> int:
    """Run the cases on this PC and on the other executors of the check.

    Args:
        env: the environment.
        check: the other executors.
        records: the folder for the records of `scons report`; None: no records.

    Returns:
        0 if all required cases ran and passed.
    """
    prepared = []
    not_run = []
    with ExitStack() as stack:
        for program in check.programs:
            path = program.node[0].abspath
            try:
                if program.abi:
                    launched = executors.launch(program.abi, Path(path), env["qemu"])
                    executor = stack.enter_context(launched)
                else:
                    executor = Executor(program.name, (path,), ENVIRONMENT)
                    executors.probe(executor)
            except executors.ExecutorError as error:
                if not program.abi:
                    print(f"error: sanitize={env['sanitize']}: {error}", file=sys.stderr)
                    return 1
                not_run.append(f"the cases did not run on {program.name}: {error}")
                continue
            prepared.append(
                replace(
                    executor,
                    name=program.name,
                    runtime=program.runtime,
                    sampled=program.sampled,
                )
            )
        in_vendor_runtimes = []
        for runtime, vendor_program in check.vendor_programs:
            try:
                launched = _launch_in_vendor_runtime(runtime, vendor_program, env["qemu"])
                in_vendor_runtimes.append(stack.enter_context(launched))
            except OpkitError as error:
                not_run.append(f"the cases did not run in {vendor_program.name}: {error}")
        count, _, seed = env["fuzz"].partition(":")
        session = Session(
            executors=tuple(prepared),
            log=LOG,
            records=records,
            simulators=tuple(check.simulators),
            vendor_runtimes=(*in_vendor_runtimes, *check.vendor_executors),
            notes=tuple(check.notes),
            quick=bool(env["quick"]),
            case=env["case"],
            fuzz=int(count or 0),
            seed=int(seed or time.time_ns() % 10**9),
        )
        shows_all = bool(env["verbose"])
        status = _run_pytest(session, env["OPERATOR"], env["workers"], shows_all, env["LOCK"])
    for problem in check.missing_simulators:
        print(wrapped(f"note: {problem}"))
    required = env["require_target"]
    for problem in not_run:
        hint = "; to check without them, pass require_target=0" if required else ""
        print(f"{'error' if required else 'warning'}: {problem}{hint}", file=sys.stderr)
    return status or int(required and bool(not_run))


@contextmanager
def _launch_in_vendor_runtime(
    runtime: str, program: VendorProgram, qemu: str
) -> Iterator[Executor]:
    """Yield the executor of a program that calls the kernel by the vendor's own runtime.

    Raises:
        OpkitError: the program cannot run.
    """
    on_board = executors.is_board(qemu)
    emulated = () if on_board else executors.emulated(program.abi, program.environment, qemu)
    path = Path(program.node[0].abspath)
    with executors.launch(program.abi, path, qemu, emulated) as executor:
        settings = program.settings
        yield replace(executor, name=program.name, runtime=runtime, settings=settings)


def _run_pytest(
    session: Session,
    operator: OpSpec,
    workers: str,
    shows_all: bool,
    kept_files: Sequence[int],
) -> int:
    """Run the tests, print a summary and an error for each missing result; return the status.

    If this process is killed, pytest still holds the repository's lock, one of the kept files.
    """
    LOG.unlink(missing_ok=True)
    shutil.rmtree(line_counts.FOLDER, ignore_errors=True)
    session.write(FILE)
    pytest = [
        *command("-v" if shows_all else "-q"),
        *(("-n", workers) if _in_parallel(workers) and not session.case else ()),
    ]
    status = subprocess.run(pytest, check=False, pass_fds=kept_files).returncode
    log = run_log.read(LOG)
    elsewhere = [*operator.runtimes[1:], *(executor.name for executor in session.executors)]
    others = [executor.name for executor in (*session.simulators, *session.vendor_runtimes)]
    on_executors = {CPU_KERNEL.name: [*map(CPU_KERNEL.on, elsewhere), *others]}
    files = sorted(path.as_posix() for path in Path("tests").rglob("test_*.py"))
    if session.case:  # checks of the whole run would complain about the other cases
        return status or log.status or 0
    # If pytest itself failed, it has printed the reason.
    failed_to_start = status == USAGE_ERROR and not log.collected
    has_reason = failed_to_start or log.status not in (None, 0, NO_TESTS)
    sampled = [CPU_KERNEL.on(each.name) for each in session.executors if each.sampled]
    missing, notes = list[str](), list[str]()
    if not has_reason:
        missing, notes = run_log.weak_cases(log)
        missing += run_log.missing(log, expected_kernels(operator), on_executors, files, sampled)
        notes += [*run_log.constant_params(log), *map(str, idle_keys(Path(), operator))]
    missing += run_log.changed_outcomes(log, status)
    unread = [] if failed_to_start else unread_params(Path(), operator)
    if left_out := run_log.not_checked(log):
        notes.append(left_out)
    if not (status or log.status or missing or unread):
        counts = line_counts.load(line_counts.FOLDER)
        notes += filter(None, [line_coverage.note(line_coverage.coverage(Path(), counts))])
    for sentence in notes:
        print(wrapped(f"note: {sentence}"), flush=True)
    for problem in (*missing, *unread):
        print(wrapped(f"error: {problem}"), file=sys.stderr)
    return status or log.status or int(bool(missing or unread))
