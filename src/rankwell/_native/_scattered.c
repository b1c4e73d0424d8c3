/* Runs whose queries do not stand together, between and behind the two passes: duplicates, and the judged items in order. */

#include "_scan.h"

/* Whether any hash appears twice in some of the partitions: every `parts`-th from `worker` on. 1, 0 or NO_MEMORY. */
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
            for (const Chunk *chunk = workers[worker]->chunks[part]; chunk && !twice;
                 chunk = chunk->next)
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

static void free_rows(Found *rows, size_t first, size_t size)
{
    for (size_t row = first; row < size; row++)
        free((void *)(uintptr_t)rows[row].name);
}

void rankwell_free_kept(Worker *worker)
{
    for (size_t query = 0; worker->kept && query < worker->table->queries; query++) {
        free_rows(worker->kept[query].rows, 0, worker->kept[query].size);
        free(worker->kept[query].rows);
    }
    free(worker->kept);
    worker->kept = NULL;
}

/* Puts the rows of a query in order and leaves the first `keep` of them. */
static void prune(Kept *kept, size_t keep)
{
    if (kept->size > 1)
        qsort(kept->rows, kept->size, sizeof(Found), rankwell_compare_falling);
    if (kept->size > keep) {
        free_rows(kept->rows, keep, kept->size);
        kept->size = keep;
    }
    kept->pruned = kept->size == keep;
}

/* Adds a row, whose name then belongs to these rows; 0 where there is no memory. */
static int add_kept(Kept *kept, const Found *row, size_t keep)
{
    if (kept->size == kept->room) {
        const size_t room = kept->room ? 2 * kept->room : 16;
        Found *const rows = realloc(kept->rows, room * sizeof(Found));
        if (!rows)
            return 0;
        kept->rows = rows;
        kept->room = room;
    }
    kept->rows[kept->size++] = *row;
    if (kept->size / 2 >= keep)
        prune(kept, keep);
    return 1;
}

/* Keeps a row of a judged query as long as it may be one of the first. */
int rankwell_keep_row(Worker *worker, const Line *line, double score, uint64_t place)
{
    const size_t keep = worker->reading.keep;
    if (!worker->kept && !(worker->kept = calloc(worker->table->queries + 1, sizeof(Kept))))
        return NO_MEMORY;
    Kept *const kept = worker->kept + worker->position;
    if (kept->pruned && score < kept->rows[keep - 1].score)
        return DONE;
    uint8_t *const name = malloc(line->item_size);
    if (!name)
        return NO_MEMORY;
    memcpy(name, line->item, line->item_size);
    const Found row = {.score = score,
                       .name = name,
                       .size = line->item_size,
                       .place = place,
                       .row = (size_t)worker->reading.rule};
    if (add_kept(kept, &row, keep))
        return DONE;
    free(name);
    return NO_MEMORY;
}

/* Takes over what another worker kept. */
int rankwell_absorb_kept(Worker *worker, Worker *other)
{
    if (!worker->kept && !(worker->kept = calloc(worker->table->queries + 1, sizeof(Kept))))
        return NO_MEMORY;
    for (size_t query = 0; query < worker->table->queries; query++)
        for (Kept *const from = other->kept + query; from->size; from->size--)
            if (!add_kept(worker->kept + query, from->rows + from->size - 1, worker->reading.keep))
                return NO_MEMORY;
    return DONE;
}

/* Hands back the first rows of all queries. */
static int settle_kept(Worker *worker)
{
    int status = DONE;
    for (size_t query = 0; worker->kept && query < worker->table->queries && !status; query++) {
        Kept *const kept = worker->kept + query;
        prune(kept, worker->reading.keep);
        if (kept->size)
            status = rankwell_add_top(worker, (int64_t)query, kept->rows, kept->size);
    }
    rankwell_free_kept(worker);
    return status;
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
    return settle_kept(worker);
}

/* Makes a worker ready for the second pass with what another one has gathered; that one must outlive it. */
int rankwell_share(Worker *worker, const Worker *first)
{
    worker->pass = first->own_is_shared ? SHARE : PLACE;
    worker->is_shared = first->own_is_shared;
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
                                 worker->reading.rule == BY_ID_DESCENDING,
                                 worker->tally.over + first + query, worker->tally.tied + first,
                                 worker->tally.below + first, &worker->hits);
    }
    return status;
}
