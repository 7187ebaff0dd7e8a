"""Three training steps of a small MLP: eight layers of Linear, GELU and LayerNorm. Needs a GPU."""

import torch

torch.manual_seed(1)
width, batch = 256, 64
layers = []
for _ in range(8):
    layers += [torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.LayerNorm(width)]
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    inputs = torch.randn(batch, width).cuda(non_blocking=True)
    optimizer.zero_grad()
    model(inputs).square().mean().backward()
    optimizer.step()
torch.cuda.synchronize()
