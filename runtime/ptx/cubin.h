/* Cubins: machine code for one architecture. Which kernels and variables are in it, the kernels'
 * parameters, and the code; not what that does. */
#ifndef RUNTIME_PTX_CUBIN_H
#define RUNTIME_PTX_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cubin_param {
    uint32_t offset, bytes; /* in the parameter buffer */
};

struct cubin_kernel {
    const char *name; /* points into the cubin */
    const struct cubin_param *params;
    uint32_t param_count;
    bool has_params; /* false: the cubin does not say */
};

/* The architecture it is for: 90 for sm_90; 0 when `data` is no cubin. */
uint32_t cubin_architecture(const void *data, size_t bytes);

/* Calls `visit` for each kernel in the order of the sections. -1 with `message` when the file is
 * damaged, else how many there are. */
int cubin_kernels(const void *data, size_t bytes,
                  void (*visit)(void *user, const struct cubin_kernel *kernel), void *user,
                  char *message, size_t message_bytes);

struct cubin_variable {
    const char *name; /* points into the cubin */
    uint64_t bytes;
    bool is_constant; /* __constant__, else __device__ */
};

/* The same for the variables that have a name and memory of their own. */
int cubin_variables(const void *data, size_t bytes,
                    void (*visit)(void *user, const struct cubin_variable *variable), void *user,
                    char *message, size_t message_bytes);

struct cubin_code {
    const char *name; /* points into the cubin, as does: */
    const uint8_t *instructions;
    uint64_t bytes;
    bool is_kernel;         /* else a function that kernels call */
    bool is_relocated;      /* loading changes some of it, as where it has a variable's address */
    uint32_t params_at;     /* where a kernel's parameters lie in constant bank 0 */
    uint32_t param_bytes;   /* 0: it has none, or the cubin does not say */
    const uint8_t *numbers; /* constant bank 2: what the compiler has no room for in instructions */
    uint64_t number_bytes;
    uint32_t assertfail_at; /* where in constant bank 4 a relocation puts the address of
                               __assertfail, which does not return; or CUBIN_NOWHERE */
};
enum { CUBIN_NOWHERE = UINT32_MAX };

/* The same for the code of kernels and of what they call. */
int cubin_codes(const void *data, size_t bytes,
                void (*visit)(void *user, const struct cubin_code *code), void *user, char *message,
                size_t message_bytes);

#endif
