"""Converts a grafted model to float16 or int8, simulates it, and analyses its layers.

    python quantization_worker.py WORK [RULE...]

It runs in the Python of RKNN-Toolkit2, in a folder where the toolkit's files may stay. RULE is a
rule of the toolkit's optimizer to disable. WORK is a JSON file:

    step        `float16`: convert the model, simulate it
                `calibrate`: compute the ranges of its tensors
                `int8`: convert the calibrated model, in a process of its own, and simulate it
    scripts     a repository's folder with convert.py
    classes     the files with the operators' classes
    model       the ONNX model
    target      the target
    algorithm   the algorithm of the calibration
    hybrid      the toolkit's names of the tensors whose layers stay float16 in the int8 model
    samples     for each sample, the .npy files of its inputs, in order; without spaces in names
    results     the folder for the outputs of each sample, `<index>.npz`, in order
    layers      the JSON file to write: for each layer, in order, the operator, its output, and the
                .npy files of this output in float32 and in the simulator, for the first sample
    parameters  the JSON file of the calibration, to write: quantized tensor of the model -> the
                toolkit's name, scale, zero point
    package     the .rknn file to write

A line of stdout is the toolkit's version. On an error the last line of stderr is the reason,
and the exit status is 1.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

Work = dict[str, Any]

_DATASET = Path("dataset.txt")
_PARAMETERS = ".quantization.cfg"
_HYBRID = "custom_quantize_layers: {}"
_NOT_HYBRID = _HYBRID.format("{}")
_QUANTIZED = "_int8"


def _convert(converter: Any, work: Work) -> None:
    with converter.loaded(work["model"], work["target"]) as call:
        call("build", do_quantization=False)
        _simulate(call, work)


def _calibrate(converter: Any, work: Work) -> None:
    _DATASET.write_text("".join(f"{' '.join(files)}\n" for files in work["samples"]))
    config = {"quantized_algorithm": work["algorithm"]}
    with converter.loaded(work["model"], work["target"], **config) as call:
        call("hybrid_quantization_step1", dataset=str(_DATASET))
    [file] = Path().glob(f"*{_PARAMETERS}")
    tensors = YAML(typ="safe").load(file.read_text())["quantize_parameters"]
    quantized = {
        _own_name(name, tensors): (name, each["scale"][0], each["zero_point"][0])
        for name, each in tensors.items()
        if each["scale"]
    }
    Path(work["parameters"]).write_text(json.dumps(quantized))


def _own_name(name: str, tensors: dict[str, Any]) -> str:
    """Return the name of a tensor in the model: inputs and outputs in int8 have another one."""
    own = name[: -len(_QUANTIZED)]
    return own if name.endswith(_QUANTIZED) and own in tensors else name


def _quantize(converter: Any, work: Work) -> None:
    [file] = Path().glob(f"*{_PARAMETERS}")
    chosen = json.dumps(dict.fromkeys(work["hybrid"], "float16"))
    file.write_text(file.read_text().replace(_NOT_HYBRID, _HYBRID.format(chosen)))
    stem = file.name[: -len(_PARAMETERS)]
    with converter.toolkit() as call:
        call(
            "hybrid_quantization_step2",
            model_input=f"{stem}.model",
            data_input=f"{stem}.data",
            model_quantization_cfg=file.name,
        )
        _simulate(call, work)


def _simulate(call: Callable[..., Any], work: Work) -> None:
    """Write the package, the outputs for each sample, and the layers for the first one."""
    call("export_rknn", work["package"])
    call("init_runtime")
    results = Path(work["results"])
    results.mkdir(exist_ok=True)
    for index, files in enumerate(work["samples"]):
        outputs = call("inference", [np.load(file) for file in files], data_format="nchw")
        np.savez(results / f"{index}.npz", *outputs)
    folder = results / "analysis"
    call("accuracy_analysis", inputs=work["samples"][0], output_dir=str(folder))
    Path(work["layers"]).write_text(json.dumps([*_layers(folder)]))


def _layers(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield the layers of an accuracy analysis that have arrays: fused ones have none."""
    report = (folder / "error_analysis.txt").read_text()
    operators = {
        name: operator
        for operator, name in re.findall(r"^\[(\w+)\] (.+?) *(?:  .*)?$", report, re.M)
    }
    for line in (folder / "map_name_to_file.txt").read_text().splitlines()[2:]:
        name, file = re.split(r" {2,}", line.strip())
        file = f"{Path(file).stem}.npy"
        arrays = [folder / side / "npy" / file for side in ("golden", "simulator")]
        if all(each.is_file() for each in arrays):
            yield operators.get(name, ""), name, str(arrays[0]), str(arrays[1])


STEPS = {"float16": _convert, "calibrate": _calibrate, "int8": _quantize}


def main() -> None:
    """Do the step of the command line's file."""
    work: Work = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.path.insert(0, work["scripts"])
    convert: Any = import_module("convert")
    try:
        operators = [convert.load_operator(file) for file in work["classes"]]
        STEPS[work["step"]](convert.Converter(operators, sys.argv[2:]), work)
    except (convert.ConversionError, OSError, ValueError) as error:
        sys.exit(" ".join(str(error).split()))
    print(importlib.metadata.version("rknn-toolkit2"))


if __name__ == "__main__":
    main()
