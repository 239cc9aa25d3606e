    _PARAMS = $params

    def load_params_from_tf(self, node_def, tensor_data_map):
        values = {name: self._value(attribute) for name, attribute in node_def.attr.items()}
$more_values        params = {}
        for name, attributes in self._PARAMS.items():
            source = attributes.get("source", name)
            try:
                if source in values:
                    value = values[source]
                elif $has_default:
                    value = attributes["default"]
                else:
                    problem = "no '{}' among {}; the node's inputs are {}"
                    raise ValueError(problem.format(source, sorted(values), list(node_def.input)))
                params[name] = self._convert(value, attributes)
$armhf            except (OverflowError, TypeError, ValueError) as error:
                where = (self.op, node_def.name, name)
                raise ValueError("{}: node '{}': param '{}': {}".format(*where, error))
        return params
$constants
    def _value(self, attribute):
        kind = attribute.WhichOneof("value")
        if kind == "list":  # at most one of its fields has items
            return [item for _, items in attribute.list.ListFields() for item in items]
        return getattr(attribute, kind or "s")

    def _convert(self, value, attributes):
        items = np.ravel(value)
        result = items.astype(attributes["type"])
        if "float" not in attributes["type"] and not np.array_equal(result, items):
            raise ValueError("{} does not fit {}".format(items.tolist(), attributes["type"]))
$finite$allowed        if "lengths" not in attributes:  # a single number
            return result.item()
        if len(result) not in attributes["lengths"]:
            raise ValueError("{} items, not {}".format(len(result), attributes["lengths"]))
        return result.tolist()
