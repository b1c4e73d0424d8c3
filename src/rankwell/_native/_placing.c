/* Who stands where: the counts that place the judged items of a query among its rows, and what several workers found put together. */

#include "_scan.h"

/* Below, at or above zero as one row comes before, with or after another by rising score, then by rising key. */
INLINE int compare(const Found *one, const Found *other, int by_name)
{
    if (one->score != other->score)
        return one->score < other->score ? -1 : 1;
    if (by_name)
        return order_of(one->name, one->size, other->name, other->size);
    return (one->place > other->place) - (one->place < other->place);
}

static int compare_by_name(const void *one, const void *other)
{
    const Found *const left = one, *const right = other;
    return left->query != right->query ? (left->query < right->query ? -1 : 1)
                                       : compare(left, right, 1);
}

static int compare_by_place(const void *one, const void *other)
{
    const Found *const left = one, *const right = other;
    return left->query != right->query ? (left->query < right->query ? -1 : 1)
                                       : compare(left, right, 0);
}

/* By query, then by rising score, then by rising key. */
void rankwell_sort_found(Found *found, size_t size, int by_name)
{
    if (size > 1)
        qsort(found, size, sizeof(Found), by_name ? compare_by_name : compare_by_place);
}

/* Room for the counts of some items, all of them 0. */
int rankwell_make_tally(Tally *tally, size_t items, size_t queries)
{
    if (!make_room(&tally->over, &tally->over_room, items + queries + 1, sizeof(int64_t))
        || !make_room(&tally->tied, &tally->tied_room, items + 1, sizeof(int64_t))
        || !make_room(&tally->below, &tally->below_room, items + 1, sizeof(int64_t)))
        return NO_MEMORY;
    memset(tally->over, 0, (items + queries + 1) * sizeof(int64_t));
    memset(tally->tied, 0, (items + 1) * sizeof(int64_t));
    memset(tally->below, 0, (items + 1) * sizeof(int64_t));
    return DONE;
}

/* Counts one row of a query among its found items, which are sorted. */
void rankwell_count_row(const Found *found, size_t size, const Found *row, int by_name,
                        int64_t *over, int64_t *tied, int64_t *below)
{
    size_t low = 0, high = size;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (found[middle].score < row->score)
            low = middle + 1;
        else
            high = middle;
    }
    over[low]++;
    if (low == size || found[low].score != row->score)
        return;
    tied[low]++;
    high = size;
    for (size_t least = low; low < high || least > high;) {
        const size_t middle = (low + high) / 2;
        if (compare(found + middle, row, by_name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < size && found[low].score == row->score)
        below[low]++;
}

static int add_hit(Hits *hits, const Found *found, int64_t above, int64_t tied, int64_t before)
{
    const size_t size = hits->size;
    if (!make_room(&hits->row, &hits->row_room, size + 1, sizeof(int64_t))
        || !make_room(&hits->above, &hits->above_room, size + 1, sizeof(int64_t))
        || !make_room(&hits->tied, &hits->tied_room, size + 1, sizeof(int64_t))
        || !make_room(&hits->before, &hits->before_room, size + 1, sizeof(int64_t))
        || !make_room(&hits->score, &hits->score_room, size + 1, sizeof(double)))
        return NO_MEMORY;
    hits->row[size] = (int64_t)found->row;
    hits->score[size] = found->score;
    hits->above[size] = above;
    hits->tied[size] = tied;
    hits->before[size] = before;
    hits->size = size + 1;
    return DONE;
}

/* The hits of one query, all of whose rows have been counted among its found items, each of those itself too. */
int rankwell_settle(const Found *found, size_t size, int descending, const int64_t *over,
                    const int64_t *tied, const int64_t *below, Hits *hits)
{
    int64_t above = 0;
    for (size_t index = 0; index < size; index++)
        above += over[index + 1];
    for (size_t first = 0, next; first < size; first = next) {
        /* upto: rows of this score whose key is at most the item's; the item itself is one of them. */
        int64_t upto = 0;
        for (next = first; next < size && found[next].score == found[first].score; next++) {
            upto += below[next];
            const int64_t before = descending ? tied[first] - upto : upto - 1;
            if (add_hit(hits, found + next, above, tied[first], before))
                return NO_MEMORY;
        }
        for (size_t index = first; index < next; index++)
            above -= over[index + 1];
    }
    return DONE;
}

/* A few items of a query, looked at one by one. */
static int place_few(Worker *worker, const uint8_t *start)
{
    const int rule = worker->reading.rule;
    for (size_t each = 0; each < worker->n_found; each++) {
        const Found *const found = worker->found + each;
        const double score = found->score;
        int64_t above = 0, tied = 0, before = 0;
        for (size_t row = 0; row < worker->rows; row++) {
            above += worker->scores[row] > score;
            tied += worker->scores[row] == score;
        }
        for (size_t row = 0; tied > 1 && row < worker->rows; row++) {
            if (worker->scores[row] != score)
                continue;
            const int order =
                rule == BY_INPUT
                    ? (row > found->place) - (row < found->place)
                    : order_of(start + worker->offsets[row], worker->sizes[row],
                               start + worker->offsets[found->place], worker->sizes[found->place]);
            before += rule == BY_ID_DESCENDING ? order > 0 : order < 0;
        }
        if (add_hit(&worker->hits, found, above, tied, before))
            return NO_MEMORY;
    }
    return DONE;
}

/* Many items of a query, each row looked up among them. */
static int place_many(Worker *worker, const uint8_t *start)
{
    const int by_name = worker->reading.rule != BY_INPUT;
    Tally *const tally = &worker->tally;
    if (rankwell_make_tally(tally, worker->n_found, 1))
        return NO_MEMORY;
    for (size_t each = 0; each < worker->n_found; each++) {
        worker->found[each].name = start + worker->offsets[worker->found[each].place];
        worker->found[each].size = worker->sizes[worker->found[each].place];
    }
    rankwell_sort_found(worker->found, worker->n_found, by_name);
    for (size_t row = 0; row < worker->rows; row++) {
        const Found mine = {.score = worker->scores[row],
                            .name = start + worker->offsets[row],
                            .size = worker->sizes[row],
                            .place = row};
        rankwell_count_row(worker->found, worker->n_found, &mine, by_name, tally->over, tally->tied,
                           tally->below);
    }
    return rankwell_settle(worker->found, worker->n_found, worker->reading.rule == BY_ID_DESCENDING,
                           tally->over, tally->tied, tally->below, &worker->hits);
}

/* From first to last: by falling score, then by the rule, which stands in `row` here. */
int rankwell_compare_falling(const void *one, const void *other)
{
    const Found *const left = one, *const right = other;
    if (left->score != right->score)
        return left->score > right->score ? -1 : 1;
    if (left->row == BY_INPUT)
        return (left->place > right->place) - (left->place < right->place);
    const int order = order_of(left->name, left->size, right->name, right->size);
    return left->row == BY_ID_DESCENDING ? -order : order;
}

/* Adds a query's first items, which are in final order, to those that are handed back. */
int rankwell_add_top(Worker *worker, int64_t query, const Found *found, size_t kept)
{
    if (!make_room(&worker->top_query, &worker->top_query_room, worker->tops + 1, sizeof(int64_t))
        || !make_room(&worker->top_size, &worker->top_size_room, worker->tops + 1, sizeof(int64_t))
        || !make_room(&worker->top_length, &worker->top_length_room, worker->top_rows + kept,
                      sizeof(int64_t))
        || !make_room(&worker->top_score, &worker->top_score_room, worker->top_rows + kept,
                      sizeof(double)))
        return NO_MEMORY;
    worker->top_query[worker->tops] = query;
    worker->top_size[worker->tops++] = (int64_t)kept;
    for (size_t place = 0; place < kept; place++) {
        const size_t size = found[place].size;
        if (worker->pass == LISTS) {
            const int64_t item = rankwell_name_entry(&worker->items, found[place].name, size);
            if (item < 0)
                return NO_MEMORY;
            worker->top_length[worker->top_rows++] = item;
            continue;
        }
        if (!make_room(&worker->top_text, &worker->top_text_room, worker->top_text_size + size, 1))
            return NO_MEMORY;
        memcpy(worker->top_text + worker->top_text_size, found[place].name, size);
        worker->top_text_size += size;
        worker->top_length[worker->top_rows] = (int64_t)size;
        worker->top_score[worker->top_rows++] = found[place].score;
    }
    return DONE;
}

/* Keeps the first items of the query. */
static int keep_top(Worker *worker, const uint8_t *start)
{
    const size_t rows = worker->rows,
                 kept = rows < worker->reading.keep ? rows : worker->reading.keep;
    const size_t wanted = worker->falling ? kept : rows;
    if (!make_room(&worker->found, &worker->found_room, wanted, sizeof(Found)))
        return NO_MEMORY;
    Found *const found = worker->found;
    for (size_t row = 0; row < wanted; row++)
        found[row] = (Found){.score = worker->scores[row],
                             .name = start + worker->offsets[row],
                             .size = worker->sizes[row],
                             .place = row,
                             .row = (size_t)worker->reading.rule};
    if (!worker->falling)
        qsort(found, rows, sizeof(Found), rankwell_compare_falling);
    return rankwell_add_top(worker, worker->position, found, kept);
}

enum { FEW = 4 };

/* Closes the query that is being read: its rows become hits. */
int rankwell_finish_query(Worker *worker, const uint8_t *text)
{
    int status = DONE;
    if (!worker->begun || worker->position < 0)
        return DONE;
    const uint8_t *const start = text + worker->start;
    (worker->pass == LISTS ? worker->unknown.counts : worker->retrieved)[worker->position] =
        (int64_t)worker->rows;
    if (worker->reading.form.ranked && worker->rows)
        worker->unordered |= !worker->falling || worker->scores[0] != -1
                             || worker->scores[worker->rows - 1] != -(double)worker->rows;
    if (worker->falling)
        for (size_t each = 0; each < worker->n_found && !status; each++)
            status = add_hit(&worker->hits, worker->found + each,
                             (int64_t)worker->found[each].place, 1, 0);
    else if (worker->n_found)
        status = worker->n_found <= FEW ? place_few(worker, start) : place_many(worker, start);
    return status ? status : worker->reading.keep ? keep_top(worker, start) : DONE;
}

static int absorb_unknown(Names *names, const Names *others)
{
    for (size_t each = 0; each < others->size; each++) {
        const size_t place = others->places[each];
        const int64_t entry =
            rankwell_name_entry(names, others->text + place, others->places[each + 1] - place);
        if (entry < 0)
            return NO_MEMORY;
        names->counts[entry] += others->counts[each];
    }
    return DONE;
}

/* Adds what another worker read of a file whose queries stand together; SCATTERED where both read lines of a query. */
static int absorb_queries(Worker *worker, const Worker *other)
{
    for (size_t query = 0; query < worker->table->queries; query++) {
        if (worker->retrieved[query] && other->retrieved[query])
            return SCATTERED;
        worker->retrieved[query] += other->retrieved[query];
    }
    for (size_t hit = 0; hit < other->hits.size; hit++) {
        const Found found = {.score = other->hits.score[hit], .row = (size_t)other->hits.row[hit]};
        if (add_hit(&worker->hits, &found, other->hits.above[hit], other->hits.tied[hit],
                    other->hits.before[hit]))
            return NO_MEMORY;
    }
    if (!make_room(&worker->top_query, &worker->top_query_room, worker->tops + other->tops,
                   sizeof(int64_t))
        || !make_room(&worker->top_size, &worker->top_size_room, worker->tops + other->tops,
                      sizeof(int64_t))
        || !make_room(&worker->top_length, &worker->top_length_room,
                      worker->top_rows + other->top_rows, sizeof(int64_t))
        || !make_room(&worker->top_score, &worker->top_score_room,
                      worker->top_rows + other->top_rows, sizeof(double))
        || !make_room(&worker->top_text, &worker->top_text_room,
                      worker->top_text_size + other->top_text_size, 1))
        return NO_MEMORY;
    if (other->tops) {
        memcpy(worker->top_query + worker->tops, other->top_query, other->tops * sizeof(int64_t));
        memcpy(worker->top_size + worker->tops, other->top_size, other->tops * sizeof(int64_t));
        memcpy(worker->top_length + worker->top_rows, other->top_length,
               other->top_rows * sizeof(int64_t));
        memcpy(worker->top_score + worker->top_rows, other->top_score,
               other->top_rows * sizeof(double));
        memcpy(worker->top_text + worker->top_text_size, other->top_text, other->top_text_size);
        worker->tops += other->tops;
        worker->top_rows += other->top_rows;
        worker->top_text_size += other->top_text_size;
    }
    return DONE;
}

/* Adds what another worker read in the same pass. */
int rankwell_absorb(Worker *worker, Worker *other)
{
    const size_t queries = worker->table->queries;
    if (worker->pass == PLACE) {
        const size_t items = worker->first_found[queries];
        for (size_t each = 0; each < items + queries; each++)
            worker->tally.over[each] += other->tally.over[each];
        for (size_t each = 0; each < items; each++) {
            worker->tally.tied[each] += other->tally.tied[each];
            worker->tally.below[each] += other->tally.below[each];
        }
        return DONE;
    }
    worker->unordered |= other->unordered;
    if (absorb_unknown(&worker->unknown, &other->unknown))
        return NO_MEMORY;
    if (worker->pass == WHOLE_QUERIES)
        return absorb_queries(worker, other);
    for (size_t query = 0; query < queries; query++)
        worker->retrieved[query] += other->retrieved[query];
    if (!make_room(&worker->found, &worker->found_room, worker->n_found + other->n_found,
                   sizeof(Found)))
        return NO_MEMORY;
    if (other->n_found)
        memcpy(worker->found + worker->n_found, other->found, other->n_found * sizeof(Found));
    worker->n_found += other->n_found;
    return other->kept ? rankwell_absorb_kept(worker, other) : DONE;
}
