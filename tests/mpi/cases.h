/* Cases of the MPI tests. A case is a function that runs twice: as it should be, where csan must be
 * silent and the data right, and with one synchronization left out, where csan must report the call
 * that the case names. All ranks run it; they exchange with their partner, of which there is one
 * for each: the number of ranks is even. */
#ifndef TESTS_MPI_CASES_H
#define TESTS_MPI_CASES_H

#include "kernels.h"

#include <csan/csan.h>
#include <mpi.h>

enum { N = 512 };

struct mpi_case {
    const char *name;
    const char *call;   /* which a report must name */
    const char *detail; /* ... and a part of what it says of it; NULL: anything */
    void (*run)(int racy);
};

extern const struct mpi_case point_cases[], request_cases[], collective_cases[], type_cases[],
    mode_cases[], started_cases[], one_sided_cases[], window_cases[];

extern int rank, size, partner;

/* A stream of its own for the case. */
cudaStream_t new_stream(void);
/* Memory with that value in all elements; the device has finished. */
float *device_floats(int n, float value);
float *pinned_floats(int n, float value);
float *managed_floats(int n, float value);

/* The case is wrong unless the elements have that value. Waits for the device. */
void expect_floats(const float *p, int n, float value);
void expect(int truth, const char *what);

/* The rank takes no part in what the racy form does wrong. */
void rank_is_right(void);

#endif
