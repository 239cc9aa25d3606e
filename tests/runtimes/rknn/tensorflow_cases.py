"""Run the class that RKNN-Toolkit calls against real TensorFlow, in a separate program.

    python tensorflow_cases.py FOLDER...

FOLDER holds the generated rknn_op_*.py; the stand-in of RKNN-Toolkit must be in one of them, too.
Runs every `case_` function below and prints a JSON object: its name -> null, or its error. Runs
on Python 3.6 and TensorFlow 1.11, the requirements of RKNN-Toolkit, and on all later versions.
"""

import inspect
import json
import sys
import traceback
from importlib import import_module
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1 if hasattr(tf.compat, "v1") else tf
VERSION = tuple(int(part) for part in tf.__version__.split(".")[:2])
RANDOM = np.random.RandomState(2024)


def operator(name: str) -> Any:
    """Return an object of the generated class."""
    return getattr(import_module("rknn_op_" + name.lower()), name)()


def toolkit() -> Any:
    """Return the stand-in's module that calls a class as the toolkit does."""
    return import_module("conversion")


def node_of(graph: Any, op: str) -> Any:
    """Return the only NodeDef of an operator, after writing and reading its graph."""
    (node,) = [node for node in read_again(graph).node if node.op == op]
    return node


def constants_of(graph: Any) -> Any:
    """Return the name of each constant -> its value."""
    return {
        node.name: tf.make_ndarray(node.attr["value"].tensor)
        for node in read_again(graph).node
        if node.op == "Const"
    }


def read_again(graph: Any) -> Any:
    """Return the GraphDef, serialized and parsed again."""
    return v1.GraphDef.FromString(graph.as_graph_def().SerializeToString())


def both(name: str, make: Any, *arrays: Any, **options: Any) -> Any:
    """Run TensorFlow's operator and the class in one session, as the toolkit does.

    Args:
        name: the operator's.
        make: builds the model from a placeholder for each array; returns the operator's output.
        arrays: the values of the placeholders.
        options: `generated`, an object of a class; by default of the generated class.

    Returns the loaded params, the class's result and TensorFlow's.
    """
    generated = options.get("generated") or operator(name)
    with tf.Graph().as_default() as graph:
        inputs = [v1.placeholder(array.dtype, array.shape) for array in arrays]
        expected = make(*inputs)
        node, constants = node_of(graph, name), constants_of(graph)
        params = toolkit().load_params(generated, node, constants)
        names = [name for name in node.input if not name.startswith("^")]
        names = [name if ":" in name else name + ":0" for name in names]
        tensors = [graph.get_tensor_by_name(name) for name in names[: len(generated.def_input)]]
        (actual,) = toolkit().output_tensors(generated, tensors, params)
        assert actual.dtype == expected.dtype
        assert actual.shape.as_list() == expected.shape.as_list(), (actual.shape, expected.shape)
        with v1.Session(graph=graph) as session:
            fed = {inputs[index]: array for index, array in enumerate(arrays)}
            actual, expected = session.run([actual, expected], fed)
    sizes = [tensor.shape.as_list() for tensor in tensors]
    (size,) = toolkit().output_sizes(generated, sizes, params)
    assert size in (list(expected.shape), list(expected.shape[1:])), size  # the vendor's: no batch
    return params, actual, expected


def ulps(actual: Any, expected: Any) -> int:
    """Return the largest distance between two float32 arrays, in units of the last place."""
    assert (np.isnan(actual) == np.isnan(expected)).all()
    kept = ~np.isnan(actual)
    pair = [array[kept].view(np.int32).astype(np.int64) for array in (actual, expected)]
    ordered = [np.where(bits < 0, -(2**31) - bits, bits) for bits in pair]
    return int(abs(ordered[0] - ordered[1]).max())


def case_resize_area() -> None:
    """Sizes up and down, align_corners both ways."""
    images = RANDOM.uniform(-1, 1, (2, 7, 5, 3)).astype(np.float32)
    for size in ([3, 2], [7, 5], [1, 1], [14, 10], [9, 4]):
        for align_corners in (False, True):
            params, actual, expected = both(
                "ResizeArea",
                lambda x, s=size, a=align_corners: v1.image.resize_area(x, s, align_corners=a),
                images,
            )
            assert dict(params) == {"size": size, "align_corners": align_corners}, params
            assert type(params["align_corners"]) is bool
            assert ulps(actual, expected) == 0, (size, align_corners, ulps(actual, expected))


def case_resize_images_by_area() -> None:
    """The same operator in a user's name scope, beside another one's size."""
    images = RANDOM.uniform(0, 255, (1, 64, 48, 3)).astype(np.float32)

    def make(x: Any) -> Any:
        v1.image.resize_bilinear(x, [8, 8])
        with v1.name_scope("head"):
            method = v1.image.ResizeMethod.AREA
            return v1.image.resize_images(x, [20, 31], method=method)

    params, actual, expected = both("ResizeArea", make, images)
    assert params["size"] == [20, 31]
    assert ulps(actual, expected) == 0


def case_resize_area_of_a_named_constant() -> None:
    """A size with any constant name is found: by its key, and by params_from_tf."""
    images = RANDOM.uniform(0, 1, (1, 4, 4, 1)).astype(np.float32)
    for name in ("ResizeArea", "ResizeAreaByPosition"):
        with tf.Graph().as_default() as graph:
            tensor = v1.placeholder(tf.float32, images.shape)
            v1.image.resize_area(tensor, tf.constant([2, 3], name="wanted"), name="shrink")
            node, constants = node_of(graph, "ResizeArea"), constants_of(graph)
        params = toolkit().load_params(operator(name), node, constants)
        assert params["size"] == [2, 3]


def case_vendors_resize_area() -> None:
    """A class in the style of published operators, which calls TensorFlow's operator."""
    api = import_module("rknn.api")

    class ResizeArea(api.RKNNCustomOP):  # type: ignore[misc, name-defined]
        op = "ResizeArea"
        def_input = [api.IoMap("in0", "in", "input port 0")]  # noqa: RUF012
        def_output = [api.IoMap("out0", "out", "output port 0")]  # noqa: RUF012

        def load_params_from_tf(self, node_def: Any, tensor_data_map: Any) -> Any:
            size = tensor_data_map["C:out0"].tolist()
            return {"size": size, "align_corners": node_def.attr["align_corners"].b}

        def compute_output_shape(self, inputs_shape: Any, params: Any) -> Any:
            shape = api.Shape()
            channels = inputs_shape[0].format("nhwc")[3]
            shape.set_shape(shape=params["size"] + [channels], fmt="nhwc")
            return [shape]

        def compute_output_tensor(self, const_tensor: Any, inputs_tensor: Any, params: Any) -> Any:
            return [v1.image.resize_area(inputs_tensor[0], params["size"], params["align_corners"])]

    images = RANDOM.uniform(0, 1, (1, 32, 32, 3)).astype(np.float32)
    params, actual, expected = both(
        "ResizeArea",
        lambda x: v1.image.resize_area(x, tf.constant([64, 64], name="size")),
        images,
        generated=ResizeArea(),
    )
    assert params == {"size": [64, 64], "align_corners": False}
    assert (actual == expected).all()


def case_several_constants() -> None:
    """Three constants of one operator, by the names of the node's inputs and by alias."""
    values = np.arange(60, dtype=np.float32).reshape(6, 10)
    for name in ("StridedSlice", "StridedSliceByAlias"):
        with tf.Graph().as_default() as graph:
            v1.strided_slice(v1.placeholder(tf.float32, (6, 10)), [1, 0], [6, 7], [2, 3])
            node, constants = node_of(graph, "StridedSlice"), constants_of(graph)
            assert len(constants) == 3, constants
        sliced = operator(name)
        params = toolkit().load_params(sliced, node, constants)
        assert params == {"begin": [1, 0], "end": [6, 7], "strides": [2, 3]}, params
        assert toolkit().output_sizes(sliced, [[6, 10]], params) == [[3, 3]]
    _, actual, expected = both(
        "StridedSlice", lambda x: v1.strided_slice(x, [1, 0], [6, 7], [2, 3]), values
    )
    assert (actual == expected).all()


def case_control_inputs() -> None:
    """A control dependency of a node is not an input of it."""
    images = RANDOM.uniform(0, 1, (1, 8, 8, 1)).astype(np.float32)

    def make(x: Any) -> Any:
        size = tf.constant([2, 3], name="any")
        with v1.control_dependencies([tf.identity(x, name="first"), tf.constant(1, name="size")]):
            return v1.image.resize_area(x, size)

    with tf.Graph().as_default() as graph:
        make(v1.placeholder(tf.float32, images.shape))
        assert any(name.startswith("^") for name in node_of(graph, "ResizeArea").input)
    params, actual, expected = both("ResizeArea", make, images)
    assert params["size"] == [2, 3]
    assert (actual == expected).all()


def case_exp() -> None:
    """Any rank; zero, infinities, NaN, overflow and underflow."""
    values = RANDOM.uniform(-80, 80, 1000).astype(np.float32)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 89, -104, 1, -1, 88.7], np.float32)
    for array in (values, special, values.reshape(5, 10, 20), values.reshape(2, 5, 2, 10, 5)):
        params, actual, expected = both("Exp", tf.exp, array)
        assert not params
        assert ulps(actual, expected) <= 1, ulps(actual, expected)


def case_exp_of_halves() -> None:
    """The reference computes in float32; the output tensor is half again."""
    halves = RANDOM.uniform(-8, 8, 1000).astype(np.float16)
    _, actual, expected = both("Exp", tf.exp, halves)
    assert actual.dtype == np.float16
    correct = np.exp(halves.astype(np.float64)).astype(np.float16)
    assert (actual == correct).all()
    assert abs(actual.view(np.int16) - expected.view(np.int16)).max() <= 1


def case_truncate_div() -> None:
    """Integers of every sign, broadcast; two inputs in their order."""
    x = RANDOM.randint(-1000, 1000, (3, 4, 50)).astype(np.int16)
    y = RANDOM.randint(1, 60, (4, 50)) * RANDOM.choice([-1, 1], (4, 50))
    y = y.astype(np.int16)
    for divisor in (y, y[:1], y[0]):
        _, actual, expected = both("TruncateDiv", tf.truncatediv, x, divisor)
        assert (actual == expected).all()


def case_truncate_div_of_floats() -> None:
    """TensorFlow 1.11 has none, up to 2.2 at least it only divides, later it truncates, too."""
    if VERSION < (1, 13):
        return
    x = RANDOM.uniform(-100, 100, (2, 500)).astype(np.float32)
    y = RANDOM.uniform(0.5, 9, (2, 500)).astype(np.float32)
    _, actual, expected = both("TruncateDiv", tf.truncatediv, x, y)
    if VERSION < (2, 3):
        expected = np.trunc(expected)
    assert (actual == expected).all()


def case_model_of_two_operators() -> None:
    """TruncateDiv by a constant, which becomes a tensor as its second input, then Exp."""
    x = RANDOM.uniform(-60, 60, (1, 512)).astype(np.float32)
    y = RANDOM.uniform(1, 9, (1, 512)).astype(np.float32)
    with tf.Graph().as_default() as graph:
        tensor = v1.placeholder(tf.float32, (1, 512))
        tf.exp(tf.truncatediv(tensor, tf.constant(y, name="divisor")))
        constants = constants_of(graph)
    assert list(constants) == ["divisor"]
    with tf.Graph().as_default():
        tensors = [tf.constant(x), tf.constant(y)]
        for name in ("TruncateDiv", "Exp"):
            params = toolkit().load_params(operator(name), node_of(graph, name), constants)
            assert params == {}
            sizes = [tensor.shape.as_list() for tensor in tensors]
            assert toolkit().output_sizes(operator(name), sizes, params) == [[1, 512]]
            tensors = toolkit().output_tensors(operator(name), tensors, params)
        with v1.Session() as session:
            (result,) = session.run(tensors)
    assert ulps(result, np.exp(np.trunc(x / y).astype(np.float64)).astype(np.float32)) == 0


def case_row_mean() -> None:
    """An operator with a name unknown to TensorFlow."""
    values = RANDOM.uniform(-1, 1, (1, 8, 512)).astype(np.float32)
    with tf.Graph().as_default():
        (mean,) = toolkit().output_tensors(operator("RowMean"), [tf.constant(values)], {})
        with v1.Session() as session:
            mean = session.run(mean)
    assert (mean == np.mean(values, -1, np.float64, keepdims=True).astype(np.float32)).all()


def case_decode_boxes() -> None:
    """Two inputs, one of them constant; two outputs; six params, one of them in the node."""
    node = v1.NodeDef(op="DecodeBoxes", name="boxes", input=["deltas", "anchors"])
    node.attr["image_size"].list.i.extend([300, 200])
    decode = operator("DecodeBoxes")
    params = toolkit().load_params(decode, node, {"anchors": np.zeros((2, 4))})
    assert params["image_size"] == [300, 200]
    anchors = np.array([[0, 0, 10, 20], [5, 5, 400, 400]], np.float32)
    with tf.Graph().as_default():
        tensors = [tf.zeros((1, 2, 4)), tf.constant(anchors)]
        results = toolkit().output_tensors(decode, tensors, params)
        with v1.Session() as session:
            boxes, areas = session.run(results)
    assert boxes[0].tolist() == [[0, 0, 10, 20], [5, 5, 300, 200]], boxes
    assert areas[0].tolist() == [200, 295 * 195], areas
    sizes = toolkit().output_sizes(decode, [[1, 2, 4], [2, 4]], params)
    assert sizes == [[1, 2, 4], [1, 2]], sizes


def case_output_dtypes() -> None:
    """An output has the dtype of op.yml, or else the dtype of the first input."""
    values = RANDOM.uniform(-1, 1, (4, 9)).astype(np.float32)
    with tf.Graph().as_default():
        results = toolkit().output_tensors(operator("LargestOf"), [tf.constant(values)], {})
        assert [result.dtype for result in results] == [tf.int16, tf.float32]
        with v1.Session() as session:
            index, value = session.run(results)
    assert (index.dtype, value.dtype) == (np.int16, np.float32)
    assert (index == values.argmax(-1)).all()
    assert (value == values.max(-1)).all()


def case_types() -> None:
    """The reference sees float32 instead of half, every other type as it is."""
    sizes = {tf.float16: 4, tf.float32: 4, tf.int8: 1, tf.uint8: 1, tf.int16: 2}
    for dtype, size in sizes.items():
        with tf.Graph().as_default():
            (output,) = operator("ItemSize").compute_output_tensor([], [tf.zeros((2,), dtype)], {})
            assert output.dtype == dtype
            with v1.Session() as session:
                assert session.run(output).tolist() == [size, size], dtype


def case_outputs_that_board_leaves_empty() -> None:
    """An output is refused if the board would return it empty."""
    for dtype in (tf.uint16, tf.int32, tf.int64, tf.float64):
        with tf.Graph().as_default():
            try:
                operator("ItemSize").compute_output_tensor([], [tf.zeros((2,), dtype)], {})
            except ValueError as error:
                assert f"output 'y' is {dtype.name}, which the board" in str(error), error
            else:
                raise AssertionError(dtype)


def case_unknown_dimensions() -> None:
    """A batch size that is unknown until the graph runs."""
    images = RANDOM.uniform(-1, 1, (3, 4, 4, 1)).astype(np.float32)
    for known in ([None, 4, 4, 1], [None] * 4, None):
        with tf.Graph().as_default():
            placeholder = v1.placeholder(tf.float32, known)
            expected = v1.image.resize_area(placeholder, [2, 2])
            params = {"size": [2, 2], "align_corners": False}
            resize = operator("ResizeArea")
            (actual,) = resize.compute_output_tensor([], [placeholder], params)
            with v1.Session() as session:
                actual, expected = session.run([actual, expected], {placeholder: images})
        assert (actual == expected).all()


def case_several_outputs() -> None:
    """Two inputs and two outputs of different shapes, each in the order of op.yml."""
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = np.arange(4, dtype=np.float32) + 10
    with tf.Graph().as_default():
        tensors = [tf.constant(a), tf.constant(b)]
        outputs = operator("Several").compute_output_tensor([], tensors, {"scale": 2.0})
        assert [output.shape.as_list() for output in outputs] == [[4], [3, 2]]
        with v1.Session() as session:
            scaled, transposed = session.run(outputs)
    assert scaled.tolist() == [20, 22, 24, 26]
    assert transposed.tolist() == [[0, 3], [1, 4], [2, 5]]


def case_wrong_number_of_inputs() -> None:
    """A missing tensor is named before anything runs."""
    with tf.Graph().as_default():
        try:
            operator("Several").compute_output_tensor([], [tf.constant([1.0])], {"scale": 2.0})
        except ValueError as error:
            assert str(error) == "Several: 1 inputs, expected ['a', 'b']", error
        else:
            raise AssertionError("no error")


def case_wrong_results() -> None:
    """A reference that contradicts itself stops the session with a message."""
    expected = {
        1.0: "Several: reference must return the shapes [(1,), (3, 2)]",
        2.0: "KeyError: 'transposed'",
    }
    for wrong, message in expected.items():
        with tf.Graph().as_default():
            tensors = [tf.zeros((2, 3)), tf.constant([-wrong])]
            outputs = operator("Several").compute_output_tensor([], tensors, {"scale": 1.0})
            with v1.Session() as session:
                try:
                    session.run(outputs)
                except tf.errors.OpError as error:
                    assert message in str(error), error
                else:
                    raise AssertionError("no error")


def case_inputs_are_not_changed() -> None:
    """A reference that writes into its input writes into a copy."""
    with tf.Graph().as_default():
        fives = tf.fill([4096], 5.0) + v1.placeholder(tf.float32, ())
        outputs = operator("Several").compute_output_tensor(
            [], [tf.zeros((2, 3)), fives], {"scale": 3.0}
        )
        with v1.control_dependencies(outputs):
            after = tf.identity(fives)
        with v1.Session() as session:
            scaled, after = session.run([outputs[0], after], {"Placeholder:0": 0.0})
    assert (scaled == 15).all()
    assert (after == 5).all()


def case_eager() -> None:
    """Eager execution, the default of TensorFlow 2."""
    if VERSION < (2, 0):
        return
    tensor = tf.constant([[0.0, 1.0]])
    (one,) = operator("Exp").compute_output_tensor([], [tensor], {})
    assert one.numpy().tolist() == [[1.0, float(np.float32(np.e))]]
    tensors = [tf.zeros((2, 3)), tf.constant([5.0])]
    outputs = operator("Several").compute_output_tensor([], tensors, {"scale": 3.0})
    assert [output.shape.as_list() for output in outputs] == [[1], [3, 2]]


def case_attributes_of_numbers() -> None:
    """LRN: an int and three floats, with TensorFlow's defaults and without."""
    with tf.Graph().as_default() as graph:
        v1.nn.lrn(v1.placeholder(tf.float32, (1, 2, 2, 8)), depth_radius=3, alpha=0.1)
        params = operator("LRN").load_params_from_tf(node_of(graph, "LRN"), constants_of(graph))
    assert dict(params) == {
        "depth_radius": 3,
        "bias": 1.0,
        "alpha": float(np.float32(0.1)),
        "beta": 0.5,
    }
    assert [type(value) for value in params.values()] == [int, float, float, float]


def case_attributes_of_lists_and_types() -> None:
    """MaxPool: lists, a type, and a text that params_from_tf turns into a number."""
    for padding, number in (("SAME", 1), ("VALID", 0)):
        with tf.Graph().as_default() as graph:
            images = v1.placeholder(tf.float32, (1, 8, 8, 1))
            v1.nn.max_pool(images, [1, 3, 2, 1], [1, 2, 1, 1], padding)
            node = node_of(graph, "MaxPool")
        params = operator("MaxPool").load_params_from_tf(node, {})
        expected = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "T": 1, "padding": number}
        assert dict(params) == expected, params


def main(folders: Any) -> int:
    """Run all cases; return 0 if every one passed."""
    sys.path[:0] = folders
    results = {}  # type: Any
    for name, function in list(globals().items()):
        if name.startswith("case_") and inspect.isfunction(function):
            try:
                function()
                results[name] = None
            except Exception:  # of TensorFlow, of numpy, of an assertion: the caller reports it
                results[name] = traceback.format_exc()
    print(json.dumps({"tensorflow": tf.__version__, "results": results}))
    return int(any(results.values()))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
