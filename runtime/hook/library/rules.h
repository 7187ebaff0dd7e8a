/* What rows of library.table say of sizes, the same for both who evaluate them: touch.h and the
 * extents of csan's own libraries on the embedded device. LIBRARY_RULES defines the functions of
 * one, PREFIX_op and so on; its header declares them. */
#ifndef RUNTIME_HOOK_LIBRARY_RULES_H
#define RUNTIME_HOOK_LIBRARY_RULES_H

/* cublasOperation_t and cublasSideMode_t; tests/data/libraries/headers.cu compares them. */
enum { OPERATION_N = 0, SIDE_LEFT = 0 };

#define LIBRARY_RULES(prefix, PREFIX)                                                              \
    enum prefix##_when prefix##_positive(const struct prefix *call, int64_t number)                \
    {                                                                                              \
        (void)call;                                                                                \
        return number > 0 ? PREFIX##_ALWAYS : PREFIX##_NEVER;                                      \
    }                                                                                              \
    enum prefix##_when prefix##_given(const struct prefix *call, uint64_t pointer)                 \
    {                                                                                              \
        (void)call;                                                                                \
        return pointer ? PREFIX##_ALWAYS : PREFIX##_NEVER;                                         \
    }                                                                                              \
    int64_t prefix##_op(const struct prefix *call, int64_t operation, int64_t plain,               \
                        int64_t transposed)                                                        \
    {                                                                                              \
        (void)call;                                                                                \
        return operation == OPERATION_N ? plain : transposed;                                      \
    }                                                                                              \
    int64_t prefix##_side(const struct prefix *call, int64_t side, int64_t left, int64_t right)    \
    {                                                                                              \
        (void)call;                                                                                \
        return side == SIDE_LEFT ? left : right;                                                   \
    }                                                                                              \
    int64_t prefix##_lesser(const struct prefix *call, int64_t one, int64_t other)                 \
    {                                                                                              \
        (void)call;                                                                                \
        return one < other ? one : other;                                                          \
    }                                                                                              \
    int64_t prefix##_singular(const struct prefix *call, int64_t job, int64_t size, int64_t other) \
    {                                                                                              \
        (void)call;                                                                                \
        return (char)job == 'A'   ? size                                                           \
               : (char)job == 'S' ? prefix##_lesser(call, size, other)                             \
                                  : 0;                                                             \
    }

#endif
