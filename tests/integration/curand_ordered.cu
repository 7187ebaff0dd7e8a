// verdict: none
// libraries: curand
// gpu: any
// own-errors: yes
// The same with an event between.
#define ORDERED 1
#include "curand_reader.h"
