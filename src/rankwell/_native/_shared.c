/* Queries that several files share: the rows of one file counted among the judged items of all, and prints of their items, by
   which an item is found that two files list. */

#include "_reader.h"

enum { FACTORS = 256 };

static uint64_t factors[FACTORS];

/* The factor of a place in an id. Source: Steele, Lea and Flood 2014, Fast splittable pseudorandom number generators. */
static uint64_t factor_of(uint64_t place)
{
    uint64_t mixed = (place + 1) * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return mixed ^ mixed >> 31;
}

/* The print of an id, the same in every process and as `item_prints` gives it. */
INLINE uint64_t print_of(const uint8_t *name, size_t size)
{
    const size_t known = size < FACTORS - 1 ? size : FACTORS - 1;
    uint64_t print = 0;
    for (size_t place = 0; place < known; place++)
        print += ((uint64_t)name[place] + 1) * factors[place];
    for (size_t place = known; place < size; place++)
        print += ((uint64_t)name[place] + 1) * factor_of(place);
    return print + ('\n' + 1) * (size < FACTORS ? factors[size] : factor_of(size));
}

/* One row of a shared query: counted among the judged items, and its print kept. */
int rankwell_count_shared(Worker *worker, const Line *line, double score)
{
    const size_t query = (size_t)worker->position, first = worker->first_found[query],
                 row = worker->n_prints;
    const Found found = {.score = score, .name = line->item, .size = line->item_size};
    rankwell_count_row(worker->every + first, worker->first_found[query + 1] - first, &found,
                       worker->reading.rule != BY_INPUT, worker->tally.over + first + query,
                       worker->tally.tied + first, worker->tally.below + first);
    if (row >= worker->prints_room
        && !make_room(&worker->prints, &worker->prints_room, row + 1, sizeof(uint64_t)))
        return NO_MEMORY;
    worker->prints[row] = print_of(line->item, line->item_size);
    worker->n_prints = row + 1;
    if (!worker->n_stretches || worker->stretches[worker->n_stretches - 1].query != query) {
        if (!make_room(&worker->stretches, &worker->stretches_room, worker->n_stretches + 1,
                       sizeof(Stretch)))
            return NO_MEMORY;
        worker->stretches[worker->n_stretches++].query = query;
    }
    worker->stretches[worker->n_stretches - 1].end = row + 1;
    return DONE;
}

/* The items of shared queries in all files become what the first pass would have found. -1 with an exception set. */
static int expect(Worker *worker, const Py_buffer *queries, const Py_buffer *query,
                  const Py_buffer *row, const Py_buffer *score)
{
    const Table *const table = worker->table;
    const size_t size = (size_t)row->len / 8;
    const int64_t *const shared = queries->buf, *const owner = query->buf, *const rows = row->buf;
    int good = worker->pass == COLLECT && !worker->n_found && !worker->own_is_shared
               && query->len == row->len && score->len == row->len && row->len % 8 == 0;
    for (size_t each = 0; good && each < size; each++)
        good = owner[each] >= 0 && (size_t)owner[each] < table->queries && rows[each] >= 0
               && (size_t)rows[each] < table->rows;
    for (Py_ssize_t each = 0; good && each < queries->len / 8; each++)
        good = shared[each] >= 0 && (size_t)shared[each] < table->queries;
    if (!good) {
        PyErr_SetString(PyExc_ValueError, "the worker cannot expect these items");
        return -1;
    }
    if (!(worker->own_is_shared = calloc(table->queries + 1, 1))
        || !make_room(&worker->found, &worker->found_room, size + 1, sizeof(Found))) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t each = 0; each < queries->len / 8; each++)
        worker->own_is_shared[shared[each]] = 1;
    for (size_t each = 0; each < size; each++) {
        const size_t *const place = table->places + table->queries + rows[each];
        worker->found[each] = (Found){
            .score = ((const double *)score->buf)[each],
            .name = table->text + place[0],
            .size = place[1] - place[0],
            .query = (size_t)owner[each],
            .row = (size_t)rows[each],
        };
    }
    worker->n_found = size;
    return 0;
}

static PyObject *reader_expect(PyObject *self, PyObject *arguments)
{
    PyObject *capsule;
    Py_buffer queries, query, row, score;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Oy*y*y*y*", &capsule, &queries, &query, &row, &score))
        return NULL;
    Held *const held = rankwell_worker_in(capsule);
    const int status = held ? expect(&held->worker, &queries, &query, &row, &score) : -1;
    PyBuffer_Release(&queries);
    PyBuffer_Release(&query);
    PyBuffer_Release(&row);
    PyBuffer_Release(&score);
    return status ? NULL : PyLong_FromLong(0);
}

/* The prints query by query; rows becomes the number of those of each query. */
static int group_prints(const Worker *worker, int64_t *rows, uint64_t *prints)
{
    const size_t queries = worker->table->queries;
    size_t *const next = calloc(queries + 1, sizeof(size_t));
    size_t begin = 0;
    if (!next)
        return NO_MEMORY;
    memset(rows, 0, queries * sizeof(int64_t));
    for (size_t each = 0; each < worker->n_stretches; begin = worker->stretches[each++].end)
        rows[worker->stretches[each].query] += (int64_t)(worker->stretches[each].end - begin);
    for (size_t query = 0; query < queries; query++)
        next[query + 1] = next[query] + (size_t)rows[query];
    begin = 0;
    for (size_t each = 0; each < worker->n_stretches; begin = worker->stretches[each++].end) {
        const Stretch own = worker->stretches[each];
        memcpy(prints + next[own.query], worker->prints + begin,
               (own.end - begin) * sizeof(uint64_t));
        next[own.query] += own.end - begin;
    }
    free(next);
    return DONE;
}

static PyObject *reader_prints(PyObject *self, PyObject *capsule)
{
    Held *const held = rankwell_worker_in(capsule);
    (void)self;
    if (!held)
        return NULL;
    const Worker *const worker = &held->worker;
    PyObject *const rows = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)worker->table->queries * 8),
                    *const prints =
                        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)worker->n_prints * 8);
    if (rows && prints
        && group_prints(worker, (int64_t *)PyBytes_AsString(rows),
                        (uint64_t *)PyBytes_AsString(prints))
               == DONE)
        return Py_BuildValue("NN", rows, prints);
    Py_XDECREF(rows);
    Py_XDECREF(prints);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

static PyMethodDef functions[] = {
    {"reader_expect", reader_expect, METH_VARARGS,
     "reader_expect(worker, shared queries, query, row, score) -> 0; the items count as found in "
     "the first pass"},
    {"reader_prints", reader_prints, METH_O,
     "reader_prints(worker) -> (rows of each query, prints of their items by query)"},
    {NULL, NULL, 0, NULL},
};

int rankwell_add_shared(PyObject *module)
{
    for (uint64_t place = 0; place < FACTORS; place++)
        factors[place] = factor_of(place);
    return PyModule_AddFunctions(module, functions);
}
