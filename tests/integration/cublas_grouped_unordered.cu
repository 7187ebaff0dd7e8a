// verdict: race
// gpu: any
// libraries: cublas
// expect: cublasSgemmGroupedBatched
// expect: Overlap: 16 bytes
// reject: Overlap: 4 bytes
// The same without the event: what lies between columns is no part of the race. On a GPU nothing
// says what NVIDIA's kernels touch here.
#define ORDERED 0
#include "cublas_grouped_reader.h"
