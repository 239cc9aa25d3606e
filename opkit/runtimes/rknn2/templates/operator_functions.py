def unreadable_numbers(value):
    """Return the numbers of an attribute's value that librknnrt cannot read."""
    items = np.ravel(value)
    numbers = items.tolist()
    if items.dtype.kind == "f":
        low, high = FLOATS
        return [number for number in numbers if number != 0 and not low <= abs(number) <= high]
    low, high = INTEGERS
    is_text = items.dtype.kind not in "iub"
    return [] if is_text else [number for number in numbers if not low <= number <= high]


def is_exact_attribute(param):
    """Whether a param has a default that an attribute can hold exactly: floats are float32."""
    default = param.get("default")
    if default is None or unreadable_numbers(default):
        return False
    return param["type"] != "float64" or float(np.float32(default)) == default
