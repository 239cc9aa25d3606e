    def _check_allowed(self, node, name, items):
        """Refuse items of a value that min, max or choices in op.yml do not allow."""
        param = self.PARAMS[name]
        keys = [key for key in ("min", "max", "choices") if key in param]
        kinds = {"str": str, "float32": np.float32, "float64": np.float32}
        number = kinds.get(param["type"], int)
        for item in map(number, items if keys else ()):
            low, high = number(param.get("min", item)), number(param.get("max", item))
            choices = [number(each) for each in param.get("choices", [item])]
            if not low <= item <= high or item not in choices:
                expected = ", ".join(f"{key} {param[key]}" for key in keys)
                self._fail(f"node '{node.name}': '{name}' is {item!s} (expected {expected})")
