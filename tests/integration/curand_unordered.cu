// verdict: race
// libraries: curand
// gpu: any
// expect: copy .* does not wait for curandGenerate
// output: -
// own-errors: yes
// A kernel of another stream reads random numbers that may not be there yet.
#define ORDERED 0
#include "curand_reader.h"
