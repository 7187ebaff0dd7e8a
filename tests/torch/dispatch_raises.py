"""A race in an operator, and what the program sees of it: PyTorch's exception, once."""

import torch
import torch.cuda._sanitizer

tensor = torch.zeros(1000, device="cuda")
torch.cuda.synchronize()
tensor.add_(1)
raised = 0
with torch.cuda.stream(torch.cuda.Stream()):
    for _ in range(2):
        try:
            tensor.add_(1)
        except torch.cuda._sanitizer.CUDASanitizerErrors as errors:
            raised += 1
            assert "data race" in str(errors.errors[0])
torch.cuda.synchronize()
print("raised", raised)
