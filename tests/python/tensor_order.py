"""A tensor of a GPU that PyTorch's multiprocessing shares with a child, which reads it.

  tensor_order.py right     written before it was sent: PyTorch makes the reader wait
  tensor_order.py behind    written again when it was sent
  tensor_order.py answered  written again when the child says that it has read
  tensor_order.py stream    written in a stream for which nothing waits
"""

import sys

import torch
import torch.multiprocessing as multiprocessing


def read(tensors, answers):
    shared = tensors.get()
    total = shared.clone()
    torch.cuda.synchronize()
    answers.put("read")
    del shared, total
    tensors.get()  # the parent keeps its tensor until then


def write(mode):
    context = multiprocessing.get_context("spawn")
    tensors, answers = context.SimpleQueue(), context.SimpleQueue()  # which send at once
    child = context.Process(target=read, args=(tensors, answers))
    child.start()
    tensor, stream = torch.zeros(1024, device="cuda"), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream if mode == "stream" else torch.cuda.current_stream()):
        tensor.fill_(1)
    tensors.put(tensor)
    if mode == "behind":
        tensor.fill_(2)
    answers.get()
    if mode == "answered":
        tensor.fill_(2)
    torch.cuda.synchronize()
    tensors.put(None)
    child.join()
    print("right" if child.exitcode == 0 else "wrong")


if __name__ == "__main__":
    write(sys.argv[1])
