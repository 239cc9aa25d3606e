def _model(operator, params, inputs, outputs):
    """Return a model of one node, with constants as initializers."""
    _check_defaults(operator)
    values = {name: param.get("default") for name, param in operator.PARAMS.items()}
    values.update(params)
    node = helper.make_node(
        operator.op_type,
        [*operator.INPUTS, *operator.CONSTANTS],
        list(operator.OUTPUTS),
        name=operator.op_type + "_0",
    )
    attributes = [name for name in params if name not in operator.CONSTANTS]
    node.attribute.extend(operator.attribute(name, params[name]) for name in attributes)
    _check_attributes(operator, node)
    operator.write_defaults([node])
    constants = [
        numpy_helper.from_array(operator.constant(name, values[name]), name)
        for name in operator.CONSTANTS
    ]
    graph = helper.make_graph([node], operator.op_type, inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=OPSETS, ir_version=IR_VERSION)
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        problem = " ".join(str(error).split())
        raise ValueError(f"not ONNX's {operator.op_type} of opset {OPSET}: {problem}") from None
    return model


def _check_defaults(operator):
    """Refuse defaults that differ from ONNX's: a node that omits the attribute means ONNX's."""
    for name, attribute in onnx.defs.get_schema(operator.op_type, OPSET, DOMAIN).attributes.items():
        default = operator.PARAMS.get(name, {}).get("default")
        if default is not None and attribute.default_value.type:
            own = helper.get_attribute_value(operator.attribute(name, default))
            standard = helper.get_attribute_value(attribute.default_value)
            if own != standard:
                raise ValueError(
                    f"op.yml: params.{name}.default is {plain(own)}, but {plain(standard)} in "
                    "ONNX, which a node without the attribute means"
                )


def plain(value):
    """Return an attribute's value for a message."""
    return value.decode() if isinstance(value, bytes) else value
