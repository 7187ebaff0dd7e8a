/* What was learned of kernels, in words. See kernel_learned.h. */
#include "runtime/cli/kernels/kernel_learned.h"
#include "runtime/cli/kernels/demangle.h"
#include "runtime/cli/kernels/kernel_report.h"
#include "runtime/learn/cache.h"
#include "runtime/learn/learned_file.h"

#include <dirent.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
    const char *pattern;
    bool verbose;
    size_t kernels, shown, files, damaged;
};

static const char *const kind_words[] = {[DEVICE_TRACE_READ] = "reads",
                                         [DEVICE_TRACE_WRITE] = "writes",
                                         [DEVICE_TRACE_ATOMIC] = "updates"};

static void print_anchor(const struct learn_anchor *anchor)
{
    switch (anchor->kind) {
    case LEARN_TENSOR_MAP:
        printf("the tensor of the map at parameter byte %u", anchor->offset);
        break;
    case LEARN_VARIABLE:
        printf("a variable");
        break;
    default:
        printf("the pointer at parameter byte %u", anchor->offset);
    }
}

static void print_range(const struct learned_range *range, const struct learn_anchor *anchors)
{
    printf("    %s ", kind_words[range->kind]);
    if (range->whole) {
        printf("at most all that ");
        print_anchor(&anchors[range->anchor]);
        puts(" points into");
        return;
    }
    printf("%" PRIu64 " byte%s at %+" PRId64 " from ", range->bytes, range->bytes == 1 ? "" : "s",
           range->offset);
    print_anchor(&anchors[range->anchor]);
    for (uint8_t k = range->dims; k-- > 0;)
        printf(", %" PRIu64 " times every %" PRIu64, range->count[k], range->stride[k]);
    putchar('\n');
}

static void print_set(const struct learned_set *set, const struct learn_anchor *anchors)
{
    for (uint32_t i = 0; i < set->count; i++)
        print_range(&set->ranges[i], anchors);
    for (uint32_t i = 0; i < set->relation_count; i++) {
        const struct learned_relation *relation = &set->relations[i];
        printf("    where ");
        print_anchor(&anchors[relation->to]);
        printf(relation->distance ? " is %" PRId64 " bytes behind " : " equals ",
               relation->distance);
        print_anchor(&anchors[relation->from]);
        puts(relation->assumed ? ", or elsewhere, as is assumed" : "");
    }
}

static void print_counts(const char *what, uint64_t launches, uint32_t traced)
{
    printf("%s, %" PRIu64 " launch%s, %u traced\n", what, launches, launches == 1 ? "" : "es",
           traced);
}

static void print_entry(const char *head, const struct entry *entry,
                        const struct learn_anchor *anchors)
{
    char words[96];
    if (entry->state != ENTRY_LEARNING) {
        snprintf(words, sizeof words,
                 entry->state == ENTRY_UNKNOWN ? "not learned: %s" : "bounded (%s)",
                 learn_reason_text(entry->reason));
        printf("%s: ", head);
        print_counts(words, entry->launches, entry->seen);
        if (entry->bound)
            print_set(entry->bound, anchors);
        return;
    }
    for (uint32_t i = 0; i < entry->variant_count; i++) {
        const struct variant *variant = &entry->variants[i];
        const struct learned_set *set = variant->narrow ? variant->narrow : variant->class->set;
        printf("%s: ", head);
        print_counts(variant->seen < 2 ? "being learned"
                     : set->inexact    ? "bounded (coarse traces)"
                                       : "exact",
                     entry->variant_count == 1 ? entry->launches : variant->launches,
                     variant->seen);
        print_set(set, anchors);
    }
}

static void print_shape(const struct launch_signature *signature)
{
    struct learn_anchor anchors[LEARN_MAX_ANCHORS];
    struct learn_launch launch;
    struct entry *entry = NULL, *next = NULL;
    char head[160];
    size_t left = launch_signature_left(signature);
    if (!launch_key_read_signature(signature->bytes, signature->signature_bytes, &launch, anchors))
        return;
    snprintf(head, sizeof head, "  grid %u,%u,%u block %u,%u,%u shared %u%s", launch.grid[0],
             launch.grid[1], launch.grid[2], launch.block[0], launch.block[1], launch.block[2],
             launch.shared, signature->scattered ? ", any parameters" : "");
    if (left && !signature->scattered)
        printf("%s: %zu parameter bytes without effect\n", head, 4 * left);
    HASH_ITER(hh, signature->entries, entry, next)
    {
        print_entry(head, entry, anchors);
    }
}

static bool is_wanted(const struct listing *listing, const char *mangled, const char *name)
{
    if (!listing->pattern)
        return true;
    char *bare = report_bare_name(name);
    bool wanted =
        fnmatch(listing->pattern, name, 0) == 0 || fnmatch(listing->pattern, mangled, 0) == 0 ||
        (bare && fnmatch(listing->pattern, bare, 0) == 0) || strcmp(listing->pattern, name) == 0;
    free(bare);
    return wanted;
}

static void print_image(struct listing *listing, const struct image_state *image)
{
    struct learned_kernel *kernel = NULL, *next = NULL;
    HASH_ITER(hh, image->kernels, kernel, next)
    {
        struct launch_signature *signature = NULL, *other = NULL;
        char *plain = demangle(kernel->name);
        const char *name = plain ? plain : kernel->name;
        listing->kernels++;
        if (is_wanted(listing, kernel->name, name)) {
            listing->shown++;
            printf("%s\n", name);
            if (listing->verbose)
                printf("  %s, image %016" PRIx64 "%016" PRIx64 "\n", kernel->name,
                       image->id.words[0], image->id.words[1]);
            HASH_ITER(hh, kernel->signatures, signature, other)
            {
                print_shape(signature);
            }
        }
        free(plain);
    }
}

static void print_file(struct listing *listing, const char *directory, const char *name)
{
    char path[PATH_MAX + NAME_MAX + 2], message[128];
    const char *suffix = strstr(name, LEARNED_SUFFIX);
    if (!suffix || suffix[strlen(LEARNED_SUFFIX)]) /* one being written has more behind it */
        return;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    struct image_state *image = learned_file_open(path, message, sizeof message);
    listing->files++;
    if (!image) {
        listing->damaged++;
        fprintf(stderr, "csan kernels: %s: %s\n", path, message);
        return;
    }
    print_image(listing, image);
    image_clear(image);
}

int kernels_learned(const char *pattern, bool verbose)
{
    struct listing listing = {.pattern = pattern, .verbose = verbose};
    char directory[PATH_MAX];
    struct dirent **names = NULL;
    if (!learned_directory(directory, sizeof directory)) {
        fputs("csan kernels: there is no directory for learned sets; set CSAN_CACHE or HOME\n",
              stderr);
        return 1;
    }
    const char *refusal = cache_refusal(directory);
    if (refusal) {
        fprintf(stderr,
                "csan kernels: the cache %s, or the directory it lies in, %s; set CSAN_CACHE to a "
                "directory of your own\n",
                directory, refusal);
        return 1;
    }
    int count = scandir(directory, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        print_file(&listing, directory, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    if (listing.kernels == 0)
        fprintf(stderr,
                "csan kernels: %s has no learned kernels: run a program with "
                "CSAN_OPTIONS=access=learn, or on a GPU\n",
                directory);
    else if (listing.shown == 0)
        fprintf(stderr, "csan kernels: none of the %zu kernels in %s is called '%s'\n",
                listing.kernels, directory, pattern);
    return listing.shown == 0 || listing.damaged ? 1 : 0;
}
