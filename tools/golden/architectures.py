"""Architectures at small sizes with random weights: what tools/golden/exported_table.py exports, checks and times.

Most are those of the package `transformers`; those that it does not have are written here. Every architecture is a function
without arguments that returns an Architecture: its module, example inputs for the export, and inputs of other sizes for the check.
"""

import dataclasses

import torch
import transformers
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass
class Architecture:
    name: str
    source: str  # where the module comes from
    module: nn.Module
    example: dict  # inputs of the export
    inputs: dict  # inputs of the check, of another batch size
    dynamic: dict = dataclasses.field(default_factory=dict)  # as export_model takes it


def images(batch, channels=3, side=32):
    return {"pixel_values": torch.randn(batch, channels, side, side)}


def words(batch, length, vocabulary=96, name="input_ids"):
    return {name: torch.randint(1, vocabulary, (batch, length))}


def word_pairs(batch, first, second):
    return {**words(batch, first), **words(batch, second, name="decoder_input_ids")}


def mask(batch, length, name="attention_mask"):
    """The last word of every second row is padding."""
    value = torch.ones(batch, length, dtype=torch.long)
    value[::2, -1] = 0
    return {name: value}


def from_transformers(name, model, config, example, inputs, dynamic=None):
    module = getattr(transformers, model)(config)
    return Architecture(name, "transformers." + model, module, example, inputs, dynamic or {})


# ---- images


def resnet():
    config = transformers.ResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 48, 64], depths=[2, 2, 2, 2], layer_type="basic", num_labels=10)
    return from_transformers("ResNet-18", "ResNetForImageClassification", config, images(4), images(6))


def convnext():
    config = transformers.ConvNextConfig(hidden_sizes=[16, 24, 32, 48], depths=[1, 1, 2, 1], num_labels=10, drop_path_rate=0.1, image_size=32)
    return from_transformers("ConvNeXt", "ConvNextForImageClassification", config, images(4), images(6))


def mobilenet():
    config = transformers.MobileNetV2Config(depth_multiplier=0.35, image_size=32, num_labels=10)
    return from_transformers("MobileNetV2", "MobileNetV2ForImageClassification", config, images(4), images(6))


def efficientnet():
    config = transformers.EfficientNetConfig(
        image_size=32, width_coefficient=0.25, depth_coefficient=0.35, hidden_dim=320, num_labels=10, num_block_repeats=[1, 1, 1, 1, 1, 1, 1])
    return from_transformers("EfficientNet", "EfficientNetForImageClassification", config, images(4), images(6))


def vit():
    config = transformers.ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8, num_labels=10,
        hidden_dropout_prob=0.1)
    return from_transformers("ViT", "ViTForImageClassification", config, images(4), images(6))


def swin():
    config = transformers.SwinConfig(
        image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4, num_labels=10, drop_path_rate=0.1)
    return from_transformers("Swin", "SwinForImageClassification", config, images(4), images(6))


def vit_mae():
    config = transformers.ViTMAEConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, decoder_hidden_size=24, decoder_num_hidden_layers=1,
        decoder_num_attention_heads=4, decoder_intermediate_size=48, image_size=32, patch_size=8)

    def with_noise(batch):
        return {**images(batch), "noise": torch.rand(batch, 16)}

    return from_transformers("ViT-MAE (autoencoder)", "ViTMAEForPreTraining", config, with_noise(4), with_noise(6))


def regnet():
    config = transformers.RegNetConfig(embedding_size=16, hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 2, 1], groups_width=8, num_labels=10)
    return from_transformers("RegNet", "RegNetForImageClassification", config, images(4), images(6))


def segformer():
    config = transformers.SegformerConfig(
        hidden_sizes=[16, 24, 32, 48], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=32, num_labels=5)
    return from_transformers("SegFormer", "SegformerForSemanticSegmentation", config, images(4), images(6))


class MixerBlock(nn.Module):

    def __init__(self, tokens, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.across = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.within = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.across(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.within(self.norm2(x))


class Mixer(nn.Module):

    def __init__(self, side=32, patch=8, width=32, blocks=3, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, width, patch, stride=patch)
        self.blocks = nn.Sequential(*(MixerBlock((side // patch)**2, width) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, pixel_values):
        x = self.stem(pixel_values).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.blocks(x)).mean(1))


def mixer():
    return Architecture("MLP-Mixer", "own", Mixer(), images(4), images(6))


class UNet(nn.Module):
    """Also uses group norm, transposed convolution and interpolation, at sizes that vary."""

    def __init__(self, width=8, classes=3):
        super().__init__()

        def block(inputs, outputs):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.SiLU(), nn.Dropout2d(0.1))

        self.down1, self.down2, self.bottom = block(3, width), block(width, 2 * width), block(2 * width, 4 * width)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.merge2, self.merge1 = block(4 * width, 2 * width), block(3 * width, width)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, pixel_values):
        first = self.down1(pixel_values)
        second = self.down2(F.max_pool2d(first, 2))
        bottom = self.bottom(F.max_pool2d(second, 2))
        second = self.merge2(torch.cat([second, self.up2(bottom)], 1))
        first = self.merge1(torch.cat([first, F.interpolate(second, scale_factor=2, mode="bilinear", align_corners=False)], 1))
        return self.head(first)


def unet():
    return Architecture("U-Net", "own", UNet(), images(4, side=16), images(3, side=16))


# ---- text


def gpt2():
    config = transformers.GPT2Config(n_layer=2, n_head=4, n_embd=32, vocab_size=96, n_positions=32, use_cache=False, bos_token_id=0, eos_token_id=0)
    return from_transformers(
        "GPT-2 (tied weights)", "GPT2LMHeadModel", config, {**words(4, 12), **mask(4, 12)}, {**words(3, 15), **mask(3, 15)},
        {"input_ids": [0, 1], "attention_mask": [0, 1]})


def llama():
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=96,
        max_position_embeddings=64, use_cache=False)
    return from_transformers("Llama", "LlamaForCausalLM", config, words(4, 12), words(3, 15), {"input_ids": [0, 1]})


def bert():
    config = transformers.BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=96, max_position_embeddings=32)
    return from_transformers(
        "BERT", "BertForMaskedLM", config, {**words(4, 12), **mask(4, 12)}, {**words(3, 15), **mask(3, 15)},
        {"input_ids": [0, 1], "attention_mask": [0, 1]})


def t5():
    config = transformers.T5Config(
        d_model=32, d_kv=8, d_ff=64, num_layers=2, num_decoder_layers=2, num_heads=4, vocab_size=96, use_cache=False, decoder_start_token_id=0)
    return from_transformers(
        "T5 (encoder and decoder)", "T5ForConditionalGeneration", config, word_pairs(4, 12, 9), word_pairs(3, 15, 7),
        {"input_ids": [0, 1], "decoder_input_ids": [0, 1]})


def bart():
    config = transformers.BartConfig(
        d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
        decoder_ffn_dim=64, vocab_size=96, max_position_embeddings=32, use_cache=False)
    return from_transformers(
        "BART (encoder and decoder)", "BartForConditionalGeneration", config, word_pairs(4, 12, 9), word_pairs(3, 15, 7),
        {"input_ids": [0, 1], "decoder_input_ids": [0, 1]})


def albert():
    config = transformers.AlbertConfig(
        embedding_size=16, hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64, vocab_size=96,
        max_position_embeddings=32)
    return from_transformers(
        "ALBERT (one block, three times)", "AlbertForMaskedLM", config, {**words(4, 12), **mask(4, 12)}, {**words(3, 15), **mask(3, 15)},
        {"input_ids": [0, 1], "attention_mask": [0, 1]})


def patch_mixer():
    config = transformers.PatchTSMixerConfig(
        context_length=32, patch_length=8, patch_stride=8, num_input_channels=3, d_model=16, num_layers=2, prediction_length=8)

    def series(batch):
        return {"past_values": torch.randn(batch, 32, 3)}

    return from_transformers("PatchTSMixer (time series)", "PatchTSMixerForPrediction", config, series(4), series(6))


def mamba():
    config = transformers.MambaConfig(
        hidden_size=32, state_size=4, num_hidden_layers=2, vocab_size=96, intermediate_size=64, time_step_rank=4, use_cache=False)
    return from_transformers("Mamba", "MambaForCausalLM", config, words(4, 8), words(3, 8))


def mixtral():
    config = transformers.MixtralConfig(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=96,
        num_local_experts=4, num_experts_per_tok=2, max_position_embeddings=64, use_cache=False, experts_implementation="batched_mm")
    return from_transformers("Mixtral (mixture of experts)", "MixtralForCausalLM", config, words(4, 12), words(3, 15), {"input_ids": [0, 1]})


class Recurrent(nn.Module):
    """Both kinds of recurrent layers; several outputs."""

    def __init__(self, vocabulary=96, width=24):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, bidirectional=True, batch_first=True, dropout=0.1)
        self.gru = nn.GRU(2 * width, width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, input_ids):
        x, (_, cell) = self.lstm(self.words(input_ids))
        x, last = self.gru(x)
        return {"logits": self.head(x), "last": last, "cell": cell}


def recurrent():
    return Architecture("LSTM and GRU", "own", Recurrent(), words(4, 10), words(3, 10))


# ---- sets and graphs


class GraphNet(nn.Module):
    """Messages along edges, of any number of nodes and edges."""

    def __init__(self, inputs=6, width=24, rounds=3, outputs=4):
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.messages = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(rounds))
        self.updates = nn.ModuleList(nn.GRUCell(width, width) for _ in range(rounds))
        self.head = nn.Linear(width, outputs)

    def forward(self, nodes, edges):
        source, target = edges[0], edges[1]
        x = torch.relu(self.stem(nodes))
        degree = torch.zeros(x.shape[0], device=x.device).index_add(0, target, torch.ones_like(target, dtype=x.dtype)).clamp(min=1)
        for message, update in zip(self.messages, self.updates):
            sent = torch.relu(message(torch.cat([x[source], x[target]], 1)))
            mean = torch.zeros_like(x).index_add(0, target, sent) / degree[:, None]
            x = update(mean, x)
        return self.head(x)


def graph_net():

    def graph(nodes, edges):
        return {"nodes": torch.randn(nodes, 6), "edges": torch.randint(nodes, (2, edges))}

    return Architecture("graph network", "own", GraphNet(), graph(12, 30), graph(17, 41), {"nodes": [0], "edges": [1]})


class PointNet(nn.Module):

    def __init__(self, width=24, classes=5):
        super().__init__()
        self.points = nn.Sequential(nn.Conv1d(3, width, 1), nn.BatchNorm1d(width), nn.ReLU(), nn.Conv1d(width, 2 * width, 1),
                                    nn.BatchNorm1d(2 * width), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, classes))

    def forward(self, points):
        return self.head(self.points(points).amax(2))


def point_net():
    return Architecture("PointNet", "own", PointNet(), {"points": torch.randn(4, 3, 20)}, {"points": torch.randn(6, 3, 31)}, {"points": [0, 2]})


ALL = [
    resnet, convnext, mobilenet, efficientnet, regnet, vit, swin, segformer, vit_mae, mixer, unet, gpt2, llama, bert, albert, t5, bart, mamba,
    mixtral, patch_mixer, recurrent, graph_net, point_net
]
