// The kernels of program.h for the programs that the host's compiler compiles
// (scripts/host-programs).
#include "program.h"
