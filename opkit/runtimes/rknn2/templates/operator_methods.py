    def compute(self, node, inputs):
        """Return the array of each output."""
        arrays, constants = self._split(node, inputs)
        params = self._params(node, constants)
        shapes = {name: array.shape for name, array in arrays.items()}
        expected = self.outputs(shapes, [array.dtype for array in inputs], params)
$results
        outputs = []
        for name, shape, dtype in zip(self.OUTPUTS, *expected):
            # The toolkit accepts wrong shapes silently, and crashes on float16.
            output = np.asarray(results[name], dtype, order="C")
            if list(output.shape) != shape:
                was = list(output.shape)
                self._fail(f"reference returns '{name}' as {was}, but output_shapes says {shape}")
            outputs.append(output)
        return outputs

    def outputs(self, shapes, dtypes, params):
        """Return the shape and the dtype of each output.

        shapes: dict of input name -> shape.
        dtypes: the dtypes of the inputs.
        params: dict of param name -> value.
        """
        self._check_ranks("input", shapes)
        results = self._call("output_shapes", shapes, params)
        result_shapes = {name: [int(size) for size in results[name]] for name in self.OUTPUTS}
        self._check_ranks("output", result_shapes)
        result_dtypes = [np.dtype(dtype or dtypes[0]) for dtype in self.OUTPUTS.values()]
        return (
            list(result_shapes.values()),
            # The toolkit has no float16 here; it rounds float32 itself.
            [np.dtype("float32") if dtype == "float16" else dtype for dtype in result_dtypes],
        )

    def check_attribute(self, node, name, value):
        """Refuse numbers that librknnrt cannot read, in any attribute of a node."""
        for number in unreadable_numbers(value):
            low, high = INTEGERS if isinstance(number, int) else FLOATS
            expected = f"{low} to {high}" if low < 0 else f"0, or {low:.9g} to {high:.9g}, or minus"
            self._fail(
                f"node '{node.name}': attribute '{name}' is {number}, on which librknnrt aborts "
                f"when it loads the model (expected {expected})"
            )
$check_attribute
    def write_defaults(self, nodes):
        """Add missing attributes with their defaults to onnx nodes of the operator.

        Otherwise librknnrt prints an error for each, although the operator has the default.
        """
        for node in nodes:
            node.attribute.extend(list(self._missing_attributes(node)))

    def attribute(self, name, value):
        """Return an onnx attribute with the value of a param."""
        from onnx import helper

        param = self.PARAMS[name]
        convert = {"str": str, "float32": float, "float64": float}.get(param["type"], int)
        is_list = "lengths" in param
        return helper.make_attribute(name, list(map(convert, value)) if is_list else convert(value))

    def _missing_attributes(self, node):
        known = {attribute.name for attribute in node.attribute}
        known.update(self._input_names(node))
        for name, param in self.PARAMS.items():
            if name not in known and is_exact_attribute(param):
                yield self.attribute(name, param["default"])

    def _check_ranks(self, kind, shapes):
        for name, shape in shapes.items():
            if len(shape) > MAX_RANK:
                self._fail(
                    f"{kind} '{name}' has the shape {list(shape)} with {len(shape)} dimensions "
                    f"(expected {MAX_RANK} at most)"
                )

    def _call(self, function, tensors, params):
        try:
            results = getattr(self.reference, function)(tensors, params)
        except KeyError as error:
            is_constant = error.args[0] in self.PARAMS and error.args[0] not in params
            hint = "a constant input, without a value during shape inference; make it an attribute"
            known = f"the inputs are {list(tensors)}, the params {list(params)}"
            self._fail(f"{function}: no {error}: {hint if is_constant else known}")
        except Exception as error:  # any kind: the toolkit prints only its text
            self._fail(f"{function}: {type(error).__name__}: {error}")
        if not isinstance(results, dict) or set(results) != set(self.OUTPUTS):
            self._fail(f"{function} must return a dict of {list(self.OUTPUTS)}, not {results!r}")
        return results

    def _split(self, node, values):
        """Split a node's values into a dict of inputs and a dict of constant params, by name."""
        values, names = list(values), [*self.INPUTS, *self.CONSTANTS]
        if not len(self.INPUTS) <= len(values) <= len(names):
            self._fail(f"node '{node.name}' has {len(values)} inputs, expected {names}")
        tensors = dict(zip(names, values))
        constants = {name: tensors.pop(name) for name in names[len(self.INPUTS) : len(values)]}
        return tensors, constants

    def _params(self, node, constants):
        """Return the values of params, without constants of unknown value."""
        params = {}
        for name, param in self.PARAMS.items():
            value = constants[name] if name in constants else node_attribute(node, name)
            if value is None and name in constants:
                continue
            value = param.get("default") if value is None else value
            if value is None:
                self._fail(f"node '{node.name}' has no attribute '{name}'")
            params[name] = self._value(node, name, value)
        return params

    def _value(self, node, name, value):
        """Convert a param for the reference: to a number, a str, or a list of numbers."""
        param = self.PARAMS[name]
        value = value.decode() if isinstance(value, bytes) else value
        items = np.ravel(value)
        kinds = {"str": "U", "float32": "f", "float64": "f"}.get(param["type"], "iub")
        result = items if kinds == "U" else items.astype(param["type"])
        is_exact = kinds == "f" or np.array_equal(result, items)
        if items.dtype.kind not in kinds or not is_exact:
            self._fail(f"node '{node.name}': '{name}' is {value!r}, expected {param['type']}")
$check_value        if "lengths" not in param and len(result) == 1:
            return result.item()
        if len(result) not in param.get("lengths", ()):
            expected = param.get("lengths", "a single one")
            self._fail(f"node '{node.name}': '{name}' has {len(items)} items, expected {expected}")
        return result.tolist()
$check_allowed
    def _fail(self, problem):
        raise ValueError(f"{self.op_type}: {problem}")
