"""The steps that the PyTorch benchmarks time, and that must run without a report; on the CPU where there
is no GPU."""

import contextlib
import itertools

import torch
from torch import nn
from torch.nn import attention
from torch.utils import data as utils_data

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def synchronize():
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def device_name():
    return torch.cuda.get_device_name() if DEVICE.type == "cuda" else "the CPU"


def training(model, shape, context=contextlib.nullcontext):
    """A function that makes one step: forward within the context, loss, backward, optimizer."""
    model = model.to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    data = torch.randn(shape, device=DEVICE)

    def step():
        optimizer.zero_grad()
        with context():
            loss = model(data).square().mean()
        loss.backward()
        optimizer.step()

    return step


def from_loader(model, shape):
    """A function that makes one step with a batch of a DataLoader: two workers, pinned memory, copies that do not wait.
    The loss is asked for, as training loops do."""
    model = model.to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    samples = utils_data.TensorDataset(torch.randn(shape[0] * 8, *shape[1:]))
    loader = utils_data.DataLoader(
        samples, shape[0], shuffle=True, num_workers=2, pin_memory=DEVICE.type == "cuda", persistent_workers=True
    )
    batches = itertools.chain.from_iterable(itertools.repeat(loader))

    def step():
        (batch,) = next(batches)
        optimizer.zero_grad()
        loss = model(batch.to(DEVICE, non_blocking=True)).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def blocks(activation):
    """8 blocks of Linear, an activation, LayerNorm, of width 256."""
    width = 256
    return nn.Sequential(
        *(nn.Sequential(nn.Linear(width, width), activation(), nn.LayerNorm(width)) for _ in range(8))
    )


def mlp():
    """Those blocks on a batch of 64: many small kernels."""
    return training(blocks(nn.GELU), (64, 256))


def mlp_loader():
    """The same with the batches of a loader."""
    return from_loader(blocks(nn.GELU), (64, 256))


def triton():
    """Those blocks with an activation made of Triton's kernels."""
    from fused_gelu import FusedGelu

    return training(blocks(FusedGelu), (64, 256))


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


def resnet18_layers():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
    layers += [nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def resnet18():
    """ResNet-18 on 32 images of 224 x 224."""
    return training(resnet18_layers(), (32, 3, 224, 224))


def resnet18_loader():
    """The same with the batches of a loader."""
    return from_loader(resnet18_layers(), (32, 3, 224, 224))


def encoder(dropout):
    """6 encoder layers of width 512 with 8 heads."""
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout, batch_first=True)
    return nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)


def transformer():
    """Those layers on 16 sequences of 256."""
    return training(encoder(0.1), (16, 256, 512))


def flash():
    """The same in bfloat16, with flash attention or none; without dropout, which it lacks on the CPU."""

    @contextlib.contextmanager
    def context():
        with torch.autocast(DEVICE.type, torch.bfloat16):
            with attention.sdpa_kernel(attention.SDPBackend.FLASH_ATTENTION):
                yield

    return training(encoder(0.0), (16, 256, 512), context)


def gemm():
    """Matrix products of several shapes and types; transposed, batched, with a bias, added to a matrix."""
    calls = []
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for rows, inner, columns in ((64, 256, 256), (512, 512, 2048), (1000, 333, 77), (1024, 1024, 1024)):

            def matrix(*shape, dtype=dtype):
                return torch.randn(shape, device=DEVICE).to(dtype)

            left, right, out = matrix(rows, inner), matrix(inner, columns), matrix(rows, columns)
            turned, bias = matrix(columns, inner), matrix(columns)
            calls += [
                (torch.mm, (left, right), {"out": out}),
                (torch.mm, (left, turned.t()), {}),
                (torch.addmm, (out, left, right), {"beta": 0.5, "alpha": 2}),
                (nn.functional.linear, (left, turned, bias), {}),
                (torch.bmm, (left.expand(4, -1, -1), right.expand(4, -1, -1)), {}),
            ]

    def step():
        for function, arguments, named in calls:
            function(*arguments, **named)

    return step


def fft():
    """Transforms of real and of complex data, of lengths that are powers of two and of others."""
    signals = [torch.randn(64, length, device=DEVICE) for length in (1024, 1000, 4099)]
    images = [torch.randn(8, side, side, device=DEVICE) for side in (256, 300)]

    def step():
        for signal in signals:
            torch.fft.irfft(torch.fft.rfft(signal), n=signal.shape[-1])
        for image in images:
            torch.fft.ifft2(torch.fft.fft2(image))

    return step


def gpt2():
    """A training step of HuggingFace's GPT-2 with 4 layers of width 256, on 4 sequences of 128."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(n_layer=4, n_embd=256, n_head=4, vocab_size=8192, n_positions=256)
    model = GPT2LMHeadModel(config).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 8192, (4, 128), device=DEVICE)

    def step():
        optimizer.zero_grad()
        model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()

    return step


def llama():
    """24 tokens generated by a Llama with 4 layers of width 256, one by one, from a prompt of 32."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        hidden_size=256, intermediate_size=688, num_hidden_layers=4, num_attention_heads=4, vocab_size=8192,
        max_position_embeddings=256, bos_token_id=1, eos_token_id=2, pad_token_id=0,
    )
    model = LlamaForCausalLM(config).to(DEVICE).eval()
    prompt = torch.randint(3, 8192, (2, 32), device=DEVICE)
    mask = torch.ones_like(prompt)

    def step():
        with torch.no_grad():
            model.generate(prompt, attention_mask=mask, max_new_tokens=24, min_new_tokens=24, do_sample=False)

    return step


def pointwise():
    """A training step with Adam without matrix products, which the embedded device has no library for."""
    weights = [torch.randn(256, 256, device=DEVICE, requires_grad=True) for _ in range(8)]
    optimizer = torch.optim.Adam(weights, lr=1e-3, foreach=True)
    data = torch.randn(64, 256, device=DEVICE)

    def step():
        optimizer.zero_grad()
        output = data
        for weight in weights:
            output = nn.functional.gelu(output + weight[0]) * weight[1]
        output.square().mean().backward()
        optimizer.step()

    return step


def tokens():
    """A training step of an embedding of few and of many tokens, and rows and columns that are selected and added. Without
    matrix products, as pointwise()."""
    table = nn.Embedding(1000, 64).to(DEVICE)
    optimizer = torch.optim.SGD(table.parameters(), lr=1e-3)
    few, many = torch.arange(8, device=DEVICE), torch.randint(0, 1000, (4, 128), device=DEVICE)
    rows = torch.zeros(1000, 64, device=DEVICE)

    def step():
        optimizer.zero_grad()
        (table(few).to(torch.bfloat16).square().mean() + table(many).square().mean()).backward()
        optimizer.step()
        rows.index_add_(0, few, rows.index_select(0, few))
        rows.t().index_select(1, few)

    return step


def gru():
    """A training step of a recurrent network, whose operator may work on several streams."""
    network = nn.GRU(128, 128, 2, batch_first=True).to(DEVICE)
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3)
    data = torch.randn(16, 32, 128, device=DEVICE)

    def step():
        optimizer.zero_grad()
        network(data)[0].square().mean().backward()
        optimizer.step()

    return step


MODELS = {
    "mlp": mlp,
    "mlp_loader": mlp_loader,
    "resnet18": resnet18,
    "resnet18_loader": resnet18_loader,
    "transformer": transformer,
    "triton": triton,
    "gemm": gemm,
    "fft": fft,
    "flash": flash,
    "gpt2": gpt2,
    "llama": llama,
    "gru": gru,
    "pointwise": pointwise,
    "tokens": tokens,
}


def training_step(name):
    if name not in MODELS:
        raise SystemExit(f"there is no model '{name}', only {', '.join(MODELS)}")
    torch.manual_seed(0)
    return MODELS[name]()
