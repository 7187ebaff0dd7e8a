# Programs of PyTorch that are right: csan must find nothing in any of them, neither races nor errors.
# Those of several processes are in torch_silent_distributed.py.
#   torch_silent.py [NAME...]    prints each name, and a number that it computed; all by default
import importlib.util
import sys
import threading
import torch
import torch.nn.functional as F
from torch import nn

device = "cuda"


def train(model, batch, steps=3, loss=None):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        out = model(batch())
        (loss(out) if loss else out.float().pow(2).mean()).backward()
        optimizer.step()
    torch.cuda.synchronize()


def mlp():
    train(nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 10)).to(device),
          lambda: torch.randn(32, 64, device=device))


def conv():
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(16, 32, 3, stride=2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
    train(model.to(device), lambda: torch.randn(8, 3, 33, 33, device=device))


def lstm():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.LSTM(17, 33, num_layers=2, bidirectional=True)

        def forward(self, x):
            return self.rnn(x)[0]
    train(Net().to(device), lambda: torch.randn(11, 5, 17, device=device))


def transformer():
    layer = nn.TransformerEncoderLayer(48, 4, 96, batch_first=True)
    train(nn.TransformerEncoder(layer, 2).to(device), lambda: torch.randn(3, 19, 48, device=device))


def attention():
    q, k, v = (torch.randn(2, 4, 37, 32, device=device, dtype=torch.half, requires_grad=True) for _ in range(3))
    F.scaled_dot_product_attention(q, k, v, is_causal=True).float().sum().backward()
    torch.cuda.synchronize()


def amp():
    model = nn.Linear(65, 65).to(device)
    scaler = torch.amp.GradScaler("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(torch.randn(9, 65, device=device)).pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    torch.cuda.synchronize()


def checkpoint():
    from torch.utils.checkpoint import checkpoint as saved
    block = nn.Sequential(nn.Linear(31, 31), nn.Tanh()).to(device)
    x = torch.randn(7, 31, device=device, requires_grad=True)
    saved(block, x, use_reentrant=False).sum().backward()
    torch.cuda.synchronize()


def save_on_cpu():
    x = torch.randn(1000, device=device, requires_grad=True)
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        y = (x * x).exp().sin()
    y.sum().backward()
    torch.cuda.synchronize()


def loader():
    data = torch.utils.data.TensorDataset(torch.randn(200, 13), torch.randint(0, 5, (200,)))
    model = nn.Linear(13, 5).to(device)
    for x, y in torch.utils.data.DataLoader(data, batch_size=16, pin_memory=True, num_workers=0):
        F.cross_entropy(model(x.to(device, non_blocking=True)), y.to(device, non_blocking=True)).backward()
    torch.cuda.synchronize()


def loader_workers():
    data = torch.utils.data.TensorDataset(torch.randn(300, 13), torch.randint(0, 5, (300,)))
    batches = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True, pin_memory=True, num_workers=2,
                                          prefetch_factor=3, persistent_workers=True)
    model = nn.Linear(13, 5).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = 0
    for _ in range(2):
        for x, y in batches:
            optimizer.zero_grad()
            F.cross_entropy(model(x.to(device, non_blocking=True)), y.to(device, non_blocking=True)).backward()
            optimizer.step()
            seen += len(y)
    return seen


def prefetcher():
    side = torch.cuda.Stream()
    host = [torch.randn(64, 64).pin_memory() for _ in range(4)]
    model = nn.Linear(64, 64).to(device)
    for batch in host:
        with torch.cuda.stream(side):
            x = batch.to(device, non_blocking=True)
        torch.cuda.current_stream().wait_stream(side)
        x.record_stream(torch.cuda.current_stream())
        model(x).sum().backward()
    torch.cuda.synchronize()


def graphs():
    x = torch.zeros(33, device=device)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            y = (x * 2).relu().cumsum(0)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x * 2).relu().cumsum(0)
        z = y.sum()
    del y
    for i in range(4):
        x.fill_(i)
        graph.replay()
    assert z.item() > 0


def compiled():
    step = torch.compile(lambda a, b: (a @ b).relu().softmax(-1) + a.sum())
    for _ in range(3):
        step(torch.randn(33, 33, device=device), torch.randn(33, 33, device=device))
    torch.cuda.synchronize()


def linalg():
    a = torch.randn(5, 33, 33, device=device)
    s = a @ a.mT + 33 * torch.eye(33, device=device)
    torch.linalg.cholesky(s)
    torch.linalg.solve(s, torch.randn(5, 33, 3, device=device))
    torch.linalg.qr(a)
    torch.linalg.svd(a)
    torch.linalg.eigh(s)
    torch.linalg.inv(s)
    torch.cuda.synchronize()


def fft():
    x = torch.randn(3, 1023, device=device)
    torch.fft.irfft(torch.fft.rfft(x), n=1023)
    torch.fft.fft2(torch.randn(2, 31, 17, device=device, dtype=torch.complex64))
    torch.stft(x, 64, window=torch.hann_window(64, device=device), return_complex=True)
    torch.cuda.synchronize()


def embedding_bag():
    bag = nn.EmbeddingBag(101, 17, mode="mean", sparse=True).to(device)
    bag(torch.randint(0, 101, (40,), device=device), torch.arange(0, 40, 4, device=device)).sum().backward()
    nn.Embedding(11, 7).to(device)(torch.randint(0, 11, (5, 3), device=device)).sum().backward()
    torch.cuda.synchronize()


def indexing():
    x = torch.randn(57, 13, device=device)
    i = torch.randint(0, 57, (29,), device=device)
    x[i] += 1
    x.index_add_(0, i, torch.ones(29, 13, device=device))
    x.scatter_(0, i[:, None].expand(29, 13), 0.5)
    x.gather(1, torch.randint(0, 13, (57, 5), device=device))
    x.masked_select(x > 0)
    torch.where(x > 0)
    x.topk(3)
    x.sort()
    x.unique()
    x.histc(9)
    torch.bincount(i, minlength=57)
    torch.cuda.synchronize()


def reductions():
    x = torch.randn(101, 77, device=device)
    x.sum(), x.mean(0), x.var(1), x.argmax(), x.cumsum(1), x.logsumexp(0), x.median(), x.norm(), x.kthvalue(3)
    torch.multinomial(x.abs(), 3)
    torch.nonzero(x > 1)
    torch.cuda.synchronize()


def views():
    x = torch.randn(16, 3, 20, 20, device=device)
    y = x.permute(0, 2, 3, 1)[:, ::2, 1::3].contiguous()
    y.unfold(1, 3, 2).clone()
    torch.cat([x, x], 1).chunk(3, 1)[1].clone()
    F.interpolate(x, scale_factor=1.7, mode="bilinear")
    F.pad(x, (1, 2, 3, 4), mode="reflect")
    F.grid_sample(x, torch.rand(16, 7, 7, 2, device=device) * 2 - 1, align_corners=False)
    torch.cuda.synchronize()


def optimizers():
    for make in (lambda p: torch.optim.Adam(p, foreach=True), lambda p: torch.optim.Adam(p, fused=True),
                 lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True), torch.optim.RMSprop,
                 torch.optim.Adagrad):
        model = nn.Sequential(nn.Linear(13, 29), nn.Linear(29, 1)).to(device)
        optimizer = make(model.parameters())
        for _ in range(2):
            model(torch.randn(5, 13, device=device)).sum().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    torch.cuda.synchronize()


def losses():
    logits, labels = torch.randn(31, 7, device=device, requires_grad=True), torch.randint(0, 7, (31,), device=device)
    F.cross_entropy(logits, labels, label_smoothing=0.1).backward()
    F.kl_div(F.log_softmax(logits, 1), F.softmax(logits, 1), reduction="batchmean").backward()
    F.smooth_l1_loss(logits, torch.zeros_like(logits)).backward()
    F.ctc_loss(torch.randn(20, 3, 9, device=device).log_softmax(2), torch.randint(1, 9, (3, 5), device=device),
               torch.full((3,), 20), torch.full((3,), 5))
    torch.cuda.synchronize()


def threads():
    def work(stream):
        with torch.cuda.stream(stream):
            x = torch.randn(257, device=device)
            for _ in range(20):
                x = x * 1.01 + 1
        stream.synchronize()
    all_threads = [threading.Thread(target=work, args=(torch.cuda.Stream(),)) for _ in range(4)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()


def allocator():
    for size in (3, 1000, 12345, 1 << 20, (1 << 20) + 13):
        x = torch.empty(size, dtype=torch.uint8, device=device).fill_(1)
        y = x.clone()
        del x
        y.add_(1)
    torch.cuda.empty_cache()
    torch.zeros(777, device=device).pin_memory() if False else torch.zeros(777).pin_memory().to(device)
    torch.cuda.synchronize()


def half_types():
    for kind in (torch.float16, torch.bfloat16, torch.float64, torch.complex64):
        a, b = torch.randn(37, 41, device=device).to(kind), torch.randn(41, 29, device=device).to(kind)
        (a @ b).sum().item()
    torch.randint(-9, 9, (33, 35), device=device, dtype=torch.int8).float().matmul(torch.randn(35, 3, device=device))
    torch.cuda.synchronize()


def sparse():
    a = torch.randn(33, 33, device=device).relu().to_sparse_csr()
    a @ torch.randn(33, 5, device=device)
    torch.sparse_coo_tensor(torch.tensor([[0, 1, 1], [2, 0, 2]], device=device), torch.ones(3, device=device), (2, 3)).to_dense()
    torch.cuda.synchronize()


def random_numbers():
    torch.manual_seed(0)
    torch.randn(1001, device=device).bernoulli_(0.3)
    torch.randperm(999, device=device)
    F.dropout(torch.ones(4097, device=device), 0.5)
    torch.cuda.synchronize()


def language_model(model):
    """Trains a causal language model of the transformers package, then has it write."""
    model = model.to(device)
    tokens = torch.randint(3, 211, (3, 23), device=device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    mask = torch.ones_like(tokens[:, :7])
    for sample in (False, True):
        model.generate(tokens[:, :7], attention_mask=mask, max_new_tokens=9, do_sample=sample, pad_token_id=0)
    return losses[0]


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    return language_model(GPT2LMHeadModel(GPT2Config(
        vocab_size=211, n_positions=64, n_embd=48, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2)))


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    return language_model(LlamaForCausalLM(LlamaConfig(
        vocab_size=211, hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0)))


every = [mlp, conv, lstm, transformer, attention, amp, checkpoint, save_on_cpu, loader, loader_workers, prefetcher,
         graphs, compiled, linalg, fft, embedding_bag, indexing, reductions, views, optimizers, losses, threads,
         allocator, half_types, sparse, random_numbers, gpt2, llama]


def main():
    chosen = sys.argv[1:] or [program.__name__ for program in every]
    for program in every:
        name = program.__name__
        if name not in chosen:
            continue
        if program in (gpt2, llama) and not importlib.util.find_spec("transformers"):
            print(name, "skipped: there is no package transformers", file=sys.stderr)
            continue
        torch.manual_seed(0)
        value = program()
        print(name, "" if value is None else f"{value:.2f}", flush=True)


if __name__ == "__main__":
    main()
