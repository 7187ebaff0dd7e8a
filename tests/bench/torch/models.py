"""The three training steps that the PyTorch benchmarks time, and that must run without a report."""

import torch
from torch import nn


def mlp():
    """8 blocks of Linear, GELU, LayerNorm, of width 256; a batch of 64: many small kernels."""
    width, batch = 256, 64
    blocks = [nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width)) for _ in range(8)]
    return nn.Sequential(*blocks), lambda: torch.randn(batch, width, device="cuda")


class Block(nn.Module):
    """The basic block of a residual network (He et al., 2016)."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        y = self.relu(self.first_norm(self.first(x)))
        return self.relu(self.second_norm(self.second(y)) + self.shortcut(x))


def resnet18():
    """ResNet-18 on 32 images of 224 x 224."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
    layers += [nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
        inputs = outputs
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)]
    return nn.Sequential(*layers), lambda: torch.randn(32, 3, 224, 224, device="cuda")


def transformer():
    """6 encoder layers of width 512 with 8 heads, on 16 sequences of 256."""
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.1, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
    return encoder, lambda: torch.randn(16, 256, 512, device="cuda")


MODELS = {"mlp": mlp, "resnet18": resnet18, "transformer": transformer}


def training_step(name):
    """A function that makes one step: forward, loss, backward, optimizer."""
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    data = inputs()

    def step():
        optimizer.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()

    return step
