// verdict: race
// libraries: cusolver
// expect: cusolverDnDgetrs .* does not wait for cusolverDnDgetrf
// output: -
// Nothing makes the solution wait for the factors.
#define ORDERED 0
#include "cusolver_solution.h"
