/* The reading of judgments. ODD for any but an ordinary file of them: the caller's other reader raises the error. */

#include "_judgments.h"

#include "_decimals.h"

void rankwell_free_judging(Judging *judging)
{
    rankwell_free_names(&judging->queries);
    free(judging->rows);
    free(judging->order);
    free(judging->offsets);
    memset(judging, 0, sizeof *judging);
}

/* The three fields of a line with single tabs between them; none may be empty. */
static int split_tabs(const uint8_t *text, size_t at, size_t end, Line *line)
{
    const uint8_t *const begin = text + at, *const stop = memchr(begin, '\n', end - at);
    const uint8_t *const first = memchr(begin, '\t', (size_t)(stop - begin));
    const uint8_t *const second =
        first ? memchr(first + 1, '\t', (size_t)(stop - first - 1)) : NULL;
    line->next = (size_t)(stop - text) + 1;
    if (!second || memchr(second + 1, '\t', (size_t)(stop - second - 1)) || first == begin
        || second == first + 1 || stop == second + 1)
        return ODD;
    *line = (Line){
        .query = begin,
        .item = first + 1,
        .value = second + 1,
        .query_size = (size_t)(first - begin),
        .item_size = (size_t)(second - first - 1),
        .value_size = (size_t)(stop - second - 1),
        .next = line->next,
    };
    return 1;
}

/* Whether these bytes are an integer in its plain form; other tools differ about all other forms. */
static int is_plain(const uint8_t *text, size_t size)
{
    const int negative = size && *text == '-';
    text += negative;
    size -= (size_t)negative;
    for (size_t each = 0; each < size; each++)
        if (text[each] < '0' || text[each] > '9')
            return 0;
    return size > 0 && size <= 15 && !(negative && *text == '0');
}

/* The field behind the query of a line. */
static void find_aspect(const Line *line, Judged *row)
{
    const uint8_t *begin = line->query + line->query_size;
    while (is_white(*begin))
        begin++;
    row->aspect = begin;
    while (!is_white(*begin))
        begin++;
    row->aspect_size = (size_t)(begin - row->aspect);
}

static int add_judged(Judging *judging, const Line *line, const Qrels *qrels)
{
    const Judged *const before = judging->size ? judging->rows + judging->size - 1 : NULL;
    Judged row = {.item = line->item, .item_size = line->item_size};
    if (qrels->tabs && !is_plain(line->value, line->value_size))
        return ODD;
    if (!read_number(line->value, line->value_size, &row.grade) || row.grade - row.grade != 0.0)
        return ODD;
    if (qrels->aspects)
        find_aspect(line, &row);
    const size_t *const place = before ? judging->queries.places + before->query : NULL;
    if (place && place[1] - place[0] == line->query_size
        && memcmp(judging->queries.text + place[0], line->query, line->query_size) == 0)
        row.query = before->query;
    else {
        const int64_t entry = rankwell_name_entry(&judging->queries, line->query, line->query_size);
        if (entry < 0)
            return NO_MEMORY;
        row.query = (size_t)entry;
    }
    if (!make_room(&judging->rows, &judging->room, judging->size + 1, sizeof(Judged)))
        return NO_MEMORY;
    judging->queries.counts[row.query]++;
    judging->rows[judging->size++] = row;
    return DONE;
}

static int compare_judged(const void *one, const void *other)
{
    const Judged *const left = one, *const right = other;
    const int order = order_of(left->aspect, left->aspect_size, right->aspect, right->aspect_size);
    return order ? order : order_of(left->item, left->item_size, right->item, right->item_size);
}

typedef struct {
    const uint8_t *name;
    size_t size, entry;
} Named;

static int compare_named(const void *one, const void *other)
{
    const Named *const left = one, *const right = other;
    return order_of(left->name, left->size, right->name, right->size);
}

/* Puts the queries by their bytes and finds where the rows of each will begin. starts: (queries,) the same by entry. */
static int order_queries(Judging *judging, size_t *starts)
{
    const Names *const queries = &judging->queries;
    Named *const named = malloc((queries->size + 1) * sizeof *named);
    judging->order = malloc((queries->size + 1) * sizeof *judging->order);
    judging->offsets = malloc((queries->size + 1) * sizeof *judging->offsets);
    if (!named || !judging->order || !judging->offsets) {
        free(named);
        return NO_MEMORY;
    }
    for (size_t entry = 0; entry < queries->size; entry++)
        named[entry] = (Named){queries->text + queries->places[entry],
                               queries->places[entry + 1] - queries->places[entry], entry};
    if (queries->size > 1)
        qsort(named, queries->size, sizeof *named, compare_named);
    judging->offsets[0] = 0;
    for (size_t place = 0; place < queries->size; place++) {
        const size_t entry = named[place].entry;
        judging->order[place] = entry;
        starts[entry] = (size_t)judging->offsets[place];
        judging->offsets[place + 1] = judging->offsets[place] + queries->counts[entry];
    }
    free(named);
    return DONE;
}

/* Puts the rows in their order; ODD where an item stands there twice. */
static int sort_rows(Judging *judging)
{
    const size_t queries = judging->queries.size;
    size_t *const starts = malloc((queries + 1) * sizeof *starts);
    Judged *const sorted = malloc((judging->size + 1) * sizeof *sorted);
    int status = starts && sorted ? order_queries(judging, starts) : NO_MEMORY;
    if (status) {
        free(starts);
        free(sorted);
        return status;
    }
    for (size_t row = 0; row < judging->size; row++)
        sorted[starts[judging->rows[row].query]++] = judging->rows[row];
    free(starts);
    free(judging->rows);
    judging->rows = sorted;
    for (size_t query = 0; query < queries && !status; query++) {
        Judged *const rows = sorted + judging->offsets[query];
        const size_t size = (size_t)(judging->offsets[query + 1] - judging->offsets[query]);
        int rising = 1;
        for (size_t row = 1; row < size && rising; row++)
            rising = compare_judged(rows + row - 1, rows + row) < 0;
        if (rising)
            continue;
        qsort(rows, size, sizeof *rows, compare_judged);
        for (size_t row = 1; row < size && !status; row++)
            status = compare_judged(rows + row - 1, rows + row) ? DONE : ODD;
    }
    return status;
}

/* Reads a text that ends with a newline and has slack behind it. */
int rankwell_read_judgments(Judging *judging, const uint8_t *text, size_t size, const Qrels *qrels)
{
    const Reading reading = {.form = {.fields = 4, .query = 0, .item = 2, .value = 3}};
    Line line = {0};
    int status = DONE;
    if (size == 0
        || (qrels->tabs
            && (memchr(text, '"', size) || memchr(text, '\r', size) || memchr(text, 0, size))))
        return ODD;
    for (size_t at = 0; at < size && !status; at = line.next) {
        if (qrels->comments && text[at] == '#') {
            line.next = (size_t)((const uint8_t *)memchr(text + at, '\n', size - at) - text) + 1;
            continue;
        }
        const int found = qrels->tabs ? split_tabs(text, at, size, &line)
                                      : next_line(&reading, reading.form, text, at, size, &line);
        status = found < 0 ? found : found ? add_judged(judging, &line, qrels) : DONE;
    }
    if (status || judging->size == 0)
        return status ? status : ODD;
    return sort_rows(judging);
}
