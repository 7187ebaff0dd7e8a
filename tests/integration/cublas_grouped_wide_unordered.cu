// verdict: race
// libraries: cublas
// expect: cublasSgemmGroupedBatched_64
// expect: Overlap: 16 bytes
// reject: Overlap: 4 bytes
// Sizes of 64 bits; nothing orders who writes to the first matrix of A.
#define ORDERED 0
#define WIDE    1
#include "cublas_grouped_reader.h"
