"""The networks of tools/bench/exported_loops.py; exported_nets.h has the same in C++."""

import torch
from torch import nn
from torch.nn import functional as F


class TinyMlp(nn.Module):

    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(32, 64), nn.Linear(64, 64), nn.Linear(64, 10)

    def forward(self, x):
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


class SmallConv(nn.Module):

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        self.conv2, self.bn2 = nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32)
        self.fc = nn.Linear(32 * 7 * 7, 10)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(torch.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(x.flatten(1))


class EncoderBlock(nn.Module):

    def __init__(self, width=128, heads=4):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class SmallTransformer(nn.Module):

    def __init__(self, words=256, width=128, length=64, classes=10):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.block0, self.block1, self.block2, self.block3 = (EncoderBlock(width) for _ in range(4))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, tokens):
        x = self.words(tokens) + self.places.weight[:tokens.shape[1]]
        for block in (self.block0, self.block1, self.block2, self.block3):
            x = block(x)
        return self.head(self.norm(x).mean(1))


def tiny_mlp():
    torch.manual_seed(1)
    return TinyMlp(), (torch.randn(32, 32),)


def small_conv():
    torch.manual_seed(1)
    return SmallConv(), (torch.randn(64, 1, 28, 28),)


def small_transformer():
    torch.manual_seed(1)
    return SmallTransformer(), (torch.randint(256, (16, 64)),)


ALL = {"mlp": tiny_mlp, "conv": small_conv, "transformer": small_transformer}
