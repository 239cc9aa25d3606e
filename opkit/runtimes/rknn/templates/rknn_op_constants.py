    def _constants(self, node_def, tensor_data_map):
        # The toolkit's keys are C:out0, C_1:out0, ... for inputs outside of def_input.
        constants = {key.split(":")[0]: value for key, value in tensor_data_map.items()}
        inputs = [name.split(":")[0] for name in node_def.input if not name.startswith("^")]
        others = inputs[len(self.def_input) :]
        aliases = ["C"] + ["C_{}".format(index) for index in range(1, len(others))]
        if set(constants) == set(aliases):
            constants.update(zip(others, [constants[alias] for alias in aliases]))
        last_parts = [name.split("/")[-1] for name in inputs]
        for name, last_part in zip(inputs, last_parts):
            if name in constants and last_parts.count(last_part) == 1:
                constants[last_part] = constants[name]
        return dict(tensor_data_map, **constants)
