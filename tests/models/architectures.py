"""Exports published architectures with random weights; runs in a Python with torch.

The configurations are small, the sizes of the inputs fixed: the operators, not the results, are of
interest. RAFT is written here, the others are those of transformers.

python architectures.py NAME dynamo|torchscript OUT.onnx
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import torch
import transformers as tf
from torch import Tensor, nn


class WithNames(nn.Module):
    """Calls a model with tensors by name, and returns the named outputs alone."""

    def __init__(
        self, model: Any, inputs: Mapping[str, Tensor], outputs: str, **options: Any
    ) -> None:
        super().__init__()
        self.model = model.eval()
        self.inputs = inputs
        self.outputs = outputs.split()
        self.options = options
        # Else the deeper tensors are almost zero.
        for weight in model.parameters():
            if weight.dim() > 1:
                nn.init.kaiming_normal_(weight)
        for each in model.modules():
            if isinstance(each, nn.BatchNorm2d):
                each.momentum = 1  # the statistics become those of the inputs
                each.train()
        with torch.no_grad():
            self(*inputs.values())
        model.eval()

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Return the outputs in the order of their names."""
        found = self.model(**dict(zip(self.inputs, tensors, strict=True)), **self.options)
        return tuple(found[name] for name in self.outputs)


def image(size: int) -> dict[str, Tensor]:
    """Return an image as the models of transformers take it."""
    return {"pixel_values": torch.rand(1, 3, size, size)}


def tokens(count: int, words: int = 100) -> dict[str, Tensor]:
    """Return a text without padding, of words other than the special ones."""
    return {"input_ids": torch.randint(10, words, (1, count))}


def _stages(last: int) -> dict[str, Any]:
    """Return the stages that a backbone of four gives to the rest of the model."""
    return {
        "depths": [1, 1, 1, 1],
        "out_features": ["stage1", "stage2", "stage3", "stage4"][-last:],
    }


_CONVOLUTIONS: dict[str, Any] = {
    "embedding_size": 16,
    "hidden_sizes": [16, 32, 48, 64],
    **_stages(3),
}


def _swin() -> Any:
    return tf.SwinConfig(
        image_size=64, embed_dim=16, num_heads=[1, 2, 4, 4], window_size=4, **_stages(4)
    )


def _transformer(width: int = 32, heads: int = 4) -> dict[str, Any]:
    """Return the sizes of an encoder and a decoder."""
    return {
        "d_model": width,
        "encoder_layers": 1,
        "decoder_layers": 2,
        "encoder_attention_heads": heads,
        "decoder_attention_heads": heads,
        "encoder_ffn_dim": 2 * width,
        "decoder_ffn_dim": 2 * width,
    }


def _hybrid_encoder(width: int = 32) -> dict[str, Any]:
    """Return the sizes of a detector with RT-DETR's encoder."""
    return {
        **_transformer(width),
        "encoder_hidden_dim": width,
        "encoder_in_channels": _CONVOLUTIONS["hidden_sizes"][1:],
        "decoder_in_channels": [width, width, width],
        "num_queries": 20,
    }


def rt_detr() -> WithNames:
    backbone = tf.RTDetrResNetConfig(**_CONVOLUTIONS, layer_type="basic")
    config = tf.RTDetrConfig(**_hybrid_encoder(), backbone_config=backbone)
    return WithNames(tf.RTDetrForObjectDetection(config), image(128), "logits pred_boxes")


def d_fine() -> WithNames:
    backbone = tf.HGNetV2Config(
        **_CONVOLUTIONS,
        stem_channels=[3, 16, 16],
        stage_in_channels=[16, 16, 32, 48],
        stage_mid_channels=[8, 8, 16, 16],
        stage_out_channels=_CONVOLUTIONS["hidden_sizes"],
        stage_num_blocks=[1, 1, 1, 1],
        stage_numb_of_layers=[1, 1, 1, 1],
    )
    config = tf.DFineConfig(**_hybrid_encoder(), backbone_config=backbone, lqe_hidden_dim=16)
    return WithNames(tf.DFineForObjectDetection(config), image(128), "logits pred_boxes")


def deformable_detr() -> WithNames:
    config = tf.DeformableDetrConfig(
        **_transformer(),
        backbone_config=tf.ResNetConfig(**_CONVOLUTIONS, layer_type="basic"),
        num_queries=20,
        disable_custom_kernels=True,
    )
    return WithNames(tf.DeformableDetrForObjectDetection(config), image(128), "logits pred_boxes")


def mask2former() -> WithNames:
    config = tf.Mask2FormerConfig(
        backbone_config=_swin(),
        feature_size=32,
        mask_feature_size=32,
        hidden_dim=32,
        encoder_feedforward_dim=64,
        dim_feedforward=64,
        encoder_layers=1,
        decoder_layers=2,
        num_attention_heads=4,
        num_queries=20,
        attn_implementation="eager",
    )
    return WithNames(
        tf.Mask2FormerForUniversalSegmentation(config),
        image(64),
        "class_queries_logits masks_queries_logits",
    )


def grounding_dino() -> WithNames:
    text = tf.BertConfig(
        vocab_size=2048,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    config = tf.GroundingDinoConfig(
        **_transformer(),
        backbone_config=_swin(),
        text_config=text,
        num_queries=20,
        max_text_len=8,
        disable_custom_kernels=True,
        attn_implementation="eager",
    )
    ids = torch.tensor([[101, 50, 51, 1012, 52, 53, 1012, 102]])  # "a cat . a dog ."
    model = tf.GroundingDinoForObjectDetection(config)
    # ONNX has no cumulative maximum: the masks of the text, which is fixed, become constants.
    name = "generate_masks_with_special_tokens_and_transfer_map"
    code = sys.modules[type(model).__module__]
    masks = getattr(code, name)(ids, model.model.special_tokens)
    setattr(code, name, lambda *_, **__: masks)
    return WithNames(
        model,
        image(64) | {"input_ids": ids},
        "logits pred_boxes",
    )


def swinv2() -> WithNames:
    config = tf.Swinv2Config(
        image_size=64, embed_dim=32, depths=[2, 1], num_heads=[2, 4], window_size=4, num_labels=10
    )
    return WithNames(tf.Swinv2ForImageClassification(config), image(64), "logits")


def vit() -> WithNames:
    config = tf.ViTConfig(
        image_size=64,
        patch_size=16,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        num_labels=10,
    )
    return WithNames(tf.ViTForImageClassification(config), image(64), "logits")


def sam_decoder() -> WithNames:
    config = tf.SamConfig(
        vision_config={
            "hidden_size": 32,
            "output_channels": 32,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 128,
            "patch_size": 16,
            "num_pos_feats": 16,
            "global_attn_indexes": [0],
        },
        prompt_encoder_config={"hidden_size": 32, "image_size": 128, "patch_size": 16},
        mask_decoder_config={
            "hidden_size": 32,
            "mlp_dim": 64,
            "num_attention_heads": 4,
            "iou_head_hidden_dim": 32,
        },
    )
    inputs = {
        "image_embeddings": torch.rand(1, 32, 8, 8),
        "input_points": torch.rand(1, 1, 2, 2) * 128,
        "input_labels": torch.tensor([[[1, 0]]]),
    }
    return WithNames(tf.SamModel(config), inputs, "pred_masks iou_scores")


def whisper() -> WithNames:
    config = tf.WhisperConfig(
        **_transformer(),
        vocab_size=100,
        num_mel_bins=16,
        max_source_positions=50,
        max_target_positions=32,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        attn_implementation="eager",
    )
    inputs = {
        "input_features": torch.rand(1, 16, 100),
        "decoder_input_ids": torch.randint(3, 100, (1, 8)),
        "decoder_attention_mask": torch.ones(1, 8, dtype=torch.int64),
    }
    model = tf.WhisperForConditionalGeneration(config)
    return WithNames(model, inputs, "logits", use_cache=False)


def vits() -> WithNames:
    config = tf.VitsConfig(
        hidden_size=32,
        num_hidden_layers=1,
        ffn_dim=64,
        flow_size=32,
        spectrogram_bins=33,
        upsample_initial_channel=32,
        upsample_rates=[4, 4],
        upsample_kernel_sizes=[8, 8],
        resblock_kernel_sizes=[3],
        resblock_dilation_sizes=[[1, 3]],
        duration_predictor_filter_channels=32,
        prior_encoder_num_flows=2,
        prior_encoder_num_wavenet_layers=2,
        posterior_encoder_num_wavenet_layers=2,
    )
    return WithNames(tf.VitsModel(config), tokens(12, 38), "waveform")


def deberta() -> WithNames:
    config = tf.DebertaV2Config(
        vocab_size=100,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=64,
        relative_attention=True,
        position_buckets=16,
        pos_att_type="p2c|c2p",
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        position_biased_input=False,
        num_labels=3,
    )
    inputs = tokens(16) | {"attention_mask": torch.ones(1, 16, dtype=torch.int64)}
    return WithNames(tf.DebertaV2ForSequenceClassification(config), inputs, "logits")


def mamba() -> WithNames:
    config = tf.MambaConfig(
        vocab_size=100,
        hidden_size=32,
        state_size=8,
        num_hidden_layers=2,
        use_associative_scan=False,
    )
    return WithNames(tf.MambaForCausalLM(config), tokens(8), "logits", use_cache=False)


def superpoint() -> WithNames:
    config = tf.SuperPointConfig(
        encoder_hidden_sizes=[16, 16, 32, 32], decoder_hidden_size=32, descriptor_decoder_dim=32
    )
    return WithNames(
        tf.SuperPointForKeypointDetection(config), image(64), "keypoints scores descriptors mask"
    )


def _convolutions(*widths: int, stride: int = 1) -> nn.Sequential:
    """Return convolutions of 3x3 with these widths, the first with the stride."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Conv2d(inputs, outputs, 3, stride if not layers else 1, 1), nn.ReLU()]
    return nn.Sequential(*layers)


class Raft(nn.Module):
    """Estimates the optical flow as RAFT does.

    All pairs of features are correlated, in a pyramid. A recurrent unit updates the flow from the
    correlations around it, which GridSample reads.
    """

    def __init__(self, width: int = 32, radius: int = 2, levels: int = 3, updates: int = 2) -> None:
        super().__init__()
        self.radius, self.levels, self.updates = radius, levels, updates
        count = levels * (2 * radius + 1) ** 2
        self.features = nn.Sequential(
            *(_convolutions(*widths, stride=2) for widths in ((3, 16), (16, 24), (24, width)))
        )
        self.context = nn.Sequential(
            *(_convolutions(*widths, stride=2) for widths in ((3, 16), (16, 24), (24, 2 * width)))
        )
        self.motion = _convolutions(count + 2, width)
        self.gates = nn.Conv2d(3 * width, 2 * width, 3, padding=1)
        self.candidate = nn.Conv2d(3 * width, width, 3, padding=1)
        self.flow = nn.Sequential(_convolutions(width, width), nn.Conv2d(width, 2, 3, padding=1))
        self.mask = nn.Sequential(_convolutions(width, width), nn.Conv2d(width, 9 * 64, 1))

    def _correlations(self, pyramid: list[Tensor], places: Tensor) -> Tensor:
        """Return the correlations around places, [1, count, height, width]."""
        _, _, height, width = places.shape
        steps = torch.arange(-self.radius, self.radius + 1, dtype=places.dtype)
        around = torch.stack(torch.meshgrid(steps, steps, indexing="ij"), -1)[None]
        centers = places.permute(0, 2, 3, 1).reshape(height * width, 1, 1, 2)
        found = []
        for level, pairs in enumerate(pyramid):
            size = torch.tensor([pairs.shape[-1] - 1, pairs.shape[-2] - 1], dtype=places.dtype)
            grid = (centers / 2**level + around) * 2 / size - 1
            sampled = nn.functional.grid_sample(pairs, grid, align_corners=True)
            found.append(sampled.reshape(1, height, width, -1))
        return torch.cat(found, -1).permute(0, 3, 1, 2)

    def _upsampled(self, flow: Tensor, mask: Tensor) -> Tensor:
        """Return the flow in 8 times the size, convex combinations of its neighbors."""
        _, _, height, width = flow.shape
        weights = mask.reshape(1, 1, 9, 8, 8, height, width).softmax(2)
        neighbors = nn.functional.unfold(8 * flow, 3, padding=1)
        combined = (weights * neighbors.reshape(1, 2, 9, 1, 1, height, width)).sum(2)
        return combined.permute(0, 1, 4, 2, 5, 3).reshape(1, 2, 8 * height, 8 * width)

    def forward(self, image1: Tensor, image2: Tensor) -> dict[str, Tensor]:
        """Return the flow [1, 2, height, width] from one image to the other."""
        first, second = self.features(image1), self.features(image2)
        _, channels, height, width = first.shape
        pairs = first.flatten(2).transpose(1, 2) @ second.flatten(2) / channels**0.5
        pyramid = [pairs.reshape(height * width, 1, height, width)]
        for _ in range(self.levels - 1):
            pyramid.append(nn.functional.avg_pool2d(pyramid[-1], 2))
        hidden, context = self.context(image1).chunk(2, 1)
        hidden = hidden.tanh()
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        start = torch.stack([columns, rows])[None].to(first.dtype)
        places = start
        for _ in range(self.updates):
            flow = places - start
            motion = self.motion(torch.cat([self._correlations(pyramid, places), flow], 1))
            seen = torch.cat([context, motion], 1)
            update, reset = self.gates(torch.cat([hidden, seen], 1)).sigmoid().chunk(2, 1)
            candidate = self.candidate(torch.cat([reset * hidden, seen], 1)).tanh()
            hidden = (1 - update) * hidden + update * candidate
            places = places + self.flow(hidden)
        return {"flow": self._upsampled(places - start, self.mask(hidden))}


def raft() -> WithNames:
    images = {name: torch.rand(1, 3, 64, 64) * 2 - 1 for name in ("image1", "image2")}
    return WithNames(Raft(), images, "flow")


ARCHITECTURES: dict[str, Callable[[], WithNames]] = {
    make.__name__: make
    for make in (
        rt_detr,
        deformable_detr,
        mask2former,
        grounding_dino,
        d_fine,
        swinv2,
        vit,
        sam_decoder,
        whisper,
        vits,
        deberta,
        mamba,
        superpoint,
        raft,
    )
}


def main() -> None:
    """Export the model of the command line, or print the names of all."""
    if len(sys.argv) == 1:
        print(*ARCHITECTURES)
        return
    name, exporter, file = sys.argv[1:]
    warnings.simplefilter("ignore")
    os.environ["TRANSFORMERS_DISABLE_TORCH_CHECK"] = "1"  # the newer exporter cannot write them
    torch.manual_seed(0)
    model = ARCHITECTURES[name]()
    torch.onnx.export(
        model.eval(),
        tuple(model.inputs.values()),
        file,
        dynamo=exporter == "dynamo",
        opset_version=18,
        input_names=list(model.inputs),
        output_names=model.outputs,
        external_data=False,
    )


if __name__ == "__main__":
    main()
