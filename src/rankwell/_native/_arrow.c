/* Runs that come as columns: batches with the texts of query and item and a double for the score. */

#include "_arrow.h"

enum { QUERY, ITEM, SCORE, COLUMNS };

/* A column of texts. wide: whether its offsets have 64 bits. first: the row of its buffers at which the batch begins. */
typedef struct {
    const uint8_t *valid, *text, *offsets;
    int wide;
    int64_t first;
} Texts;

static int is_text(const struct ArrowSchema *schema)
{
    return !schema->dictionary && (schema->format[0] == 'u' || schema->format[0] == 'U')
           && !schema->format[1];
}

/* Which of the two columns of texts are wide: bit 0 and bit 1; ODD where the columns are not the expected ones. */
static int kinds_of(struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema = {0};
    int kinds = ODD;
    if (stream->get_schema(stream, &schema))
        return ODD;
    if (strcmp(schema.format, "+s") == 0 && schema.n_children == COLUMNS
        && is_text(schema.children[QUERY]) && is_text(schema.children[ITEM])
        && strcmp(schema.children[SCORE]->format, "g") == 0)
        kinds = (schema.children[QUERY]->format[0] == 'U')
                | (schema.children[ITEM]->format[0] == 'U') << 1;
    if (schema.release)
        schema.release(&schema);
    return kinds;
}

/* Which values there are, a bit each; NULL for all of them. */
static const uint8_t *valid_of(const struct ArrowArray *array)
{
    return array->null_count ? array->buffers[0] : NULL;
}

static Texts texts_of(const struct ArrowArray *batch, int column, int wide)
{
    const struct ArrowArray *const own = batch->children[column];
    return (Texts){
        .valid = valid_of(own),
        .offsets = own->buffers[1],
        .text = own->buffers[2],
        .wide = wide,
        .first = batch->offset + own->offset,
    };
}

INLINE int is_valid(const uint8_t *valid, int64_t row)
{
    return !valid || (valid[row >> 3] >> (row & 7) & 1);
}

/* Where a text begins. A slice of another library's memory may have numbers at any address. */
INLINE int64_t begin_of(const Texts *texts, int64_t place)
{
    int64_t wide;
    int32_t narrow;
    if (texts->wide) {
        memcpy(&wide, texts->offsets + place * (int64_t)sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, texts->offsets + place * (int64_t)sizeof narrow, sizeof narrow);
    return narrow;
}

/* A text, or NULL where there is none. */
INLINE const uint8_t *text_at(const Texts *texts, int64_t row, size_t *size)
{
    const int64_t place = texts->first + row;
    if (!is_valid(texts->valid, place))
        return NULL;
    const int64_t begin = begin_of(texts, place), stop = begin_of(texts, place + 1);
    *size = (size_t)(stop - begin);
    return stop > begin ? texts->text + begin : NULL;
}

static int take_batch(Worker *worker, const struct ArrowArray *batch, int kinds)
{
    const Texts queries = texts_of(batch, QUERY, kinds & 1),
                items = texts_of(batch, ITEM, kinds >> 1);
    const struct ArrowArray *const column = batch->children[SCORE];
    const uint8_t *const whole = valid_of(batch), *const valid = valid_of(column),
                         *const scores = column->buffers[1];
    const int64_t first = batch->offset + column->offset;
    int status = DONE;
    for (int64_t row = 0; row < batch->length && !status; row++) {
        Line line = {0};
        double score;
        line.query = text_at(&queries, row, &line.query_size);
        line.item = text_at(&items, row, &line.item_size);
        if (!line.query || !line.item || !is_valid(whole, batch->offset + row)
            || !is_valid(valid, first + row))
            return ODD;
        memcpy(&score, scores + (first + row) * (int64_t)sizeof score, sizeof score);
        status = rankwell_take_row(worker, &line, score);
    }
    return status;
}

/* The rows of the next batches of a stream; 1 where it may have more, and DONE once the last was read. batches: 0 for all. */
int rankwell_take_stream(Worker *worker, struct ArrowArrayStream *stream, ptrdiff_t batches)
{
    const int kinds = kinds_of(stream);
    int status = kinds < 0 ? kinds : DONE;
    for (ptrdiff_t each = 0; !status; each++) {
        if (batches && each == batches)
            return 1;
        struct ArrowArray batch = {0};
        if (stream->get_next(stream, &batch))
            return ODD;
        if (!batch.release)
            break;
        status = take_batch(worker, &batch, kinds);
        batch.release(&batch);
    }
    return status ? status : rankwell_end_rows(worker);
}
