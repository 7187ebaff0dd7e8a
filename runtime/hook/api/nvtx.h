/* NVTX: the names that a program gives its streams, events and threads, and the ranges that it
 * opens. csan is the process's injection library of NVTX, unless a profiler is: getenv.c. */
#ifndef RUNTIME_HOOK_API_NVTX_H
#define RUNTIME_HOOK_API_NVTX_H

/* NVTX looks this function up in an injection library, and calls it before the first use of NVTX in
 * each object that has a copy of NVTX (nvtxDetail/nvtxInit.h, "NVTX_LOAD_SEQUENCE_VERSION").
 * `get_table` is its function for export tables. 1: the library is attached; 0: it is not, and NVTX
 * does nothing. Any thread. */
int InitializeInjectionNvtx2(const void *(*get_table)(unsigned table))
    __attribute__((visibility("default")));

#endif
