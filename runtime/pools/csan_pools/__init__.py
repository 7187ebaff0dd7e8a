"""csan for memory pools of Python's packages: CuPy, RMM, Numba and JAX.

A pool gives memory out again without a call of CUDA. csan sees the pool's whole allocations only,
and so no reuse of a block within one. Each module here follows one package by the hooks that the
package offers, and declares its blocks to csan. `csan run` switches them on; option python_pools=0
leaves the packages alone.
"""

# What to follow, by the module whose import makes it possible.
_MODULES = {
    "cupy": "cupy_pool",
    "rmm": "rmm_pool",
    "numba.cuda.cudadrv.driver": "numba_manager",
    "jaxlib.xla_client": "jax_allocator",
}


def _follow(module):
    from importlib import import_module

    from csan_torch.options import switched_off

    from .blocks import Blocks

    if switched_off("python_pools"):
        return
    blocks = Blocks.of_this_process()
    if blocks:
        import_module("." + module, __name__).follow(blocks)


def install(when_imported):
    """`when_imported(name, action)` calls the action once that module has been imported. Imports
    none of the packages."""
    for name, module in _MODULES.items():
        when_imported(name, lambda module=module: _follow(module))
