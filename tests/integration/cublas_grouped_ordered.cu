// verdict: none
// libraries: cublas
// A grouped product reads a matrix, and an event orders who writes to it.
#define ORDERED 1
#include "cublas_grouped_reader.h"
