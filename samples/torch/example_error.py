# The example of PyTorch's CUDA Stream Sanitizer: a second stream writes a tensor that the default
# stream may still be filling.
import torch

a = torch.rand(4, 2, device="cuda")  # previous, allocation

with torch.cuda.stream(torch.cuda.Stream()):
    torch.mul(a, 5, out=a)  # current
