// verdict: race
// libraries: cublasLt
// A matrix gets more rows in the descriptor that it had: the product then writes what is set.
#include "blas_descriptors.h"

int main()
{
    products_of_rows(PART, SIDE);
    return finish();
}
