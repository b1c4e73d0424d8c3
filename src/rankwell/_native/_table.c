/* How the tables of the judgments and of unknown queries are made. */

#include "_table.h"

uint64_t rankwell_seed[2] = {0, 1};

/* Builds the slots of a table whose text, places, queries, rows and first_slot (numbers of rows) are there. */
int rankwell_build_table(Table *table)
{
    const size_t queries = table->queries;
    size_t slots = 0;
    table->query_mask = power_of_two(8, 4 * queries) - 1;
    table->query_slots = calloc(table->query_mask + 1, sizeof(uint32_t));
    table->query_hashes = malloc((queries + 1) * sizeof(uint64_t));
    if (!table->query_slots || !table->query_hashes || queries >= UINT32_MAX
        || table->rows >= UINT32_MAX)
        return NO_MEMORY;
    for (size_t query = 0; query < queries; query++) {
        const size_t rows = table->first_slot[query + 1];
        const uint64_t hash = hash_of(table->text + table->places[query],
                                      table->places[query + 1] - table->places[query]);
        size_t slot = hash & table->query_mask;
        while (table->query_slots[slot])
            slot = (slot + 1) & table->query_mask;
        table->query_slots[slot] = (uint32_t)query + 1;
        table->query_hashes[query] = hash;
        slots += rows ? power_of_two(8, 2 * rows) : 0;
    }
    table->slots = calloc(slots ? slots : 1, sizeof(Slot));
    if (!table->slots)
        return NO_MEMORY;
    size_t row = 0, begin = 0;
    for (size_t query = 0; query < queries; query++) {
        const size_t rows = table->first_slot[query + 1],
                     size = rows ? power_of_two(8, 2 * rows) : 0;
        table->first_slot[query] = begin;
        for (const size_t stop = row + rows; row < stop; row++) {
            const size_t *const place = table->places + queries + row;
            const uint64_t hash = hash_of(table->text + place[0], place[1] - place[0]);
            size_t slot = hash & (size - 1);
            while (table->slots[begin + slot].row)
                slot = (slot + 1) & (size - 1);
            table->slots[begin + slot] = (Slot){(uint32_t)(hash >> 32), (uint32_t)row + 1};
        }
        begin += size;
    }
    table->first_slot[queries] = begin;
    return DONE;
}

void rankwell_free_table(Table *table)
{
    free(table->text);
    free(table->places);
    free(table->query_slots);
    free(table->query_hashes);
    free(table->first_slot);
    free(table->slots);
}

/* The number of a name, a new one where it is; NO_MEMORY likewise. */
int64_t rankwell_name_entry(Names *names, const uint8_t *name, size_t size)
{
    const uint64_t hash = hash_of(name, size);
    if (2 * names->size >= names->mask) {
        const size_t mask = names->slots ? 4 * names->mask + 3 : 255;
        uint32_t *const slots = mask < UINT32_MAX ? calloc(mask + 1, sizeof(uint32_t)) : NULL;
        if (!slots)
            return NO_MEMORY;
        for (size_t entry = 0; entry < names->size; entry++) {
            size_t slot = names->hashes[entry] & mask;
            while (slots[slot])
                slot = (slot + 1) & mask;
            slots[slot] = (uint32_t)entry + 1;
        }
        free(names->slots);
        names->slots = slots;
        names->mask = mask;
    }
    size_t slot = hash & names->mask;
    for (; names->slots[slot]; slot = (slot + 1) & names->mask) {
        const size_t entry = names->slots[slot] - 1, place = names->places[entry];
        if (names->hashes[entry] == hash && names->places[entry + 1] - place == size
            && memcmp(names->text + place, name, size) == 0)
            return (int64_t)entry;
    }
    const size_t entry = names->size, place = entry ? names->places[entry] : 0;
    if (!make_room(&names->text, &names->text_room, place + size + SLACK, 1)
        || !make_room(&names->places, &names->places_room, entry + 2, sizeof(size_t))
        || !make_room(&names->hashes, &names->hashes_room, entry + 1, sizeof(uint64_t))
        || !make_room(&names->counts, &names->counts_room, entry + 1, sizeof(int64_t)))
        return NO_MEMORY;
    memcpy(names->text + place, name, size);
    names->places[entry] = place;
    names->places[entry + 1] = place + size;
    names->hashes[entry] = hash;
    names->counts[entry] = 0;
    names->slots[slot] = (uint32_t)entry + 1;
    names->size = entry + 1;
    return (int64_t)entry;
}

void rankwell_free_names(Names *names)
{
    free(names->text);
    free(names->places);
    free(names->hashes);
    free(names->counts);
    free(names->slots);
}
