/* Prints in words what was found of a program's synchronizations. See mutation.h. */
#include "runtime/cli/explore/mutation.h"

#include <stdio.h>

void mutation_print_plain(const struct mutation *mutation)
{
    const struct mutate_run *plain = &mutation->plain;
    if (!plain->race_count)
        return;
    printf("The program has %zu race%s as it is; below are those that it has not:\n",
           plain->race_count, plain->race_count == 1 ? "" : "s");
    for (size_t i = 0; i < plain->race_count; i++)
        printf("    %s\n", plain->races[i]);
}

/* How many come from the place of this first one. */
static size_t place_count(const struct mutate_run *plain, size_t first)
{
    size_t count = 0;
    for (size_t i = first; i < plain->sync_count; i++)
        count += plain->syncs[i].first == first;
    return count;
}

/* What is said of a place: the strongest finding, and how often it was had. */
static enum finding place_finding(const struct mutation *mutation, size_t first, size_t *tried)
{
    enum finding best = UNTRIED;
    *tried = 0;
    for (size_t i = first; i < mutation->plain.sync_count; i++) {
        if (mutation->plain.syncs[i].first != first || mutation->trials[i].finding == UNTRIED)
            continue;
        ++*tried;
        if (mutation->trials[i].finding < best)
            best = mutation->trials[i].finding;
    }
    return best;
}

static void print_numbers(const struct mutation *mutation, size_t first, enum finding finding)
{
    enum { SHOWN = 12 };
    size_t count = 0;
    for (size_t i = first; i < mutation->plain.sync_count; i++) {
        if (mutation->plain.syncs[i].first != first || mutation->trials[i].finding != finding)
            continue;
        if (count++ < SHOWN)
            printf("%s%zu", count > 1 ? ", " : "", i + 1);
    }
    if (count > SHOWN)
        printf(" and %zu more", count - SHOWN);
}

/* The example of a finding at a place: its first trial. */
static const struct trial *place_trial(const struct mutation *mutation, size_t first,
                                       enum finding finding)
{
    size_t i = first;
    while (mutation->plain.syncs[i].first != first || mutation->trials[i].finding != finding)
        i++;
    return &mutation->trials[i];
}

static void print_finding(const struct mutation *mutation, const struct trial *trial)
{
    char how[64];
    switch (trial->finding) {
    case NEEDED:
    case POSSIBLY_NEEDED:
        printf("needed; without it a race: %s\n", trial->race ? trial->race : "(no memory)");
        break;
    case FAILED:
        child_describe_end(trial->status, how, sizeof how);
        printf("needed by no access that csan sees, but without it the program ends %s\n", how);
        break;
    case TIMED_OUT:
        printf("needed by no access that csan sees, but without it the program did not end within "
               "%g s\n",
               mutation->settings.limit);
        break;
    case OUTPUT:
        printf("needed by no access that csan sees, but without it the program's output is "
               "another\n");
        break;
    case UNREACHED:
        printf("not reached again: the program does not make the same calls each time\n");
        break;
    default:
        printf("needed by no access that csan sees\n");
    }
}

static void print_place(const struct mutation *mutation, size_t first)
{
    size_t count = place_count(&mutation->plain, first), tried;
    place_finding(mutation, first, &tried);
    printf("sync %zu: %s", first + 1, mutation->plain.syncs[first].text);
    if (count > 1)
        printf(", %zu times", count);
    if (tried < count)
        printf(" (%zu tried)", tried);
    printf("\n");
    for (enum finding finding = NEEDED; finding < UNTRIED; finding++) {
        size_t had = 0;
        for (size_t i = first; i < mutation->plain.sync_count; i++)
            had +=
                mutation->plain.syncs[i].first == first && mutation->trials[i].finding == finding;
        if (!had)
            continue;
        printf("    ");
        if (count > 1) {
            printf("%zu of %zu (sync ", had, tried);
            print_numbers(mutation, first, finding);
            printf("): ");
        }
        print_finding(mutation, place_trial(mutation, first, finding));
    }
}

void mutation_print(const struct mutation *mutation)
{
    const struct mutate_run *plain = &mutation->plain;
    size_t places = 0, needed = 0, unseen = 0, tried;
    for (size_t i = 0; i < plain->sync_count; i++) {
        if (plain->syncs[i].first != i)
            continue;
        enum finding finding = place_finding(mutation, i, &tried);
        places++;
        needed += finding <= POSSIBLY_NEEDED;
        unseen += finding > POSSIBLY_NEEDED && finding <= UNSEEN;
        print_place(mutation, i);
    }
    printf(
        "%zu synchronization%s at %zu place%s, %zu left out, one in each run: %zu place%s needed, "
        "%zu needed by no access that csan sees\n",
        plain->sync_count, plain->sync_count == 1 ? "" : "s", places, places == 1 ? "" : "s",
        mutation->tried, needed, needed == 1 ? "" : "s", unseen);
    if (unseen)
        printf(
            "(The CPU may read what those wait for: of pageable memory csan sees what it touches "
            "only where csan_host_reads and csan_host_writes say so.)\n");
}
