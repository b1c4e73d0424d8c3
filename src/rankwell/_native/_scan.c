/* The reading of runs line by line: of those whose queries stand together, and both passes over the others. */

#include "_scan.h"

#include <math.h>

#include "_decimals.h"

int rankwell_start(Worker *worker, const Table *table, const Reading *reading)
{
    memset(worker, 0, sizeof *worker);
    worker->table = table;
    worker->reading = *reading;
    worker->retrieved = calloc(table->queries + 1, sizeof(int64_t));
    return worker->retrieved ? DONE : NO_MEMORY;
}

void rankwell_free(Worker *worker)
{
    void *const all[] = {
        worker->retrieved,   worker->hits.row,        worker->hits.above,    worker->hits.tied,
        worker->hits.before, worker->hits.score,      worker->query,         worker->scores,
        worker->offsets,     worker->sizes,           worker->seen,          worker->names,
        worker->found,       worker->tally.over,      worker->tally.tied,    worker->tally.below,
        worker->top_text,    worker->top_query,       worker->top_size,      worker->top_length,
        worker->top_score,   worker->own_first_found, worker->own_is_shared, worker->prints,
        worker->stretches,
    };
    rankwell_free_names(&worker->unknown);
    rankwell_free_names(&worker->items);
    rankwell_free_kept(worker);
    for (size_t each = 0; each < sizeof all / sizeof *all; each++)
        free(all[each]);
    for (size_t part = 0; part < PARTITIONS; part++)
        for (Chunk *chunk = worker->chunks[part]; chunk;) {
            Chunk *const next = chunk->next;
            free(chunk);
            chunk = next;
        }
    memset(worker, 0, sizeof *worker);
}

/* The score of a line as it is compared; ODD where it is none. */
INLINE int read_score(const Worker *worker, const Line *line, int ranked, int single, double *score)
{
    if (!read_number(line->value, line->value_size, score)
        && !worker->reading.convert(worker->context, line->value, line->value_size, score))
        return ODD;
    if (ranked) {
        if (*score != floor(*score) || *score < 0)
            return ODD;
        *score = -*score;
    }
    if (single)
        *score = rounded(*score);
    return DONE;
}

/* What a line came to; where it is odd, the worker knows from now on where it ends. */
static int note_odd(Worker *worker, const Line *line, int status)
{
    if (status == ODD)
        worker->odd = worker->place + line->next;
    return status;
}

/* Makes a line's query the one that is being read. */
static int enter_query(Worker *worker, const Line *line)
{
    const size_t size = line->query_size;
    if (size > SIZE_MAX / 2 || !make_room(&worker->query, &worker->query_room, size + SLACK, 1))
        return NO_MEMORY;
    memcpy(worker->query, line->query, size);
    memset(worker->query + size, 0, SLACK);
    worker->query_size = size;
    worker->query_word = up_to_eight(worker->query, size);
    worker->position = find_query(worker->table, worker->query, size);
    worker->begun = 1;
    if (worker->position < 0 && worker->pass != PLACE && worker->pass != SHARE) {
        const int64_t entry = rankwell_name_entry(&worker->unknown, worker->query, size);
        if (entry < 0)
            return NO_MEMORY;
        worker->entry = (size_t)entry;
        if (worker->pass == LISTS)
            worker->position = entry;
    }
    return DONE;
}

INLINE int is_new_query(const Worker *worker, const Line *line)
{
    const size_t size = line->query_size;
    return size != worker->query_size || up_to_eight(line->query, size) != worker->query_word
           || !worker->begun || (size > 8 && memcmp(line->query, worker->query, size) != 0);
}

/* Where the first of a line's two names begins: the item may stand before the query. */
INLINE size_t first_name(const uint8_t *text, const Line *line)
{
    return (size_t)((line->item < line->query ? line->item : line->query) - text);
}

/* Begins the rows of a judged query. */
static int begin_rows(Worker *worker, size_t start)
{
    const size_t slots = power_of_two(256, 4 * worker->rows);
    if ((worker->pass == LISTS ? worker->unknown.counts : worker->retrieved)[worker->position])
        return SCATTERED;
    worker->start = start;
    worker->rows = worker->n_found = 0;
    worker->falling = 1;
    if (!make_room(&worker->seen, &worker->seen_room, slots, sizeof(uint64_t)))
        return NO_MEMORY;
    worker->seen_mask = slots - 1;
    memset(worker->seen, 0, slots * sizeof(uint64_t));
    return DONE;
}

static int widen_seen(Worker *worker)
{
    const size_t slots = worker->seen_mask + 1, mask = 4 * slots - 1;
    uint64_t *const wider = calloc(mask + 1, sizeof(uint64_t));
    if (!wider)
        return NO_MEMORY;
    for (size_t old = 0; old < slots; old++)
        if (worker->seen[old]) {
            size_t slot = worker->seen[old] & mask;
            while (wider[slot])
                slot = (slot + 1) & mask;
            wider[slot] = worker->seen[old];
        }
    free(worker->seen);
    worker->seen = wider;
    worker->seen_room = mask + 1;
    worker->seen_mask = mask;
    return DONE;
}

/* Remembers a mark; ODD for one that is known. */
INLINE int remember(Worker *worker, uint64_t mark)
{
    if (2 * worker->rows > worker->seen_mask && widen_seen(worker))
        return NO_MEMORY;
    size_t slot = mark & worker->seen_mask;
    for (; worker->seen[slot]; slot = (slot + 1) & worker->seen_mask)
        if (worker->seen[slot] == mark)
            return ODD;
    worker->seen[slot] = mark;
    return DONE;
}

/* One more row of the query that is being read. A hash that is there already may be a duplicate. lists: in the pass of that name. */
INLINE int add_row(Worker *worker, const uint8_t *text, const Line *line, double score, int lists)
{
    const size_t row = worker->rows;
    const uint64_t hash = hash_of(line->item, line->item_size);
    const int status = remember(worker, hash ? hash : 1);
    if (status)
        return status;
    if (row >= worker->sizes_room
        && (!make_room(&worker->scores, &worker->scores_room, row + 1, sizeof(double))
            || !make_room(&worker->offsets, &worker->offsets_room, row + 1, sizeof(uint32_t))
            || !make_room(&worker->sizes, &worker->sizes_room, row + 1, sizeof(uint32_t))))
        return NO_MEMORY;
    worker->falling &= row == 0 || score < worker->scores[row - 1];
    worker->scores[row] = score;
    worker->offsets[row] = (uint32_t)((size_t)(line->item - text) - worker->start);
    worker->sizes[row] = (uint32_t)line->item_size;
    worker->rows = row + 1;
    if (lists)
        return DONE;
    const int64_t judged =
        find_item(worker->table, (size_t)worker->position, hash, line->item, line->item_size);
    if (judged < 0)
        return DONE;
    if (!make_room(&worker->found, &worker->found_room, worker->n_found + 1, sizeof(Found)))
        return NO_MEMORY;
    worker->found[worker->n_found++] = (Found){.score = score, .place = row, .row = (size_t)judged};
    return DONE;
}

/* The next line from `at` on and before `end` that says something; `at` moves behind it. 1, 0 where there is none, or ODD. */
INLINE int take_line(const Worker *worker, Form form, const uint8_t *text, size_t *at, size_t end,
                     Line *line)
{
    while (*at < end) {
        const int status = next_line(&worker->reading, form, text, *at, end, line);
        *at = line->next;
        if (status)
            return status;
    }
    return 0;
}

INLINE int read_whole(Worker *worker, const uint8_t *text, size_t end, Form form, int lists)
{
    Line line;
    double score;
    size_t at = worker->parsed;
    int status;
    while ((status = take_line(worker, form, text, &at, end, &line)) > 0) {
        if (is_new_query(worker, &line)
            && ((status = rankwell_finish_query(worker, text))
                || (status = enter_query(worker, &line))
                || (worker->position >= 0
                    && (status = begin_rows(worker, first_name(text, &line))))))
            return status;
        if (worker->position < 0) {
            /* That there is a score must be seen; what it is need not be worked out. */
            double unused;
            if ((status = read_score(worker, &line, form.ranked, 0, &unused)))
                return note_odd(worker, &line, status);
            const int64_t count = ++worker->unknown.counts[worker->entry];
            worker->unordered |= form.ranked && unused != -(double)count;
        } else if ((status = read_score(worker, &line, form.ranked,
                                        worker->reading.single_precision, &score))
                   || (status = add_row(worker, text, &line, score, lists)))
            return note_odd(worker, &line, status);
    }
    worker->parsed = end;
    return note_odd(worker, &line, status);
}

/* One row of a query that several files share, which does not come as a line. */
static int take_shared_row(Worker *worker, const Line *row, double score, int is_new)
{
    const int status = is_new ? enter_query(worker, row) : DONE;
    if (status || worker->position < 0 || !worker->is_shared[worker->position])
        return status;
    return rankwell_count_shared(worker, row,
                                 worker->reading.single_precision ? rounded(score) : score);
}

/* One row that does not come as a line, after all those before it. Its bytes are copied, for slack must stand behind a name. */
int rankwell_take_row(Worker *worker, const Line *row, double score)
{
    int status;
    Line line = *row;
    if (score - score != 0.0)
        return ODD;
    const int is_new = !worker->begun || row->query_size != worker->query_size
                       || memcmp(row->query, worker->query, row->query_size) != 0;
    if (worker->pass == SHARE)
        return take_shared_row(worker, row, score, is_new);
    if (is_new) {
        if ((status = rankwell_finish_query(worker, worker->names))
            || (status = enter_query(worker, row))
            || (worker->position >= 0 && (status = begin_rows(worker, 0))))
            return status;
        worker->names_size = 0;
    }
    if (worker->position < 0) {
        worker->unknown.counts[worker->entry]++;
        return DONE;
    }
    if (worker->names_size + row->item_size > UINT32_MAX / 2)
        return SCATTERED;
    if (!make_room(&worker->names, &worker->names_room, worker->names_size + row->item_size + SLACK,
                   1))
        return NO_MEMORY;
    uint8_t *const name = worker->names + worker->names_size;
    memcpy(name, row->item, row->item_size);
    memset(name + row->item_size, 0, SLACK);
    worker->names_size += row->item_size;
    line.item = name;
    return add_row(worker, worker->names, &line,
                   worker->reading.single_precision ? rounded(score) : score,
                   worker->pass == LISTS);
}

/* Closes what such rows left open. */
int rankwell_end_rows(Worker *worker)
{
    const int status = worker->pass == SHARE ? DONE : rankwell_finish_query(worker, worker->names);
    worker->begun = 0;
    return status;
}

static int is_trec(const Form *form)
{
    return form->fields == 6 && form->query == 0 && form->item == 2 && form->value == 4
           && !form->ranked;
}

/* The lines up to `end`, which stands behind a newline; the query that is being read stays open. */
int rankwell_read_whole(Worker *worker, const uint8_t *text, size_t end)
{
    const Form trec = {6, 0, 2, 4, 0}, form = worker->reading.form;
    if (worker->pass == LISTS)
        return is_trec(&form) ? read_whole(worker, text, end, trec, 1)
                              : read_whole(worker, text, end, form, 1);
    return is_trec(&form) ? read_whole(worker, text, end, trec, 0)
                          : read_whole(worker, text, end, form, 0);
}

/* Hashes of items that differ by query, so that one item may stand in several; never 0. */
INLINE uint64_t mark_of(const Worker *worker, uint64_t hash)
{
    uint64_t mark = hash + worker->table->query_hashes[worker->position] * 0x9E3779B97F4A7C15u;
    mark ^= mark >> 32;
    mark *= 0xC2B2AE3D27D4EB4Fu;
    mark ^= mark >> 29;
    return mark ? mark : 1;
}

/* One line of any run, remembered by its query and item. */
static int look_for_twin(Worker *worker, const Line *line)
{
    if (!worker->seen) {
        if (!make_room(&worker->seen, &worker->seen_room, 256, sizeof(uint64_t)))
            return NO_MEMORY;
        worker->seen_mask = 255;
        memset(worker->seen, 0, 256 * sizeof(uint64_t));
    }
    const int status = remember(worker, mark_of(worker, hash_of(line->item, line->item_size)));
    worker->rows++;
    return status;
}

/* One line of a run whose queries do not stand together: counted, and kept where it is judged. */
INLINE int collect(Worker *worker, const uint8_t *text, const Line *line, double score)
{
    const uint64_t hash = hash_of(line->item, line->item_size), mark = mark_of(worker, hash);
    const size_t query = (size_t)worker->position;
    const uint64_t at = worker->place + (uint64_t)(line->query - text);
    Chunk **const chunks = &worker->chunks[mark >> 56];
    if (!*chunks || (*chunks)->size == CHUNK) {
        Chunk *const chunk = malloc(sizeof(Chunk));
        if (!chunk)
            return NO_MEMORY;
        chunk->next = *chunks;
        chunk->size = 0;
        *chunks = chunk;
    }
    (*chunks)->hashes[(*chunks)->size++] = mark;
    worker->retrieved[query]++;
    if (worker->reading.keep && rankwell_keep_row(worker, line, score, at))
        return NO_MEMORY;
    const int64_t judged = find_item(worker->table, query, hash, line->item, line->item_size);
    if (judged < 0)
        return DONE;
    if (!make_room(&worker->found, &worker->found_room, worker->n_found + 1, sizeof(Found)))
        return NO_MEMORY;
    const size_t *const place = worker->table->places + worker->table->queries + judged;
    worker->found[worker->n_found++] = (Found){
        .score = score,
        .name = worker->table->text + place[0],
        .size = place[1] - place[0],
        .place = at,
        .query = query,
        .row = (size_t)judged,
    };
    return DONE;
}

/* One line of such a run when the judged items are known. */
INLINE void place(Worker *worker, const uint8_t *text, const Line *line, double score)
{
    const size_t query = (size_t)worker->position, first = worker->first_found[query];
    const size_t at = (size_t)(line->query - text);
    const Found row = {
        .score = score, .name = line->item, .size = line->item_size, .place = worker->place + at};
    rankwell_count_row(worker->every + first, worker->first_found[query + 1] - first, &row,
                       worker->reading.rule != BY_INPUT, worker->tally.over + first + query,
                       worker->tally.tied + first, worker->tally.below + first);
}

INLINE int read_scattered(Worker *worker, const uint8_t *text, size_t end, Form form, int pass)
{
    Line line;
    double score;
    size_t at = worker->parsed;
    int status;
    while ((status = take_line(worker, form, text, &at, end, &line)) > 0) {
        if (is_new_query(worker, &line) && (status = enter_query(worker, &line)))
            return status;
        if (pass == PLACE
            && (worker->position < 0
                || worker->first_found[worker->position]
                       == worker->first_found[worker->position + 1]))
            continue;
        if (pass == SHARE && (worker->position < 0 || !worker->is_shared[worker->position]))
            continue;
        if ((status =
                 read_score(worker, &line, form.ranked, worker->reading.single_precision, &score)))
            return note_odd(worker, &line, status);
        if (pass == PLACE)
            place(worker, text, &line, score);
        else if (pass == SHARE) {
            if ((status = rankwell_count_shared(worker, &line, score)))
                return status;
        } else if (worker->position < 0) {
            const int64_t count = ++worker->unknown.counts[worker->entry];
            worker->unordered |= form.ranked && score != -(double)count;
        } else if ((status = pass == COLLECT ? collect(worker, text, &line, score)
                                             : look_for_twin(worker, &line)))
            return note_odd(worker, &line, status);
        else if (pass == COLLECT)
            worker->unordered |=
                form.ranked && score != -(double)worker->retrieved[worker->position];
    }
    worker->parsed = end;
    return note_odd(worker, &line, status);
}

/* The lines up to `end` in the first pass over a run whose queries do not stand together. */
int rankwell_read_scattered(Worker *worker, const uint8_t *text, size_t end)
{
    if (worker->pass == TWICE)
        return read_scattered(worker, text, end, worker->reading.form, TWICE);
    if (is_trec(&worker->reading.form))
        return read_scattered(worker, text, end, (Form){6, 0, 2, 4, 0}, COLLECT);
    return read_scattered(worker, text, end, worker->reading.form, COLLECT);
}

/* The same lines in the second pass, or among items of several files. */
int rankwell_place_scattered(Worker *worker, const uint8_t *text, size_t end)
{
    if (worker->pass == SHARE && is_trec(&worker->reading.form))
        return read_scattered(worker, text, end, (Form){6, 0, 2, 4, 0}, SHARE);
    if (worker->pass == SHARE)
        return read_scattered(worker, text, end, worker->reading.form, SHARE);
    if (is_trec(&worker->reading.form))
        return read_scattered(worker, text, end, (Form){6, 0, 2, 4, 0}, PLACE);
    return read_scattered(worker, text, end, worker->reading.form, PLACE);
}
