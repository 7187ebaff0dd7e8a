// verdict: none
// libraries: cublasLt
// A matrix gets fewer rows in the descriptor that it had: the product no longer writes what is set.
#include "blas_descriptors.h"

int main()
{
    products_of_rows(SIDE, PART);
    return finish();
}
