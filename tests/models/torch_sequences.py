"""Exports models of sequences with operators of the library; runs in a Python with torch.

python torch_sequences.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxscript
import torch
from onnx.defs import OpSchema
from torch import Tensor, nn
from torch.nn import functional

DOMAIN, VERSION = "com.example", 1
OPSET = onnxscript.values.Opset(DOMAIN, VERSION)


@torch.library.custom_op("example::selective_scan", mutates_args=())
def selective_scan(
    u: Tensor,
    delta: Tensor,
    a: Tensor,
    b: Tensor,
    c: Tensor,
    d: Tensor,
    bias: Tensor,
    past: Tensor,
    delta_softplus: int,
) -> tuple[Tensor, Tensor]:
    """Return y [N, S, channels] and the last state [N, channels, states], in a plain loop.

    The recurrence of Gu and Dao, Mamba: Linear-Time Sequence Modeling with Selective State Spaces.
    """
    steps = delta + bias
    if delta_softplus:
        steps = functional.softplus(steps)
    state, ys = past, []
    for at in range(u.shape[1]):
        step = steps[:, at, :, None]
        state = torch.exp(step * a) * state + step * b[:, at, None] * u[:, at, :, None]
        ys.append((state * c[:, at, None]).sum(-1) + d * u[:, at])
    return torch.stack(ys, 1), state.clone()


@selective_scan.register_fake
def _(u: Tensor, *others: Any) -> tuple[Tensor, Tensor]:
    return torch.empty_like(u), torch.empty_like(others[6])


def selective_scan_node(
    u: Any, delta: Any, a: Any, b: Any, c: Any, d: Any, bias: Any, past: Any, delta_softplus: int
) -> Any:
    """Return the node of the operator."""
    return OPSET.SelectiveScan(u, delta, a, b, c, d, bias, past, delta_softplus=delta_softplus)


class MambaBlock(nn.Module):
    """A block of Mamba with a residual."""

    def __init__(self, width: int = 16, inner: int = 32, states: int = 8, rank: int = 4) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.into = nn.Linear(width, 2 * inner, bias=False)
        self.convolution = nn.Conv1d(inner, inner, 4, padding=3, groups=inner)
        self.choose = nn.Linear(inner, rank + 2 * states, bias=False)
        self.delta = nn.Linear(rank, inner, bias=False)
        self.out = nn.Linear(inner, width, bias=False)
        self.register_buffer("a", -torch.arange(1.0, states + 1).repeat(inner, 1))
        self.register_buffer("d", torch.ones(inner))
        self.register_buffer("bias", torch.linspace(-4, -1, inner))
        self.register_buffer("past", torch.zeros(1, inner, states))
        self.sizes = [rank, states, states]

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs [1, S, width] of a sequence."""
        u, gate = self.into(self.norm(x)).chunk(2, -1)
        u = self.convolution(u.transpose(1, 2))[..., : x.shape[1]].transpose(1, 2)
        u = functional.silu(u)
        delta, b, c = self.choose(u).split(self.sizes, -1)
        delta = self.delta(delta)
        y, _ = selective_scan(u, delta, self.a, b, c, self.d, self.bias, self.past, 1)
        found: Tensor = x + self.out(y * functional.silu(gate))
        return found


class VisionTransformer(nn.Module):
    """Two layers of attention over the patches of an image, and a classifier."""

    def __init__(self, width: int = 32, heads: int = 4, classes: int = 10) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.first = nn.Parameter(torch.rand(1, 1, width))
        self.positions = nn.Parameter(torch.rand(1, 17, width))
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    "norm1": nn.LayerNorm(width),
                    "qkv": nn.Linear(width, 3 * width),
                    "out": nn.Linear(width, width),
                    "norm2": nn.LayerNorm(width),
                    "mlp": nn.Sequential(
                        nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
                    ),
                }
            )
            for _ in range(2)
        )
        self.head = nn.Linear(width, classes)
        self.heads = heads

    def forward(self, image: Tensor) -> Tensor:
        """Return the scores [1, classes] of an image [1, 3, 32, 32]."""
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.first, x], 1) + self.positions
        for layer in self.layers:
            qkv = layer["qkv"](layer["norm1"](x))
            heads = [
                each.unflatten(-1, (self.heads, -1)).transpose(1, 2) for each in qkv.chunk(3, -1)
            ]
            found = functional.scaled_dot_product_attention(*heads)
            x = x + layer["out"](found.transpose(1, 2).flatten(2))
            x = x + layer["mlp"](layer["norm2"](x))
        scores: Tensor = self.head(x[:, 0])
        return scores


MODELS = {
    "vit": (VisionTransformer, torch.rand(1, 3, 32, 32)),
    "mamba": (lambda: nn.Sequential(MambaBlock(), MambaBlock()), torch.rand(1, 12, 16) * 2 - 1),
}


def main() -> None:
    """Export the models into the folder of the command line; write a call of the operator, too."""
    folder = Path(sys.argv[1])
    inputs = "u delta a b c d delta_bias past_state".split()
    shapes = [(2, 9, 6), (2, 9, 6), (6, 4), (2, 9, 4), (2, 9, 4), (6,), (6,), (2, 6, 4)]
    call = [torch.randn(shape) for shape in shapes]
    y, state = selective_scan(*call, 1)
    np.savez(folder / "call.npz", **dict(zip(inputs, call, strict=True)), y=y, present_state=state)
    onnx.defs.register_schema(
        OpSchema(
            "SelectiveScan",
            DOMAIN,
            VERSION,
            inputs=[OpSchema.FormalParameter(name, "T") for name in inputs],
            outputs=[OpSchema.FormalParameter(name, "T") for name in ("y", "present_state")],
            type_constraints=[("T", ["tensor(float)"], "")],
            attributes=[OpSchema.Attribute("delta_softplus", OpSchema.AttrType.INT, "")],
        )
    )
    torch.manual_seed(0)
    for name, (make, example) in MODELS.items():
        torch.onnx.export(
            make().eval(),
            (example,),
            str(folder / f"{name}.onnx"),
            dynamo=True,
            opset_version=23,
            input_names=["x"],
            output_names=["y"],
            custom_translation_table={
                torch.ops.example.selective_scan.default: selective_scan_node
            },
        )


if __name__ == "__main__":
    main()
