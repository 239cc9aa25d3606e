def _model(operator, params, inputs, outputs):
    """Return a model of one node; the default of an omitted param is in the node."""
    node = helper.make_node(
        operator.op_type,
        list(operator.INPUTS),
        list(operator.OUTPUTS),
        name=operator.op_type + "_0",
        domain=DOMAIN,
    )
    node.attribute.extend(operator.attribute(name, value) for name, value in params.items())
    _check_attributes(operator, node)
    operator.write_defaults([node])
    graph = helper.make_graph([node], operator.op_type, inputs, outputs)
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=IR_VERSION)
