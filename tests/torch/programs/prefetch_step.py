"""Three training steps that take their input from a side stream, in order: copies that do not
block, events both ways, record_stream, views, in-place updates, the backward pass. No matrix
multiplication, so that it also runs on csan's embedded device."""

import torch

torch.manual_seed(1)
width, batch = 64, 16
scales = [torch.ones(width, device="cuda", requires_grad=True) for _ in range(3)]
shifts = [torch.zeros(width, device="cuda", requires_grad=True) for _ in range(3)]
side = torch.cuda.Stream()
host = torch.randn(3, batch, width)


def model(x):
    for scale, shift in zip(scales, shifts):
        x = torch.nn.functional.gelu(x * scale + shift)
        x = torch.nn.functional.layer_norm(x, (width,))
    return x


for step in range(3):
    with torch.cuda.stream(side):
        inputs = host[step].to("cuda", non_blocking=True)
        inputs[: batch // 2].mul_(2)
        ready = side.record_event()
    torch.cuda.current_stream().wait_event(ready)
    inputs.record_stream(torch.cuda.current_stream())
    loss = model(inputs).square().mean()
    loss.backward()
    with torch.no_grad():
        for parameter in scales + shifts:
            parameter -= 0.1 * parameter.grad
            parameter.grad = None
    side.wait_stream(torch.cuda.current_stream())
torch.cuda.synchronize()
