"""What a description can say to the plain runtime."""

from opkit.description.describe import RuntimeDescription, Target

DESCRIBE = RuntimeDescription(
    name="plain",
    title="plain C",
    frameworks=("tensorflow",),
    targets={"pc": Target("pc", "x64")},
    product_pattern="*.so",
    tensor_types={"float16": "float32", "float32": "float32"},
)
