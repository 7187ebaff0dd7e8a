/* Functions of MPI that this library calls and does not stand in front of (MPI 3.1). */
#ifndef RUNTIME_MPI_FUNCTIONS_H
#define RUNTIME_MPI_FUNCTIONS_H

#include "runtime/mpi/abi.h"

int MPI_Type_size(mpi_handle type, int *bytes);
int MPI_Type_get_extent(mpi_handle type, mpi_aint *low, mpi_aint *extent);
int MPI_Type_get_envelope(mpi_handle type, int *ints, int *addresses, int *types, int *combiner);
int MPI_Type_get_contents(mpi_handle type, int most_ints, int most_addresses, int most_types,
                          int *ints, mpi_aint *addresses, void *types);
int MPI_Type_get_name(mpi_handle type, char *name, int *length);
int MPI_Comm_get_name(mpi_handle comm, char *name, int *length);
int MPI_Comm_rank(mpi_handle comm, int *rank);
int MPI_Comm_size(mpi_handle comm, int *size);
int MPI_Comm_remote_size(mpi_handle comm, int *size);
int MPI_Comm_remote_group(mpi_handle comm, void *group);
int MPI_Comm_get_parent(void *comm);
int MPI_Comm_test_inter(mpi_handle comm, int *inter);
int MPI_Comm_group(mpi_handle comm, void *group);
int MPI_Comm_create_keyval(void *copy, void *deleted, int *key, void *extra);
int MPI_Comm_get_attr(mpi_handle comm, int key, void *value, int *flag);
int MPI_Comm_set_attr(mpi_handle comm, int key, void *value);
int MPI_Group_translate_ranks(mpi_handle group, int count, const int *ranks, mpi_handle other,
                              int *translated);
int MPI_Group_free(void *group);
int MPI_Group_size(mpi_handle group, int *size);
int MPI_Win_get_group(mpi_handle window, void *group);
int MPI_Win_get_info(mpi_handle window, void *info);
int MPI_Info_get(mpi_handle info, const char *key, int bytes, char *value, int *flag);
int MPI_Info_free(void *info);
int MPI_Test_cancelled(const void *status, int *flag);
int MPI_Get_count(const void *status, mpi_handle type, int *count);
int MPI_Topo_test(mpi_handle comm, int *kind);
int MPI_Cartdim_get(mpi_handle comm, int *dims);
int MPI_Cart_shift(mpi_handle comm, int direction, int displacement, int *source, int *target);
int MPI_Graph_neighbors(mpi_handle comm, int rank, int most, int *neighbors);
int MPI_Dist_graph_neighbors(mpi_handle comm, int most_in, int *sources, int *source_weights,
                             int most_out, int *targets, int *target_weights);
int MPI_Graph_neighbors_count(mpi_handle comm, int rank, int *count);
int MPI_Dist_graph_neighbors_count(mpi_handle comm, int *in, int *out, int *weighted);

#endif
