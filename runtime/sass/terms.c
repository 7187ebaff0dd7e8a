/* See terms.h. What there is no room for is not known. */
#include "runtime/sass/terms.h"

#include <string.h>

enum { CHOICES_A_UNIT = 16 };

/* ---- Some of a few numbers ---- */

uint32_t terms_numbers(const struct terms *terms, struct reads_term term,
                       uint32_t numbers[TERM_NUMBERS_MOST])
{
    if (term.word == READS_NO_WORD) {
        numbers[0] = term.number;
        return 1;
    }
    if (term.word < TERM_CHOICE || term.word == TERM_ANY)
        return 0;
    const struct term_choice *choice = &terms->choices[term.word - TERM_CHOICE];
    for (uint32_t i = 0; i < choice->count; i++)
        numbers[i] = term.number + choice->above[i];
    return choice->count;
}

/* Adds one to them, in their order; false: there are too many. */
static bool number_add(uint32_t numbers[TERM_NUMBERS_MOST], uint32_t *count, uint32_t number)
{
    uint32_t at = 0;
    while (at < *count && numbers[at] < number)
        at++;
    if (at < *count && numbers[at] == number)
        return true;
    if (*count == TERM_NUMBERS_MOST)
        return false;
    memmove(&numbers[at + 1], &numbers[at], (*count - at) * sizeof *numbers);
    numbers[at] = number;
    ++*count;
    return true;
}

/* Of numbers in their order, at least one. */
static struct reads_term choice_of(struct terms *terms, const uint32_t numbers[TERM_NUMBERS_MOST],
                                   uint32_t count)
{
    struct term_choice choice = {.count = count};
    uint32_t i = 0;
    if (count == 1)
        return term_number(numbers[0]);
    for (uint32_t k = 0; k < count; k++)
        choice.above[k] = numbers[k] - numbers[0];
    while (i < terms->choice_count && memcmp(&terms->choices[i], &choice, sizeof choice) != 0)
        i++;
    terms->work += 1 + i / CHOICES_A_UNIT;
    if (i == TERMS_CHOICES_MOST)
        return term_any;
    if (i == terms->choice_count)
        terms->choices[terms->choice_count++] = choice;
    return (struct reads_term){TERM_CHOICE + i, numbers[0]};
}

struct reads_term terms_either(struct terms *terms, struct reads_term a, struct reads_term b)
{
    uint32_t numbers[TERM_NUMBERS_MOST], others[TERM_NUMBERS_MOST], all[TERM_NUMBERS_MOST];
    if (term_is_equal(a, b))
        return a;
    const uint32_t a_count = terms_numbers(terms, a, numbers),
                   b_count = terms_numbers(terms, b, others);
    uint32_t count = 0;
    if (!a_count || !b_count)
        return term_any;
    for (uint32_t i = 0; i < a_count + b_count; i++)
        if (!number_add(all, &count, i < a_count ? numbers[i] : others[i - a_count]))
            return term_any;
    return choice_of(terms, all, count);
}

/* What comes of each of the one and each of the other. */
static struct reads_term of_each(struct terms *terms, struct reads_term a, struct reads_term b,
                                 bool is_product)
{
    uint32_t numbers[TERM_NUMBERS_MOST], others[TERM_NUMBERS_MOST], results[TERM_NUMBERS_MOST];
    uint32_t count = 0;
    const uint32_t a_count = terms_numbers(terms, a, numbers),
                   b_count = terms_numbers(terms, b, others);
    for (uint32_t i = 0; i < a_count; i++)
        for (uint32_t k = 0; k < b_count; k++)
            if (!number_add(results, &count,
                            is_product ? numbers[i] * others[k] : numbers[i] + others[k]))
                return term_any;
    return count ? choice_of(terms, results, count) : term_any;
}

/* ---- Multiples of an index ---- */

struct reads_term terms_multiple(struct terms *terms, uint32_t index, uint32_t every,
                                 uint32_t number)
{
    uint32_t i = 0;
    if (every == 0)
        return term_number(number);
    while (i < terms->multiple_count &&
           (terms->multiples[i].index != index || terms->multiples[i].every != every))
        i++;
    if (i == TERMS_MULTIPLES_MOST)
        return term_any;
    if (i == terms->multiple_count)
        terms->multiples[terms->multiple_count++] = (struct term_multiple){index, every};
    return (struct reads_term){TERM_MULTIPLE + i, number};
}

struct term_multiple terms_multiple_at(const struct terms *terms, struct reads_term term)
{
    return terms->multiples[term.word - TERM_MULTIPLE];
}

/* ---- What is made of two ---- */

struct reads_term terms_sum(struct terms *terms, struct reads_term a, struct reads_term b)
{
    if (term_is_multiple(a) && term_is_multiple(b)) {
        const struct term_multiple of = terms_multiple_at(terms, a),
                                   more = terms_multiple_at(terms, b);
        return of.index == more.index
                   ? terms_multiple(terms, of.index, of.every + more.every, a.number + b.number)
                   : term_any;
    }
    if (a.word == TERM_ANY || b.word == TERM_ANY)
        return term_any;
    if (a.word == READS_NO_WORD)
        return (struct reads_term){b.word, a.number + b.number};
    if (b.word == READS_NO_WORD)
        return (struct reads_term){a.word, a.number + b.number};
    return of_each(terms, a, b, false);
}

static struct reads_term scaled(struct terms *terms, struct reads_term term, uint32_t every)
{
    if (every == 0)
        return term_number(0);
    if (term_is_multiple(term)) {
        const struct term_multiple of = terms_multiple_at(terms, term);
        return terms_multiple(terms, of.index, of.every * every, term.number * every);
    }
    if (every > 1 && term.word < terms->words)
        return terms_multiple(terms, TERM_INDEX_WORD + term.word, every, term.number * every);
    return every == 1 ? term : of_each(terms, term, term_number(every), true);
}

struct reads_term terms_product(struct terms *terms, struct reads_term a, struct reads_term b)
{
    if (a.word == READS_NO_WORD)
        return scaled(terms, b, a.number);
    return b.word == READS_NO_WORD ? scaled(terms, a, b.number) : of_each(terms, a, b, true);
}

struct reads_term terms_lesser(struct terms *terms, struct reads_term a, struct reads_term b)
{
    const struct reads_term of = a.word == READS_NO_WORD ? b : a;
    const uint32_t most = a.word == READS_NO_WORD ? a.number : b.number;
    uint32_t i = 0;
    if (a.word != READS_NO_WORD && b.word != READS_NO_WORD)
        return term_any;
    if (of.word == READS_NO_WORD)
        return term_number(of.number < most ? of.number : most);
    if (of.word >= terms->words) /* a lesser itself, or any */
        return term_any;
    while (i < terms->lesser_count &&
           !(term_is_equal(terms->lessers[i].of, of) && terms->lessers[i].most == most))
        i++;
    if (i == TERMS_LESSERS_MOST)
        return term_any;
    if (i == terms->lesser_count)
        terms->lessers[terms->lesser_count++] = (struct reads_lesser){of, most};
    return (struct reads_term){terms->words + i, 0};
}
