/* See index_range.h. */
#include "runtime/hook/operator/index_range.h"
#include "csan/base/text.h"
#include "runtime/hook/state/copied_values.h"

#include <inttypes.h>
#include <string.h>

enum { ARGUMENTS_MOST = 2048, ONE_OPERATOR_MOST = 16 };

/* One argument. */
struct declared_range {
    uint64_t turn;      /* of all arguments, from 1; 0: it is being written */
    uint64_t remaining; /* of the same operator, this one too */
    const struct csan_operator *what;
    struct csan_indices indices;
    uint64_t wrong;    /* how many values are known to be out of range, */
    uint64_t wrong_at; /* and of the first of them, which one it is, */
    int64_t value;     /* and what */
};

static struct {
    struct declared_range items[ARGUMENTS_MOST];
    uint64_t turns;
} declared;

/* ---- What is declared ---- */

static bool is_right(const struct csan_indices *indices, int64_t value)
{
    return (value >= indices->low && value < indices->high) ||
           (indices->has_ignored && value == indices->ignored);
}

static int64_t value_at(const uint8_t *values, uint64_t at, uint32_t element_bytes)
{
    int32_t small;
    int64_t large;
    if (element_bytes == 4) {
        memcpy(&small, values + 4 * at, sizeof small);
        return small;
    }
    memcpy(&large, values + 8 * at, sizeof large);
    return large;
}

static void look(struct declared_range *item)
{
    const struct csan_indices *indices = &item->indices;
    const uint32_t bytes = indices->element_bytes;
    uint8_t copy[COPIED_BYTES_MOST];
    const uint8_t *values = copy;
    if (!indices->base || (bytes != 4 && bytes != 8) || indices->count > COPIED_BYTES_MOST / bytes)
        return;
    if (indices->on_host)
        values = (const uint8_t *)(uintptr_t)indices->base;
    else if (!copied_values_read(indices->base, indices->count * bytes, copy))
        return;
    for (uint64_t i = 0; i < indices->count; i++) {
        const int64_t value = value_at(values, i, bytes);
        if (is_right(indices, value))
            continue;
        if (!item->wrong++) {
            item->wrong_at = i;
            item->value = value;
        }
    }
}

uint64_t index_range_note(const struct csan_operator *what, const struct csan_indices *indices,
                          size_t count)
{
    count = count < ONE_OPERATOR_MOST ? count : ONE_OPERATOR_MOST;
    const uint64_t first = __atomic_add_fetch(&declared.turns, count, __ATOMIC_RELAXED) - count + 1;
    for (size_t i = 0; i < count; i++) {
        struct declared_range *slot = &declared.items[(first + i) % ARGUMENTS_MOST];
        __atomic_store_n(&slot->turn, 0, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_RELEASE); /* who sees what follows sees the 0 */
        slot->remaining = count - i;
        slot->what = what;
        slot->indices = indices[i];
        slot->wrong = 0;
        look(slot);
        __atomic_store_n(&slot->turn, first + i, __ATOMIC_RELEASE);
    }
    return first;
}

/* ---- What a report says ---- */

static bool take(uint64_t turn, struct declared_range *item)
{
    const struct declared_range *slot = &declared.items[turn % ARGUMENTS_MOST];
    if (!turn || __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) != turn)
        return false;
    *item = *slot;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the copy is made before it is asked again */
    return __atomic_load_n(&slot->turn, __ATOMIC_RELAXED) == turn;
}

/* Without the mark that it is returned. */
static void name_add(struct text *text, const struct declared_range *item, uint16_t argument)
{
    const char *name =
        argument < item->what->argument_count ? item->what->arguments[argument] : "an argument";
    text_add(text, "%.*s", (int)strcspn(name, CSAN_ARGUMENT_RETURNED), name);
}

static void shape_add(struct text *text, const struct csan_indices *indices)
{
    text_add(text, "int%u[", 8u * indices->element_bytes);
    for (unsigned i = 0; i < indices->dim_count && i < CSAN_INDICES_DIMS; i++)
        text_add(text, "%s%" PRIu64, i ? ", " : "", indices->sizes[i]);
    if (indices->dim_count > CSAN_INDICES_DIMS)
        text_add(text, ", ...");
    text_add(text, "]");
}

static void range_add(struct text *text, const struct declared_range *item)
{
    const struct csan_indices *indices = &item->indices;
    if (indices->low == INT64_MIN)
        text_add(text, " must be below %" PRId64, indices->high);
    else
        text_add(text, " must be in [%" PRId64 ", %" PRId64 ")", indices->low, indices->high);
    if (indices->has_ignored)
        text_add(text, " or %" PRId64, indices->ignored);
    if (indices->dimension >= 0)
        text_add(text, ", dimension %d of ", indices->dimension);
    else
        text_add(text, indices->dimension == CSAN_INDICES_OF_ALL ? ", the elements of " : ", ");
    name_add(text, item, indices->of);
}

/* "index[2, 1]" */
static void element_add(struct text *text, const struct declared_range *item)
{
    const struct csan_indices *indices = &item->indices;
    uint64_t at[CSAN_INDICES_DIMS] = {0}, rest = item->wrong_at;
    if (indices->dim_count > CSAN_INDICES_DIMS) {
        text_add(text, "element %" PRIu64 " of ", rest);
        name_add(text, item, indices->argument);
        return;
    }
    for (unsigned i = indices->dim_count; i-- > 0;) {
        at[i] = indices->sizes[i] ? rest % indices->sizes[i] : 0;
        rest = indices->sizes[i] ? rest / indices->sizes[i] : 0;
    }
    name_add(text, item, indices->argument);
    for (unsigned i = 0; i < indices->dim_count; i++)
        text_add(text, "%s%" PRIu64, i ? ", " : "[", at[i]);
    text_add(text, indices->dim_count ? "]" : "");
}

static void item_add(struct text *text, const struct declared_range *item)
{
    if (text->length)
        text_add(text, " ");
    name_add(text, item, item->indices.argument);
    text_add(text, " (");
    shape_add(text, &item->indices);
    text_add(text, ")");
    range_add(text, item);
    if (item->wrong) {
        text_add(text, "; ");
        element_add(text, item);
        text_add(text, " was %s%" PRId64, item->indices.on_host ? "" : "copied to the device as ",
                 item->value);
    }
    if (item->wrong > 1)
        text_add(text, ", and %" PRIu64 " more %s out of range", item->wrong - 1,
                 item->wrong == 2 ? "is" : "are");
    text_add(text, ".");
}

void index_range_add(struct text *text, uint64_t number)
{
    struct declared_range item;
    for (uint64_t remaining = 1; number && remaining && take(number, &item); number++) {
        remaining = item.remaining - 1;
        item_add(text, &item);
    }
}
