/* The reader of run files for Python: tables and workers as capsules, bytes in, arrays as bytes out. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "_reader.h"
#include "_scan.h"

static const char TABLE[] = "rankwell.kernels._native.table", WORKER[] = "rankwell.kernels._native.worker";

/* needs: the capsules whose memory the worker reads. state: of the thread that runs it without the interpreter's lock. */
typedef struct {
    Worker worker;
    PyObject *table, *first;
    PyThreadState *state;
    int busy;
} Held;

static void free_table(PyObject *capsule)
{
    Table *const table = PyCapsule_GetPointer(capsule, TABLE);
    if (table) {
        rankwell_free_table(table);
        PyMem_Free(table);
    }
}

static void free_worker(PyObject *capsule)
{
    Held *const held = PyCapsule_GetPointer(capsule, WORKER);
    if (held) {
        rankwell_free(&held->worker);
        Py_XDECREF(held->table);
        Py_XDECREF(held->first);
        PyMem_Free(held);
    }
}

/* The bytes of ids, one behind the other, from `at` on; -1 with an exception set. */
static Py_ssize_t add_names(Table *table, size_t *room, PyObject *names, Py_ssize_t count, size_t *place, size_t at)
{
    for (Py_ssize_t each = 0; each < count; each++) {
        PyObject *const name = PySequence_GetItem(names, each);
        PyObject *const raw = name ? PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape") : NULL;
        Py_XDECREF(name);
        if (!raw)
            return -1;
        const size_t size = (size_t)PyBytes_Size(raw);
        const int good = make_room(&table->text, room, at + size + SLACK, 1);
        if (good)
            memcpy(table->text + at, PyBytes_AsString(raw), size);
        Py_DECREF(raw);
        if (!good) {
            PyErr_NoMemory();
            return -1;
        }
        place[each] = at;
        at += size;
    }
    place[count] = at;
    return (Py_ssize_t)at;
}

/* Fills a table; 0 with an exception set. */
static int fill_table(Table *table, PyObject *queries, PyObject *items, const int64_t *offsets, Py_ssize_t n_offsets)
{
    const Py_ssize_t n_queries = PySequence_Size(queries), n_items = PySequence_Size(items);
    size_t room = 0;
    if (n_queries < 0 || n_items < 0)
        return 0;
    int good = n_offsets == n_queries + 1 && offsets[0] == 0 && offsets[n_queries] == n_items;
    for (Py_ssize_t each = 0; good && each < n_queries; each++)
        good = offsets[each] <= offsets[each + 1];
    if (!good) {
        PyErr_SetString(PyExc_ValueError, "the offsets do not fit the queries and items");
        return 0;
    }
    table->queries = (size_t)n_queries;
    table->rows = (size_t)n_items;
    table->places = calloc((size_t)(n_queries + n_items) + 1, sizeof(size_t));
    table->first_slot = calloc((size_t)n_queries + 1, sizeof(size_t));
    if (!table->places || !table->first_slot || !make_room(&table->text, &room, SLACK, 1)) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t each = 0; each < n_queries; each++)
        table->first_slot[each + 1] = (size_t)(offsets[each + 1] - offsets[each]);
    const Py_ssize_t at = add_names(table, &room, queries, n_queries, table->places, 0);
    if (at < 0 || add_names(table, &room, items, n_items, table->places + n_queries, (size_t)at) < 0)
        return 0;
    if (rankwell_build_table(table)) {
        PyErr_NoMemory();
        return 0;
    }
    return 1;
}

static PyObject *reader_table(PyObject *self, PyObject *arguments)
{
    PyObject *queries, *items, *capsule = NULL;
    Py_buffer offsets;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOy*", &queries, &items, &offsets))
        return NULL;
    Table *const table = PyMem_Calloc(1, sizeof(Table));
    if (!table)
        PyErr_NoMemory();
    else if (fill_table(table, queries, items, offsets.buf, offsets.len / 8))
        capsule = PyCapsule_New(table, TABLE, free_table);
    if (table && !capsule) {
        rankwell_free_table(table);
        PyMem_Free(table);
    }
    PyBuffer_Release(&offsets);
    return capsule;
}

/* A number in a notation that the kernel does not read, as Python's float reads it. */
static int convert(void *context, const uint8_t *text, size_t size, double *value)
{
    Held *const held = context;
    char *const copy = malloc(size + 1);
    char *stop = NULL;
    if (!copy)
        return 0;
    memcpy(copy, text, size);
    copy[size] = '\0';
    PyEval_RestoreThread(held->state);
    *value = PyOS_string_to_double(copy, &stop, NULL);
    const int good = !PyErr_Occurred() && stop == copy + size;
    PyErr_Clear();
    held->state = PyEval_SaveThread();
    free(copy);
    /* Neither infinite nor NaN, for those differ from themselves when taken from themselves. */
    return good && *value - *value == 0.0;
}

static PyObject *reader_worker(PyObject *self, PyObject *arguments)
{
    PyObject *capsule, *made;
    Reading reading = {.convert = convert};
    Form *const form = &reading.form;
    Py_ssize_t keep;
    int pass;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O(iiiip)(ippp)ni", &capsule, &form->fields, &form->query, &form->item, &form->value,
                          &form->ranked, &reading.rule, &reading.single_precision, &reading.comments, &reading.trailing, &keep,
                          &pass))
        return NULL;
    Table *const table = PyCapsule_GetPointer(capsule, TABLE);
    if (!table)
        return NULL;
    const int last = form->fields - 1;
    if (form->fields < 1 || form->query < 0 || form->query > last || form->item < 0 || form->item > last || form->value < 0
        || form->value > last || reading.rule < BY_INPUT || reading.rule > BY_ID_DESCENDING || keep < 0
        || (pass != WHOLE_QUERIES && pass != COLLECT)) {
        PyErr_SetString(PyExc_ValueError, "there is no such field, rule or pass");
        return NULL;
    }
    reading.keep = (size_t)keep;
    Held *const held = PyMem_Calloc(1, sizeof(Held));
    if (!held || rankwell_start(&held->worker, table, &reading)) {
        PyMem_Free(held);
        return PyErr_NoMemory();
    }
    held->worker.context = held;
    held->worker.pass = pass;
    made = PyCapsule_New(held, WORKER, free_worker);
    if (!made) {
        rankwell_free(&held->worker);
        PyMem_Free(held);
        return NULL;
    }
    Py_INCREF(capsule);
    held->table = capsule;
    return made;
}

/* The worker in a capsule; NULL with an exception set where it is none, or another thread is at it. */
static Held *worker_in(PyObject *capsule)
{
    Held *const held = PyCapsule_GetPointer(capsule, WORKER);
    if (held && held->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the worker is at work in another thread");
        return NULL;
    }
    return held;
}

/* Reads the lines of a text and moves what must be seen again to its beginning; how much that is, or what is the matter. */
static Py_ssize_t feed_worker(Worker *worker, uint8_t *text, size_t filled, int last)
{
    size_t end = filled;
    int status;
    if (last && filled && text[filled - 1] != '\n') {
        text[filled++] = '\n';
        end = filled;
    }
    while (end > worker->parsed && text[end - 1] != '\n')
        end--;
    status = worker->pass == WHOLE_QUERIES ? rankwell_read_whole(worker, text, end)
             : worker->pass == COLLECT     ? rankwell_read_scattered(worker, text, end)
                                           : rankwell_place_scattered(worker, text, end);
    const int open = worker->pass == WHOLE_QUERIES && worker->begun && worker->position >= 0;
    if (last && !status) {
        if (open)
            status = rankwell_finish_query(worker, text);
        worker->begun = 0;
        worker->parsed = worker->start = 0;
        return status;
    }
    if (status)
        return status;
    const size_t kept = open ? worker->start : worker->parsed;
    memmove(text, text + kept, filled - kept);
    worker->parsed -= kept;
    worker->start = 0;
    return (Py_ssize_t)(filled - kept);
}

static PyObject *reader_feed(PyObject *self, PyObject *arguments)
{
    PyObject *capsule;
    Py_buffer buffer;
    Py_ssize_t filled, rest = ODD;
    long long place;
    int last;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Ow*nLp", &capsule, &buffer, &filled, &place, &last))
        return NULL;
    Held *const held = worker_in(capsule);
    int good = held != NULL;
    if (good && (filled < 0 || filled > buffer.len - SLACK - 1 || held->worker.parsed > (size_t)filled)) {
        PyErr_SetString(PyExc_ValueError, "the buffer is too small for what is in it");
        good = 0;
    }
    if (good) {
        held->busy = 1;
        held->worker.place = (uint64_t)place;
        held->state = PyEval_SaveThread();
        rest = feed_worker(&held->worker, buffer.buf, (size_t)filled, last);
        PyEval_RestoreThread(held->state);
        held->busy = 0;
    }
    PyBuffer_Release(&buffer);
    if (!good)
        return NULL;
    return rest == NO_MEMORY ? PyErr_NoMemory() : PyLong_FromSsize_t(rest);
}

static PyObject *reader_cut(PyObject *self, PyObject *arguments)
{
    Py_buffer text;
    int comments;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "y*p", &text, &comments))
        return NULL;
    const int64_t place = rankwell_cut(text.buf, (size_t)text.len, comments);
    PyBuffer_Release(&text);
    return PyLong_FromLongLong(place);
}

/* What a step between the passes came to: the number, or an exception. */
static PyObject *outcome(int status)
{
    return status == NO_MEMORY ? PyErr_NoMemory() : PyLong_FromLong(status);
}

static PyObject *reader_absorb(PyObject *self, PyObject *arguments)
{
    PyObject *capsule, *other;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO", &capsule, &other))
        return NULL;
    Held *const held = worker_in(capsule), *const from = held ? worker_in(other) : NULL;
    if (!from)
        return NULL;
    if (from == held || from->table != held->table || from->worker.pass != held->worker.pass || from->first != held->first) {
        PyErr_SetString(PyExc_ValueError, "the workers do not belong together");
        return NULL;
    }
    return outcome(rankwell_absorb(&held->worker, &from->worker));
}

static PyObject *reader_twice(PyObject *self, PyObject *arguments)
{
    PyObject *listed;
    Py_ssize_t part, parts;
    Worker **workers;
    int twice = NO_MEMORY;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!nn", &PyTuple_Type, &listed, &part, &parts))
        return NULL;
    const Py_ssize_t count = PyTuple_Size(listed);
    if (part < 0 || parts < 1) {
        PyErr_SetString(PyExc_ValueError, "there is no such part");
        return NULL;
    }
    workers = PyMem_Malloc((size_t)(count + 1) * sizeof *workers);
    if (!workers)
        return PyErr_NoMemory();
    for (Py_ssize_t each = 0; each < count; each++) {
        Held *const held = worker_in(PyTuple_GetItem(listed, each));
        if (!held) {
            PyMem_Free(workers);
            return NULL;
        }
        workers[each] = &held->worker;
    }
    Py_BEGIN_ALLOW_THREADS
    twice = rankwell_any_twice(workers, (size_t)count, (size_t)part, (size_t)parts);
    Py_END_ALLOW_THREADS
    PyMem_Free(workers);
    return outcome(twice);
}

static PyObject *reader_gather(PyObject *self, PyObject *capsule)
{
    Held *const held = worker_in(capsule);
    (void)self;
    return held ? outcome(rankwell_gather(&held->worker)) : NULL;
}

static PyObject *reader_share(PyObject *self, PyObject *arguments)
{
    PyObject *capsule, *first;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO", &capsule, &first))
        return NULL;
    Held *const held = worker_in(capsule), *const from = held ? worker_in(first) : NULL;
    if (!from)
        return NULL;
    if (from == held || held->first || from->table != held->table || !from->worker.own_first_found) {
        PyErr_SetString(PyExc_ValueError, "the workers do not belong together");
        return NULL;
    }
    Py_INCREF(first);
    held->first = first;
    return outcome(rankwell_share(&held->worker, &from->worker));
}

static PyObject *reader_settle(PyObject *self, PyObject *capsule)
{
    Held *const held = worker_in(capsule);
    (void)self;
    if (held && !held->first) {
        PyErr_SetString(PyExc_ValueError, "the worker has nothing to settle");
        return NULL;
    }
    return held ? outcome(rankwell_settle_scattered(&held->worker)) : NULL;
}

static PyObject *unknown_of(const Names *names)
{
    PyObject *const counts = PyDict_New();
    for (size_t each = 0; counts && each < names->size; each++) {
        const size_t place = names->places[each];
        PyObject *const name = PyBytes_FromStringAndSize((char *)names->text + place, (Py_ssize_t)(names->places[each + 1] - place));
        PyObject *const number = PyLong_FromLongLong(names->counts[each]);
        const int good = name && number && PyDict_SetItem(counts, name, number) == 0;
        Py_XDECREF(name);
        Py_XDECREF(number);
        if (!good) {
            Py_DECREF(counts);
            return NULL;
        }
    }
    return counts;
}

static PyObject *reader_results(PyObject *self, PyObject *capsule)
{
    Held *const held = worker_in(capsule);
    (void)self;
    if (!held)
        return NULL;
    const Worker *const worker = &held->worker;
    const Hits *const hits = &worker->hits;
    PyObject *const unknown = unknown_of(&worker->unknown);
    const Py_ssize_t size = (Py_ssize_t)hits->size * 8, tops = (Py_ssize_t)worker->tops * 8, rows = (Py_ssize_t)worker->top_rows * 8;
    if (!unknown)
        return NULL;
    return Py_BuildValue("y#Ny#y#y#y#y#(y#y#y#y#y#)", (char *)worker->retrieved, (Py_ssize_t)worker->table->queries * 8, unknown,
                         hits->row ? (char *)hits->row : "", size, hits->score ? (char *)hits->score : "", size,
                         hits->above ? (char *)hits->above : "", size, hits->tied ? (char *)hits->tied : "", size,
                         hits->before ? (char *)hits->before : "", size,
                         worker->top_query ? (char *)worker->top_query : "", tops,
                         worker->top_size ? (char *)worker->top_size : "", tops,
                         worker->top_length ? (char *)worker->top_length : "", rows,
                         worker->top_score ? (char *)worker->top_score : "", rows,
                         worker->top_text ? (char *)worker->top_text : "", (Py_ssize_t)worker->top_text_size);
}

static PyMethodDef functions[] = {
    {"reader_table", reader_table, METH_VARARGS, "reader_table(queries, items, offsets) -> table"},
    {"reader_worker", reader_worker, METH_VARARGS,
     "reader_worker(table, (fields, query, item, value, ranked), (rule, single, comments, trailing), keep, scattered) -> worker"},
    {"reader_feed", reader_feed, METH_VARARGS, "reader_feed(worker, buffer, filled, place, last) -> rest, or what is the matter"},
    {"reader_cut", reader_cut, METH_VARARGS, "reader_cut(text, comments) -> where the query changes, or -1"},
    {"reader_absorb", reader_absorb, METH_VARARGS, "reader_absorb(worker, other) -> 0, or what is the matter"},
    {"reader_twice", reader_twice, METH_VARARGS, "reader_twice(workers, part, parts) -> whether a hash stands there twice"},
    {"reader_gather", reader_gather, METH_O, "reader_gather(worker) -> 0"},
    {"reader_share", reader_share, METH_VARARGS, "reader_share(worker, first) -> 0"},
    {"reader_settle", reader_settle, METH_O, "reader_settle(worker) -> 0"},
    {"reader_results", reader_results, METH_O,
     "reader_results(worker) -> (retrieved, unknown, row, score, above, tied, before, top)"},
    {NULL, NULL, 0, NULL},
};

int rankwell_add_reader(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
