/* Run files: the judged items of each query are looked up while the lines go by, everything else is only counted.

   This is plain C, free of Python. A worker is fed the bytes of whole parts of a file, several workers may run at a
   time on one table. What is not an ordinary run ends with ODD, and the worker then knows where the first such line ends. */

#ifndef RANKWELL_SCAN_H
#define RANKWELL_SCAN_H

#include "_table.h"

#include <float.h>
#include <math.h>

/* TWICE: nothing is kept; the first line that seems to repeat an item of its query is ODD. SHARE: as PLACE, of the rows of one file
   among items of several, by one worker; prints of the rows' items are kept. LISTS: as WHOLE_QUERIES, but every query counts, whose
   position is its number among the unknown, and the first items are kept as numbers. */
enum { WHOLE_QUERIES = 0, COLLECT = 1, PLACE = 2, TWICE = 3, SHARE = 4, LISTS = 5 };
enum { BY_INPUT = 0, BY_ID = 1, BY_ID_DESCENDING = 2 };

/* Which field of a line is what. ranked: the value is a rank, and its negative the score. */
typedef struct {
    int fields, query, item, value, ranked;
} Form;

/* rule: how ties are broken. keep: how many first items of each query are kept. convert: a number that is not read here. */
typedef struct {
    Form form;
    int rule, single_precision, comments, trailing;
    size_t keep;
    int (*convert)(void *context, const uint8_t *text, size_t size, double *value);
} Reading;

/* A judged item that was found. key: its bytes, or its place in the file where ties are broken by that. */
typedef struct {
    double score;
    const uint8_t *name;
    size_t size;
    uint64_t place;
    size_t query, row;
} Found;

/* Rows counted by where they fall among the found items of their query, which are put by score and then by key. */
typedef struct {
    int64_t *over; /* (items + 1,) by how many items have a lower score */
    int64_t *tied; /* (items,) rows with the score of an item, at the first item of that score */
    int64_t *below; /* (items,) those of them by the first item whose key is not lower */
    size_t over_room, tied_room, below_room;
} Tally;

typedef struct {
    int64_t *row, *above, *tied, *before;
    double *score;
    size_t size, row_room, above_room, tied_room, before_room, score_room;
} Hits;

enum { PARTITIONS = 256, CHUNK = 1022 };

typedef struct Chunk {
    struct Chunk *next;
    size_t size;
    uint64_t hashes[CHUNK];
} Chunk;

/* The first rows of a query whose lines stand anywhere, twice as many as wanted at most; their names are copies of their own. */
typedef struct {
    Found *rows;
    size_t size, room;
    int pruned; /* whether the first `keep` of them stand in front, in order */
} Kept;

/* Rows of one query, one behind the other. end: of their prints. */
typedef struct {
    size_t query, end;
} Stretch;

typedef struct {
    const Table *table;
    Reading reading;
    void *context;
    int64_t *retrieved; /* (queries,) */
    Names unknown;
    Hits hits;

    /* The query of the line before. position: -1 where it is not judged, and then entry is its number among the unknown. */
    uint8_t *query;
    size_t query_size, query_room, entry;
    uint64_t query_word;
    int64_t position;
    int begun;
    int unordered; /* whether ranks of some query are other than 1, 2, 3, … in the order of the lines */

    /* The text. parsed: bytes of it that were read. start: where the query that is being read begins. place: bytes before it. */
    size_t parsed, start;
    uint64_t place;
    uint64_t odd; /* where in the file the line ends that was ODD */

    /* The rows of the query that is being read. offset: of the item, from the start. */
    double *scores;
    uint32_t *offsets, *sizes;
    size_t rows, scores_room, offsets_room, sizes_room;
    int falling;
    uint64_t *seen;
    size_t seen_room, seen_mask;
    /* What the items of these rows are called, where rows do not come as text. */
    uint8_t *names;
    size_t names_size, names_room;
    Found *found;
    size_t n_found, found_room;
    Tally tally;

    /* The first items, where they are kept. */
    uint8_t *top_text;
    int64_t *top_query, *top_size, *top_length;
    double *top_score;
    size_t top_text_size, top_text_room, top_query_room, top_size_room, top_length_room,
        top_score_room, tops, top_rows;
    /* Of LISTS: all items, whose numbers are then in top_length; and how many of them were handed back. */
    Names items;
    size_t known_items;

    /* Scattered lines: the first and the second pass over them. first_found: (queries + 1,) where the found items of each query
       begin; shared in the second pass. */
    int pass;
    Chunk *chunks[PARTITIONS];
    const Found *every;
    const size_t *first_found;
    size_t *own_first_found;
    Kept *kept; /* (queries,) where first rows are kept */

    /* Queries that several files share. is_shared: (queries,) which ones, of the worker that has their items. */
    uint8_t *own_is_shared;
    const uint8_t *is_shared;
    uint64_t *prints;
    Stretch *stretches;
    size_t n_prints, prints_room, n_stretches, stretches_room;
} Worker;

/* A line that says something. next: where the following one begins. */
typedef struct {
    const uint8_t *query, *item, *value;
    size_t query_size, item_size, value_size, next;
} Line;

int rankwell_start(Worker *worker, const Table *table, const Reading *reading);
void rankwell_free(Worker *worker);
int rankwell_read_whole(Worker *worker, const uint8_t *text, size_t end);
int rankwell_finish_query(Worker *worker, const uint8_t *text);
int rankwell_take_row(Worker *worker, const Line *row, double score);
int rankwell_end_rows(Worker *worker);
int rankwell_read_scattered(Worker *worker, const uint8_t *text, size_t end);
int rankwell_place_scattered(Worker *worker, const uint8_t *text, size_t end);
int rankwell_absorb(Worker *worker, Worker *other);
int rankwell_any_twice(Worker *const *workers, size_t count, size_t part, size_t parts);
int rankwell_keep_row(Worker *worker, const Line *line, double score, uint64_t place);
int rankwell_absorb_kept(Worker *worker, Worker *other);
void rankwell_free_kept(Worker *worker);
int rankwell_gather(Worker *worker);
int rankwell_share(Worker *worker, const Worker *first);
int rankwell_settle_scattered(Worker *worker);
int rankwell_count_shared(Worker *worker, const Line *line, double score);

int rankwell_compare_falling(const void *one, const void *other);
int rankwell_add_top(Worker *worker, int64_t query, const Found *found, size_t kept);
int rankwell_make_tally(Tally *tally, size_t items, size_t queries);
void rankwell_sort_found(Found *found, size_t size, int by_name);
void rankwell_count_row(const Found *found, size_t size, const Found *row, int by_name,
                        int64_t *over, int64_t *tied, int64_t *below);
int rankwell_settle(const Found *found, size_t size, int descending, const int64_t *over,
                    const int64_t *tied, const int64_t *below, Hits *hits);

/* A score as it is compared in single precision. The conversion of a number beyond the largest is defined by IEEE 754 alone, not by C. */
INLINE double rounded(double score)
{
    const double most = (double)FLT_MAX + ldexp(1.0, 103);
    return score >= most ? HUGE_VAL : score <= -most ? -HUGE_VAL : (double)(float)score;
}

/* Keeps a field where it is one of those to be read. */
INLINE void take_field(const Form *form, int field, const uint8_t *begin, size_t size, Line *line)
{
    if (field == form->query)
        line->query = begin, line->query_size = size;
    else if (field == form->item)
        line->item = begin, line->item_size = size;
    else if (field == form->value)
        line->value = begin, line->value_size = size;
}

/* The fields of a line with any white space; 1 for a line, 0 for an empty one, ODD for one with another number of them. */
static inline int split_line(const Reading *reading, const uint8_t *text, size_t at, size_t end,
                             Line *line)
{
    const Form *form = &reading->form;
    const uint8_t *const stop = memchr(text + at, '\n', end - at);
    const uint8_t *place = text + at;
    int fields = 0;
    line->next = (size_t)(stop - text) + 1;
    for (;; fields++) {
        while (place < stop && is_white(*place))
            place++;
        if (place == stop)
            break;
        const uint8_t *const begin = place;
        if (fields == 0 && reading->comments && *begin == '#')
            return 0;
        while (place < stop && !is_white(*place))
            place++;
        take_field(form, fields, begin, (size_t)(place - begin), line);
    }
    return fields == 0                                                              ? 0
           : fields == form->fields || (fields > form->fields && reading->trailing) ? 1
                                                                                    : ODD;
}

/* The line that begins at `at` where it is at most 64 bytes with single blanks, or single tabs, between its fields; else 0. Nothing
   is decided by where the fields end, so that processors need not guess it. */
INLINE int short_line(Form form, const uint8_t *text, size_t at, Line *line)
{
    const uint8_t *const begin = text + at;
    const uint64_t blanks = blank_or_below(begin);
    uint64_t rest = blanks;
    UNROLLED
    for (int field = 1; field < form.fields; field++)
        rest &= rest - 1;
    if (!rest)
        return 0;
    const uint64_t own = blanks & (rest ^ (rest - 1));
    const uint8_t *const stop = begin + lowest_bit(rest);
    const int carriage = *stop == '\r';
    if ((own & (own << 1 | 1)) || stop[carriage] != '\n')
        return 0;
    const uint8_t *field_begin = begin;
    uint8_t all = 0xFF, any = 0;
    rest = blanks;
    UNROLLED
    for (int field = 0; field < form.fields; field++) {
        const uint8_t *const field_stop = begin + lowest_bit(rest);
        if (field < form.fields - 1) {
            all &= *field_stop;
            any |= *field_stop;
        }
        rest &= rest - 1;
        take_field(&form, field, field_begin, (size_t)(field_stop - field_begin), line);
        field_begin = field_stop + 1;
    }
    line->next = (size_t)(stop - text) + 1 + (size_t)carriage;
    return all == ' ' || (all == '\t' && any == '\t');
}

/* The same of a line of any length, whose fields are searched one after the other. */
INLINE int long_line(Form form, const uint8_t *text, size_t at, Line *line)
{
    const uint8_t *begin = text + at, *base = begin;
    uint64_t rest = blank_or_below(base);
    UNROLLED
    for (int field = 0; field < form.fields; field++) {
        while (!rest)
            rest = blank_or_below(base += 64);
        const uint8_t *const stop = base + lowest_bit(rest);
        rest &= rest - 1;
        if (stop == begin)
            return 0;
        take_field(&form, field, begin, (size_t)(stop - begin), line);
        if (field == form.fields - 1) {
            const int carriage = *stop == '\r';
            line->next = (size_t)(stop - text) + 1 + (size_t)carriage;
            return stop[carriage] == '\n';
        }
        if (*stop != ' ' && *stop != '\t')
            return 0;
        begin = stop + 1;
    }
    return 0;
}

/* The line that begins at `at`, before `end`, which stands behind a newline; as `split_line`. */
INLINE int next_line(const Reading *reading, Form form, const uint8_t *text, size_t at, size_t end,
                     Line *line)
{
    if (!(reading->comments && text[at] == '#')
        && (short_line(form, text, at, line) || long_line(form, text, at, line)))
        return 1;
    return split_line(reading, text, at, end, line);
}

#endif
