"""Exports models by both of PyTorch's exporters; runs in a Python with torch.

python torch_models.py FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


class DetectionHead(nn.Module):
    """Samples features at points, and keeps the best ones."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Conv2d(3, 8, 3)

    def forward(self, x: Tensor, grid: Tensor) -> tuple[Tensor, Tensor]:
        """Return values [1, 8, 4, 2] and their indices."""
        sampled = nn.functional.grid_sample(self.features(x), grid, align_corners=True)
        best = torch.topk(sampled, 2)
        return best.values, best.indices


class TextEncoder(nn.Module):
    """Embeds tokens with positions that count them, as RoBERTa does."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(32, 16)
        self.places = nn.Embedding(9, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu")

    def forward(self, ids: Tensor) -> Tensor:
        """Return the encoded tokens [1, 8, 16]."""
        mask = ids.ne(1).int()
        positions = torch.cumsum(mask, 1).mul(mask).long()
        encoded: Tensor = self.layer(self.words(ids) + self.places(positions))
        return encoded


class Audio(nn.Module):
    """Computes the log power spectrum of samples."""

    def forward(self, samples: Tensor) -> Tensor:
        """Return the spectrum [1, 33, 7]."""
        window = torch.hann_window(64)
        parts = torch.stft(samples, 64, 32, window=window, center=False, return_complex=True)
        return torch.log(torch.view_as_real(parts).square().sum(-1) + 1e-6)


MODELS: dict[str, tuple[Callable[[], Any], tuple[Tensor, ...]]] = {
    "detection_head": (DetectionHead, (torch.rand(1, 3, 8, 8), torch.rand(1, 4, 4, 2) * 2 - 1)),
    "text_encoder": (TextEncoder, (torch.randint(0, 32, (1, 8)),)),
    "audio": (Audio, (torch.rand(1, 256),)),
}
_ONLY_DYNAMO = {"audio"}  # the older exporter does not know complex numbers


def main() -> None:
    """Export the models into the folder of the command line, as NAME.onnx and NAME_old.onnx."""
    folder = Path(sys.argv[1])
    for name, (make, inputs) in MODELS.items():
        for suffix, dynamo in (("", True), ("_old", False)):
            if dynamo or name not in _ONLY_DYNAMO:
                file = str(folder / f"{name}{suffix}.onnx")
                torch.onnx.export(make().eval(), inputs, file, dynamo=dynamo, opset_version=18)


if __name__ == "__main__":
    main()
