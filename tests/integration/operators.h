// Operators of a made-up framework, for the programs that declare them to csan.
#pragma once

#include "program.h"

static inline csan_access access_to(const void *p, int kind, uint16_t argument,
                                    size_t bytes = BYTES)
{
    csan_access access = {};
    access.base = (uintptr_t)p;
    access.bytes = bytes;
    access.kind = (uint8_t)kind;
    access.argument = argument;
    return access;
}

static const char *const names_[] = {"self" CSAN_ARGUMENT_RETURNED, "other",
                                     CSAN_ARGUMENT_RETURNED};
static const csan_operator in_place = {"demo::add_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                                       names_, 3, 2};
static const csan_operator functional = {"demo::like(Tensor self) -> Tensor", names_ + 1, 2, 1};
static const csan_operator composite = {"demo::whole(Tensor self) -> Tensor", names_ + 1, 2, 1};

struct Operator { // runs while it lives
    csan_access accesses[2];
    Operator(const csan_operator &what, int count, csan_access first = {}, csan_access second = {})
        : accesses{first, second}
    {
        csan_operator_call call = {};
        call.accesses = accesses;
        call.count = (size_t)count;
        call.composite = &what == &composite;
        csan_operator_begin(&what, &call);
    }
    ~Operator()
    {
        csan_operator_end();
    }
};

// Where it writes depends on data: csan knows no more than the allocation.
__global__ void scatter(int *p, const int *where)
{
    p[where[threadIdx.x]] = 1;
}
