// verdict: none
// libraries: cusolver
// The same with an event between.
#define ORDERED 1
#include "cusolver_solution.h"
