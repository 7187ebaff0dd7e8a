/* Orders of shared.c that sends which wait for their receive make, and windows. */
#ifndef TESTS_MPI_SHARED_ORDERS_H
#define TESTS_MPI_SHARED_ORDERS_H

#include <mpi.h>
#include <unistd.h>

enum { N = 256, TAG = 3 };

static int rank, size;
static MPI_Comm comm = MPI_COMM_WORLD; /* rank 0 is its rank 0 */

/* ---- Sends that wait for their receive: what rank 0 did before it ---- */

static void by_ssend(void)
{
    int word = 0;
    for (int i = 1; i < size; i++) {
        if (rank == i)
            MPI_Ssend(&word, 1, MPI_INT, 0, TAG, comm);
        if (rank == 0)
            MPI_Recv(&word, 1, MPI_INT, i, TAG, comm, MPI_STATUS_IGNORE);
    }
}

static void by_issend(void)
{
    int word = 0, words[64];
    MPI_Request request, requests[64];
    if (rank) {
        MPI_Issend(&word, 1, MPI_INT, 0, TAG, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    for (int i = 1; i < size; i++)
        MPI_Irecv(&words[i], 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &requests[i - 1]);
    MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE);
}

/* Any send would do, but this one waits for nobody. */
static void by_send_to_first(void)
{
    int word = 0;
    if (rank)
        MPI_Send(&word, 1, MPI_INT, 0, TAG, comm);
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Recv(&word, 1, MPI_INT, i, TAG, comm, MPI_STATUS_IGNORE);
}

/* Rank 0 posts its receives before it writes: then a send may end before that. */
static MPI_Request early[64];
static void before_posted(void)
{
    static int words[64];
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Irecv(&words[i], 1, MPI_INT, i, TAG, comm, &early[i]);
}
static void by_posted(void)
{
    int word = 0;
    if (rank)
        MPI_Ssend(&word, 1, MPI_INT, 0, TAG, comm);
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Wait(&early[i], MPI_STATUS_IGNORE);
}

/* A message that a probe took is received later. The others' sends begin before that. */
static MPI_Message messages[64];
static MPI_Request sends;
static void before_matched(void)
{
    static int word;
    if (rank)
        MPI_Issend(&word, 1, MPI_INT, 0, TAG, comm, &sends);
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Mprobe(i, TAG, comm, &messages[i], MPI_STATUS_IGNORE);
}
static void by_matched(void)
{
    int word;
    if (rank)
        MPI_Wait(&sends, MPI_STATUS_IGNORE);
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Mrecv(&word, 1, MPI_INT, &messages[i], MPI_STATUS_IGNORE);
}

/* ---- Windows ---- */

static MPI_Win window = MPI_WIN_NULL;

static void before_window(void)
{
    static int word;
    MPI_Win_create(&word, sizeof word, sizeof word, MPI_INFO_NULL, comm, &window);
}

static void by_fence(void)
{
    MPI_Win_fence(0, window);
}

static MPI_Group group_make(int first, int count)
{
    int ranks[64];
    MPI_Group all, group;
    for (int i = 0; i < count; i++)
        ranks[i] = first + i;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, count, ranks, &group);
    MPI_Group_free(&all);
    return group;
}

/* Rank 0 accesses the windows of the others. */
static void by_complete(void)
{
    int one = 1;
    MPI_Group others = group_make(1, size - 1), first = group_make(0, 1);
    if (rank == 0) {
        MPI_Win_start(others, 0, window);
        for (int i = 1; i < size; i++)
            MPI_Put(&one, 1, MPI_INT, i, 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
    } else {
        MPI_Win_post(first, 0, window);
        MPI_Win_wait(window);
    }
    MPI_Group_free(&others);
    MPI_Group_free(&first);
}

/* The others access the window of rank 0. */
static void access_first(int puts)
{
    int word = 1, flag = 0;
    MPI_Group others = group_make(1, size - 1), first = group_make(0, 1);
    if (rank == 0) {
        MPI_Win_post(others, 0, window);
        while (!flag)
            MPI_Win_test(window, &flag);
    } else {
        MPI_Win_start(first, 0, window);
        if (puts)
            MPI_Accumulate(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
        else
            MPI_Get(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
    }
    MPI_Group_free(&others);
    MPI_Group_free(&first);
}
static void by_post(void)
{
    access_first(0);
}
static void by_post_put(void)
{
    access_first(1);
}

static void flag_set(int value)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
}

/* Rank 0 sets a word under its lock, and the others look at it until they see that. */
static void by_lock(void)
{
    if (rank == 0)
        flag_set(1);
    for (int word = 0; rank && !word;) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_flush(0, window);
        MPI_Win_unlock(0, window);
        usleep(1000);
    }
}

static void by_lock_shared(void)
{
    MPI_Request request;
    if (rank == 0)
        flag_set(1);
    for (int word = 0; rank && !word;) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Rget(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, window, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_unlock(0, window);
        usleep(1000);
    }
}

/* What is put and flushed says nothing; the barrier does. */
static void by_flush_barrier(void)
{
    int word = 1;
    MPI_Win_lock_all(0, window);
    MPI_Put(&word, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_flush((rank + 1) % size, window);
    MPI_Barrier(comm);
    MPI_Win_unlock_all(window);
}

static void by_win_free(void)
{
    MPI_Win_free(&window);
}

/* A flush is no message. */
static void by_flush_alone(void)
{
    int word = 1;
    MPI_Win_lock_all(0, window);
    MPI_Put(&word, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
}

/* ---- Windows whose memory ranks load from and store to ---- */

static volatile int *word_at_first; /* the word of rank 0 */

static void before_shared_window(void)
{
    int *mine, *first, unit;
    MPI_Aint bytes;
    MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, comm, &mine, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &first);
    word_at_first = first;
    if (rank == 0)
        *first = 0;
    MPI_Barrier(comm); /* orders nothing of what comes later */
}

/* Rank 0 sets its word under its lock, and the others look at it until they see that. */
static void word_by_lock(int kind)
{
    for (int word = 0; !word;) {
        MPI_Win_lock(rank ? kind : MPI_LOCK_EXCLUSIVE, 0, 0, window);
        if (rank == 0)
            *word_at_first = 1;
        word = *word_at_first;
        MPI_Win_unlock(0, window);
        usleep(1000);
    }
}
static void by_word(void)
{
    word_by_lock(MPI_LOCK_EXCLUSIVE);
}
static void by_word_shared(void)
{
    word_by_lock(MPI_LOCK_SHARED);
}

/* The program says that nobody else has the lock: it need not be one. */
static void by_word_alone(void)
{
    for (int i = 0; i < size; i++) {
        if (rank == i) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, window);
            *word_at_first += 1;
            MPI_Win_unlock(0, window);
        }
        usleep(20000);
    }
}

static void by_shared_fence(void)
{
    if (rank == 0)
        *word_at_first = 1;
    MPI_Win_fence(0, window);
}

/* The others load what rank 0 exposes. */
static void by_exposed(void)
{
    MPI_Group others = group_make(1, size - 1), first = group_make(0, 1);
    if (rank == 0) {
        *word_at_first = 1;
        MPI_Win_post(others, 0, window);
    } else {
        MPI_Win_start(first, 0, window);
    }
    MPI_Group_free(&others);
    MPI_Group_free(&first);
}
static void behind_exposed(void)
{
    if (rank == 0)
        MPI_Win_wait(window);
    else
        MPI_Win_complete(window);
}

/* A flag that ranks load and store under a lock that they share. */
static void by_flag(int syncs)
{
    MPI_Win_lock_all(syncs ? MPI_MODE_NOCHECK : 0, window);
    if (rank == 0)
        *word_at_first = 1;
    while (!*word_at_first)
        if (syncs)
            MPI_Win_sync(window);
        else
            usleep(1000);
    if (syncs)
        MPI_Win_sync(window);
    MPI_Win_unlock_all(window);
}
static void by_flag_synced(void)
{
    by_flag(1);
}
static void by_flag_alone(void)
{
    by_flag(0);
}

/* ---- What csan does not follow ---- */

/* A value that ranks read under a lock that they share. */
static void by_value(void)
{
    int word = 0, one = 1;
    MPI_Win_lock_all(0, window);
    if (rank == 0)
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, window);
    while (rank && !word) {
        MPI_Fetch_and_op(&one, &word, MPI_INT, 0, 0, MPI_NO_OP, window);
        MPI_Win_flush(0, window);
    }
    MPI_Win_unlock_all(window);
}

#endif
