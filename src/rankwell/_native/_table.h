/* The judgments, and other names, as tables that are asked by hash and answer only when the bytes are the same. */

#ifndef RANKWELL_TABLE_H
#define RANKWELL_TABLE_H

#include "_bytes.h"

/* SCATTERED: a query returns after another one, or is too large. */
enum { DONE = 0, ODD = -1, SCATTERED = -2, NO_MEMORY = -3 };

typedef struct {
    uint32_t tag;
    uint32_t row; /* one more than the row; 0 where the slot is free */
} Slot;

/* The judgments: queries and their items with one row each, found by hash and confirmed by their bytes. */
typedef struct {
    uint8_t *text; /* the names of the queries, then of the items, and slack */
    size_t *places; /* (queries + rows + 1,) where in the text each begins */
    size_t queries, rows;
    size_t query_mask;
    uint32_t *query_slots; /* one more than the query; 0 where the slot is free */
    uint64_t *query_hashes;
    size_t *
        first_slot; /* (queries + 1,) where the slots of each query's items begin; their number is a power of two */
    Slot *slots;
} Table;

/* Names with a number each, found by hash and confirmed by their bytes. */
typedef struct {
    uint8_t *text;
    size_t *places;
    uint64_t *hashes;
    int64_t *counts;
    uint32_t *slots;
    size_t size, text_room, places_room, hashes_room, counts_room, mask;
} Names;

int rankwell_build_table(Table *table);
void rankwell_free_table(Table *table);
int64_t rankwell_name_entry(Names *names, const uint8_t *name, size_t size);
void rankwell_free_names(Names *names);

static inline size_t power_of_two(size_t least, size_t wanted)
{
    while (least < wanted)
        least *= 2;
    return least;
}

/* The position of a query, -1 for an unjudged one. */
INLINE int64_t find_query(const Table *table, const uint8_t *name, size_t size)
{
    const uint64_t hash = hash_of(name, size);
    for (size_t slot = hash & table->query_mask; table->query_slots[slot];
         slot = (slot + 1) & table->query_mask) {
        const size_t query = table->query_slots[slot] - 1;
        const size_t place = table->places[query];
        if (table->query_hashes[query] == hash && table->places[query + 1] - place == size
            && same_bytes(table->text + place, name, size))
            return (int64_t)query;
    }
    return -1;
}

/* The row of the judgments of a query's item, -1 for one that is not judged. */
INLINE int64_t find_item(const Table *table, size_t query, uint64_t hash, const uint8_t *name,
                         size_t size)
{
    const size_t begin = table->first_slot[query], mask = table->first_slot[query + 1] - begin - 1;
    if (mask == SIZE_MAX)
        return -1;
    for (size_t slot = hash & mask; table->slots[begin + slot].row; slot = (slot + 1) & mask) {
        const Slot found = table->slots[begin + slot];
        if (found.tag != (uint32_t)(hash >> 32))
            continue;
        const size_t *const place = table->places + table->queries + found.row - 1;
        if (place[1] - place[0] == size && same_bytes(table->text + place[0], name, size))
            return (int64_t)found.row - 1;
    }
    return -1;
}

#endif
