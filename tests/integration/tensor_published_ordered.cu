// verdict: none
// gpu: any
// flags: -arch=sm_90
// cuda: 13
// Who loads by the map waits for the stream that copies it.
#include "tensor_published.h"

int main()
{
    return publish_and_load(true);
}
