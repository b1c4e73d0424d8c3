/* Runs whose queries do not stand together, between and behind the two passes: duplicates, and the judged items in order. */

#include "_scan.h"

/* Whether any hash stands twice in some of the partitions: every `parts`-th from `part` on. 1, 0 or NO_MEMORY. */
int rankwell_any_twice(Worker *const *workers, size_t count, size_t part, size_t parts)
{
    uint64_t *slots = NULL;
    size_t room = 0;
    int twice = 0;
    for (; part < PARTITIONS && !twice; part += parts) {
        size_t hashes = 0, size = 256;
        for (size_t worker = 0; worker < count; worker++)
            for (const Chunk *chunk = workers[worker]->chunks[part]; chunk; chunk = chunk->next)
                hashes += chunk->size;
        while (size < 2 * hashes)
            size *= 2;
        if (!make_room(&slots, &room, size, sizeof(uint64_t))) {
            twice = NO_MEMORY;
            break;
        }
        memset(slots, 0, size * sizeof(uint64_t));
        for (size_t worker = 0; worker < count && !twice; worker++)
            for (const Chunk *chunk = workers[worker]->chunks[part]; chunk && !twice; chunk = chunk->next)
                for (size_t each = 0; each < chunk->size; each++) {
                    const uint64_t hash = chunk->hashes[each];
                    size_t slot = hash & (size - 1);
                    while (slots[slot] && slots[slot] != hash)
                        slot = (slot + 1) & (size - 1);
                    twice |= slots[slot] == hash;
                    slots[slot] = hash;
                }
    }
    free(slots);
    return twice;
}

/* Puts what the first pass found in order, for the second. */
int rankwell_gather(Worker *worker)
{
    const size_t queries = worker->table->queries;
    size_t item = 0;
    if (!make_room(&worker->found, &worker->found_room, 1, sizeof(Found)))
        return NO_MEMORY;
    rankwell_sort_found(worker->found, worker->n_found, worker->reading.rule != BY_INPUT);
    free(worker->own_first_found);
    worker->own_first_found = malloc((queries + 1) * sizeof(size_t));
    if (!worker->own_first_found)
        return NO_MEMORY;
    for (size_t query = 0; query <= queries; query++) {
        while (item < worker->n_found && worker->found[item].query < query)
            item++;
        worker->own_first_found[query] = item;
    }
    return DONE;
}

/* Makes a worker ready for the second pass with what another one has gathered; that one must outlive it. */
int rankwell_share(Worker *worker, const Worker *first)
{
    worker->pass = PLACE;
    worker->every = first->found;
    worker->first_found = first->own_first_found;
    return rankwell_make_tally(&worker->tally, first->n_found, worker->table->queries);
}

/* The hits, once the second pass is over. */
int rankwell_settle_scattered(Worker *worker)
{
    int status = DONE;
    for (size_t query = 0; query < worker->table->queries && !status; query++) {
        const size_t first = worker->first_found[query];
        status = rankwell_settle(worker->every + first, worker->first_found[query + 1] - first,
                                 worker->reading.rule == BY_ID_DESCENDING, worker->tally.over + first + query,
                                 worker->tally.tied + first, worker->tally.below + first, &worker->hits);
    }
    return status;
}
