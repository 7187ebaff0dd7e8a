# The memory pools of CuPy, RMM and Numba's plug-ins on the embedded device. Needs a Python with those packages: python3, or
# the one that CSAN_POOLS_PYTHON names. The wheels of CuPy and JAX, and RMM's own pools, have the CUDA runtime linked
# statically, and do not start there: tests/gpu/allocators.sh runs all of them on a GPU.
tree=$(realpath "$(dirname "$test")/../..")
export PYTHON=${CSAN_POOLS_PYTHON:-python3}
if [ -z "$("$PYTHON" "$tree/tests/python/pools.py" --list)" ]; then
    echo "skipped $(basename "$test" .sh): $PYTHON has neither CuPy, RMM, Numba nor JAX (set CSAN_POOLS_PYTHON)"
    return 0
fi
CSAN_TEST_DEVICE=embedded "$tree/tests/gpu/allocators.sh" "$root" >all 2>&1
name=$(basename "$test" .sh)
sed -n "s/^not ok /not ok $name: /p; s/^ok /ok $name: /p; s/^skipped /skipped $name: /p" all
grep -vE '^(not )?ok|^skipped|^#' all | head -40
if "$PYTHON" -c 'import jaxlib.xla_client' 2>/dev/null; then
    options='from jaxlib import xla_client; print(xla_client.generate_pjrt_gpu_plugin_options()["allocator"])'
    jax() { run env "$@" "$root/bin/csan" run --device=embedded "$PYTHON" -c "$options"; }
    jax A=
    check "JAX has its memory from CUDA's pool" grep -qx cuda_async out
    jax XLA_PYTHON_CLIENT_ALLOCATOR=bfc
    check "... where the user has not chosen" grep -qx bfc out
    jax CSAN_OPTIONS=python_pools=0
    check "... and not with python_pools=0" grep -qx default out
else
    echo "skipped $name: $PYTHON has no JAX"
fi
