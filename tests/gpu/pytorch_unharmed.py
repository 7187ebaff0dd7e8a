"""A PyTorch program with a side stream, an allocator under pressure, a backward pass and its own profiler:
under csan it must print what it prints without."""
import torch
from torch.profiler import ProfilerActivity, profile

torch.manual_seed(1)
device = torch.device("cuda")
model = torch.nn.Sequential(
    torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.LayerNorm(256), torch.nn.Linear(256, 8)
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data = torch.randn(64, 256, device=device)
target = torch.randint(0, 8, (64,), device=device)
side = torch.cuda.Stream()
for step in range(20):
    optimizer.zero_grad()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        noise = torch.zeros_like(data).add_(0.001)
    torch.cuda.current_stream().wait_stream(side)
    noise.record_stream(torch.cuda.current_stream())
    loss = torch.nn.functional.cross_entropy(model(data + noise), target)
    loss.backward()
    optimizer.step()
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CUDA]) as profiled:
    model(data)
    torch.cuda.synchronize()
on_device = torch.autograd.DeviceType.CUDA
print("kernels profiled:", sum(event.device_type == on_device for event in profiled.events()))
print(f"loss {loss.item():.4f}")
