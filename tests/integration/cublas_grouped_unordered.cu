// verdict: race
// libraries: cublas
// expect: cublasSgemmGroupedBatched
// expect: Overlap: 16 bytes
// reject: Overlap: 4 bytes
// The same without the event: what lies between columns is no part of the race.
#define ORDERED 0
#include "cublas_grouped_reader.h"
