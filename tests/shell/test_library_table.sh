# runtime/hook/library/library.table against the headers of the libraries, where the toolkit has them:
# functions have the parameters that their rows say, and functions that work on the device have rows.

tree=$(realpath "$(dirname "$test")/../..")
include=$cuda/include
signatures=$root/gen/library_signatures.inc

# Of a library whose header is not there, nothing is compared.
have() { [ -e "$include/$1" ]; }
cp "$signatures" .
# An id that is passed by value is no argument in the table, but the words that it has on the stack.
sed -i '/SIGNATURE(ncclCommInitRank\(Config\)\{0,1\},/d' library_signatures.inc
have nccl.h || sed -i '/SIGNATURE(nccl/d' library_signatures.inc
have cusolverDn.h || sed -i '/SIGNATURE(cusolver/d' library_signatures.inc
have curand.h || sed -i '/SIGNATURE(curand/d' library_signatures.inc
have cusparse.h || sed -i '/SIGNATURE(cusparse/d' library_signatures.inc
have nvrtc.h || sed -i '/SIGNATURE(nvrtc/d' library_signatures.inc
# The headers of nvJitLink and NCCL have the functions of their own version alone.
for name in $(grep -oE '\bnccl[A-Z][A-Za-z0-9_]+' library_signatures.inc | sort -u); do
    have nccl.h && grep -qw "$name" "$include/nccl.h" || sed -i "/SIGNATURE($name,/d" library_signatures.inc
done
for name in $(grep -oE '\b(__)?nvJitLink[A-Za-z0-9_]+' library_signatures.inc | sort -u); do
    have nvJitLink.h && grep -qw "$name" "$include/nvJitLink.h" || sed -i "/SIGNATURE($name,/d" library_signatures.inc
done

agrees() { g++ -std=c++17 -fsyntax-only -x c++ -I. -I"$include" "$tree/tests/data/libraries/headers.cu"; }
if have cublas_v2.h && have cufft.h; then
    # Without the inline functions of the same names that C++ programs get beside.
    for header in cublas_v2.h cublas_api.h; do
        sed '/^static inline/,/^}/d' "$include/$header" >$header
    done
    check "the table's functions have the parameters that the headers say" agrees
    sed -i '0,/"p/s//"4/' library_signatures.inc
    differs() { ! agrees 2>&1 | tee wrong | grep -q 'has other parameters' || return 0; return 1; }
    check "a row with another parameter is found out" differs
else
    echo "skipped: the toolkit has no headers of cuBLAS and cuFFT"
fi

# Functions that work on data of the device and have no row, and why.
cat >left_out <<'LIST'
cublas[SDCZ]gelsBatched.*   least squares, through arrays of addresses
cublas[SDCZ]?(gemm|Gemm)GroupedBatched(Ex)?.*                  groups, through arrays of addresses
cublas(HSH|HSS|TST|TSS)gemvBatched.*                           through arrays of addresses
cublas(Uint8gemmBias)                                          deprecated
cublas(Create|Destroy|Set(Stream|Workspace|PointerMode))_v2     no work
curandGenerateSeeds                                            no work on data of the program
curandGenerateBinomial(Method)?                                declared, but not in the library
cublasSet(AtomicsMode|MathMode|SmCount|Emulation|FixedPoint|Logger).*   no work
LIST
lacking_rows()
{
    local header=$1 pattern=$2
    gcc -E -P -x c "$include/$header" -I"$include" 2>/dev/null | grep -oE "\b$pattern\(" | tr -d '(' |
        sort -u | comm -23 - <(sed 's/SIGNATURE(\([^,]*\),.*/\1/' "$signatures" | sort -u) |
        grep -vE "^($(awk '{ printf "%s%s", (NR > 1 ? "|" : ""), $1 }' left_out))(_64)?$"
}
rows_complete() { lacking_rows "$@" >lacking; [ ! -s lacking ] || { cat lacking; return 1; }; }
if have cublas_v2.h; then
    check "every function of cuBLAS on data of the device has a row" rows_complete cublas_v2.h \
        'cublas([SDCZHTIU][a-z0-9]|Gemm|Cs|Zd|Sc|Dz|HS|TS|[A-Z][a-z0-9]+Ex)[A-Za-z0-9]*(_v2)?(_64)?'
fi
have cufft.h && check "every transform of cuFFT has a row" rows_complete cufft.h 'cufftExec[A-Za-z0-9]+'
have cublasLt.h && check "the product of cuBLASLt has a row" rows_complete cublasLt.h 'cublasLtMatmul'
have curand.h && check "every generation function of cuRAND has a row" rows_complete curand.h 'curandGenerate[A-Za-z0-9]+'
have nccl.h && check "every collective of NCCL has a row" rows_complete nccl.h \
    'nccl(All[A-Za-z]+|Reduce[A-Za-z]*|Broadcast|Bcast|Send|Recv|Gather|Scatter|Group(Start|End))'
