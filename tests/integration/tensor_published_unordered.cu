// verdict: race
// gpu: any
// flags: -arch=sm_90
// cuda: 13
// expect: load_by.* does not wait for
// Nothing makes the load wait for the copy of its map: a copy reads the map where it lies (PTX ISA,
// "cp.async.bulk.tensor").
#include "tensor_published.h"

int main()
{
    return publish_and_load(false);
}
