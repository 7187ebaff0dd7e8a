// verdict: none
// Memory that is used, freed, and allocated again, as it should be.
#include "program.h"

int main()
{
    for (int i = 0; i < 4; i++) {
        int *p = device_array<int>();
        launch_fill(0, p);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaFree(p));
    }
    return finish();
}
