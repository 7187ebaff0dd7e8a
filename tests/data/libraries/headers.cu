// library.table's signatures and csan's numbers, against the headers of the libraries. Compiled
// only: what differs is an error that names it.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cufft.h>
#include <cufftXt.h>
#if __has_include(<cusolverDn.h>)
#include <cusolverDn.h>
#endif
#if __has_include(<curand.h>)
#include <curand.h>
#endif
#if __has_include(<cusparse.h>)
#include <cusparse.h>
#endif
#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
#endif
#if __has_include(<nvJitLink.h>)
#include <nvJitLink.h>
#endif
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif

#include <type_traits>

// A parameter as the table has it: p a pointer, 4 or 8 the bytes of a number, f a float, d a
// double; ? anything else.
template <typename T> constexpr char parameter()
{
    if (std::is_pointer<T>::value)
        return 'p';
    if (std::is_same<T, float>::value)
        return 'f';
    if (std::is_same<T, double>::value)
        return 'd';
    if (!std::is_integral<T>::value && !std::is_enum<T>::value)
        return '?';
    return sizeof(T) == 4 || sizeof(T) == 1 ? '4' : sizeof(T) == 8 ? '8' : '?';
}

template <typename Result, typename... Parameters>
constexpr bool is_signature(Result (*)(Parameters...), const char *expected)
{
    const char found[] = {parameter<Parameters>()..., '\0'};
    for (int i = 0;; i++) {
        if (found[i] != expected[i])
            return false;
        if (!found[i])
            return std::is_enum<Result>::value;
    }
}

#define SIGNATURE(function, expected)                                                              \
    static_assert(is_signature(&function, expected), #function " has other parameters");
#include "library_signatures.inc"

// Numbers in blas.c.
static_assert(CUBLAS_OP_N == 0 && CUBLAS_SIDE_LEFT == 0 && CUBLAS_DIAG_UNIT == 1, "");
static_assert(CUBLAS_POINTER_MODE_DEVICE == 1 && CUBLAS_STATUS_SUCCESS == 0, "");
static_assert(CUDA_R_32F == 0 && CUDA_C_32F == 4 && CUDA_R_64F == 1 && CUDA_C_64F == 5, "");
static_assert(CUDA_R_16F == 2 && CUDA_C_16F == 6 && CUDA_R_16BF == 14 && CUDA_C_16BF == 15, "");
static_assert(CUDA_R_8I == 3 && CUDA_C_8I == 7 && CUDA_R_8U == 8 && CUDA_C_8U == 9, "");
static_assert(CUDA_R_32I == 10 && CUDA_C_32I == 11 && CUDA_R_32U == 12 && CUDA_C_32U == 13, "");
static_assert(CUDA_R_16I == 20 && CUDA_C_16I == 21 && CUDA_R_16U == 22 && CUDA_C_16U == 23, "");
static_assert(CUDA_R_64I == 24 && CUDA_C_64I == 25 && CUDA_R_64U == 26 && CUDA_C_64U == 27, "");
static_assert(CUDA_R_8F_E4M3 == 28 && CUDA_R_8F_E5M2 == 29, "");
static_assert(CUBLAS_COMPUTE_16F == 64 && CUBLAS_COMPUTE_16F_PEDANTIC == 65, "");
static_assert(CUBLAS_COMPUTE_64F == 70 && CUBLAS_COMPUTE_64F_PEDANTIC == 71, "");
static_assert(CUBLAS_COMPUTE_32I == 72 && CUBLAS_COMPUTE_32I_PEDANTIC == 73, "");
// In lt.c.
static_assert(CUBLASLT_MATRIX_LAYOUT_TYPE == 0 && CUBLASLT_MATRIX_LAYOUT_ORDER == 1 &&
                  CUBLASLT_MATRIX_LAYOUT_ROWS == 2 && CUBLASLT_MATRIX_LAYOUT_COLS == 3 &&
                  CUBLASLT_MATRIX_LAYOUT_LD == 4 && CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT == 5 &&
                  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET == 6 &&
                  CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET == 7,
              "");
static_assert(CUBLASLT_ORDER_COL == 0 && CUBLASLT_ORDER_ROW == 1, "");
static_assert(CUBLASLT_MATMUL_DESC_SCALE_TYPE == 1 && CUBLASLT_MATMUL_DESC_POINTER_MODE == 2 &&
                  CUBLASLT_MATMUL_DESC_EPILOGUE == 7 && CUBLASLT_MATMUL_DESC_BIAS_POINTER == 8 &&
                  CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE == 10 &&
                  CUBLASLT_MATMUL_DESC_A_SCALE_POINTER == 17 &&
                  CUBLASLT_MATMUL_DESC_D_SCALE_POINTER == 20 &&
                  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE == 26,
              "");
#if CUBLAS_VER_MAJOR >= 13
static_assert(CUBLASLT_MATRIX_LAYOUT_BATCH_MODE == 8 && CUBLASLT_MATMUL_DESC_A_SCALE_MODE == 31 &&
                  CUBLASLT_MATMUL_DESC_D_SCALE_MODE == 34,
              "");
#endif
static_assert(CUBLASLT_POINTER_MODE_DEVICE == 1 && CUBLASLT_POINTER_MODE_DEVICE_VECTOR == 2 &&
                  CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO == 3 &&
                  CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST == 4,
              "");
static_assert(CUBLASLT_EPILOGUE_BIAS == 4 && CUBLASLT_EPILOGUE_DGELU_BGRAD == (64 | 128 | 16) &&
                  CUBLASLT_EPILOGUE_GELU_AUX == (32 | 128) && CUBLASLT_EPILOGUE_BGRADA == 256 &&
                  CUBLASLT_EPILOGUE_BGRADB == 512,
              "");
// In fft.c.
static_assert(CUFFT_R2C == 0x2a && CUFFT_C2R == 0x2c && CUFFT_C2C == 0x29 && CUFFT_D2Z == 0x6a &&
                  CUFFT_Z2D == 0x6c && CUFFT_Z2Z == 0x69 && CUFFT_SUCCESS == 0,
              "");
#if __has_include(<nccl.h>)
// In communicator.c and collective.c.
static_assert(ncclInt8 == 0 && ncclUint8 == 1 && ncclInt32 == 2 && ncclUint32 == 3 &&
                  ncclInt64 == 4 && ncclUint64 == 5 && ncclFloat16 == 6 && ncclFloat32 == 7 &&
                  ncclFloat64 == 8 && ncclBfloat16 == 9 && ncclFloat8e4m3 == 10 &&
                  ncclFloat8e5m2 == 11,
              "");
static_assert(ncclSuccess == 0 && ncclInProgress == 7, "");
#endif
