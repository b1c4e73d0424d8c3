/* The reader of runs for Python: workers as capsules that are fed with bytes or with columns. */

#include "_reader.h"

#include "_arrow.h"

#include <errno.h>
#ifdef _WIN32
#include <io.h>
#define read(file, to, size) _read(file, to, (unsigned)(size))
#else
#include <unistd.h>
#endif

static const char WORKER[] = "rankwell._native._native.worker";

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
    if (!PyArg_ParseTuple(arguments, "O(iiiip)(ippp)ni", &capsule, &form->fields, &form->query,
                          &form->item, &form->value, &form->ranked, &reading.rule,
                          &reading.single_precision, &reading.comments, &reading.trailing, &keep,
                          &pass))
        return NULL;
    Table *const table = PyCapsule_GetPointer(capsule, RANKWELL_TABLE);
    if (!table)
        return NULL;
    const int last = form->fields - 1;
    if (form->fields < 1 || form->query < 0 || form->query > last || form->item < 0
        || form->item > last || form->value < 0 || form->value > last || reading.rule < BY_INPUT
        || reading.rule > BY_ID_DESCENDING || keep < 0
        || (pass != WHOLE_QUERIES && pass != COLLECT && pass != TWICE && pass != LISTS)
        || (pass == LISTS && !keep) || (pass == LISTS && table->queries)) {
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
Held *rankwell_worker_in(PyObject *capsule)
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
    const int whole = worker->pass == WHOLE_QUERIES || worker->pass == LISTS;
    status = whole ? rankwell_read_whole(worker, text, end)
             : worker->pass == PLACE || worker->pass == SHARE
                 ? rankwell_place_scattered(worker, text, end)
                 : rankwell_read_scattered(worker, text, end);
    const int open = whole && worker->begun && worker->position >= 0;
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
    Held *const held = rankwell_worker_in(capsule);
    int good = held != NULL;
    if (good
        && (filled < 0 || filled > buffer.len - SLACK - 1
            || held->worker.parsed > (size_t)filled)) {
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

/* Bytes of a file up to `size`, behind those that are there; how many there are then, or -1 with errno set. */
static Py_ssize_t fill(int file, uint8_t *text, size_t filled, size_t size)
{
    while (filled < size) {
        const Py_ssize_t got = (Py_ssize_t)read(file, text + filled, size - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -1 : (Py_ssize_t)filled;
        filled += (size_t)got;
    }
    return (Py_ssize_t)filled;
}

static PyObject *reader_read(PyObject *self, PyObject *arguments)
{
    PyObject *capsule;
    Py_buffer buffer;
    Py_ssize_t rest;
    long long place, stop, turn;
    int file, last = 0, failure = 0;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Oiw*nLLL", &capsule, &file, &buffer, &rest, &place, &stop,
                          &turn))
        return NULL;
    Held *const held = rankwell_worker_in(capsule);
    const Py_ssize_t room = buffer.len - SLACK - 1;
    if (!held || rest < 0 || rest >= room || held->worker.parsed > (size_t)rest) {
        if (held)
            PyErr_SetString(PyExc_ValueError, "the buffer is too small for what is in it");
        PyBuffer_Release(&buffer);
        return NULL;
    }
    uint8_t *const text = buffer.buf;
    turn += place;
    held->busy = 1;
    held->state = PyEval_SaveThread();
    while (!last && rest >= 0 && rest < room && place < turn) {
        const Py_ssize_t size =
            stop >= 0 && stop - place < room ? (Py_ssize_t)(stop - place) : room;
        const Py_ssize_t filled = fill(file, text, (size_t)rest, (size_t)size);
        if (filled < 0) {
            failure = errno;
            break;
        }
        last = filled < size || place + filled == stop;
        held->worker.place = (uint64_t)place;
        rest = feed_worker(&held->worker, text, (size_t)filled, last);
        place += filled - (rest > 0 ? rest : 0);
    }
    PyEval_RestoreThread(held->state);
    held->busy = 0;
    PyBuffer_Release(&buffer);
    if (failure) {
        errno = failure;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return rest == NO_MEMORY ? PyErr_NoMemory() : Py_BuildValue("nLi", rest, place, last);
}

/* What a step between the passes came to: the number, or an exception. */
static PyObject *outcome(int status)
{
    return status == NO_MEMORY ? PyErr_NoMemory() : PyLong_FromLong(status);
}

static PyObject *reader_take(PyObject *self, PyObject *arguments)
{
    PyObject *capsule, *columns;
    Py_ssize_t batches;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOn", &capsule, &columns, &batches))
        return NULL;
    Held *const held = rankwell_worker_in(capsule);
    struct ArrowArrayStream *const stream =
        held ? PyCapsule_GetPointer(columns, "arrow_array_stream") : NULL;
    if (!stream)
        return NULL;
    held->busy = 1;
    held->state = PyEval_SaveThread();
    const int status = stream->release ? rankwell_take_stream(&held->worker, stream, batches) : ODD;
    PyEval_RestoreThread(held->state);
    held->busy = 0;
    return outcome(status);
}

/* Where the first line begins whose query is not that of the line before, in a text that may begin within a line; -1 for nowhere.
   Only lines that end within the text are looked at. */
static int64_t first_query(const uint8_t *text, size_t size, int comments)
{
    const uint8_t *const end = text + size, *name = NULL, *line = memchr(text, '\n', size);
    size_t length = 0;
    while (line && ++line < end) {
        const uint8_t *const stop = memchr(line, '\n', (size_t)(end - line)), *begin = line;
        if (!stop)
            return -1;
        while (begin < stop && is_white(*begin))
            begin++;
        const uint8_t *after = begin;
        while (after < stop && !is_white(*after))
            after++;
        if (after > begin && !(comments && *begin == '#')) {
            if (name && ((size_t)(after - begin) != length || memcmp(name, begin, length) != 0))
                return line - text;
            name = begin;
            length = (size_t)(after - begin);
        }
        line = stop;
    }
    return -1;
}

static PyObject *reader_cut(PyObject *self, PyObject *arguments)
{
    Py_buffer text;
    int comments;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "y*p", &text, &comments))
        return NULL;
    const int64_t place = first_query(text.buf, (size_t)text.len, comments);
    PyBuffer_Release(&text);
    return PyLong_FromLongLong(place);
}

static PyObject *reader_absorb(PyObject *self, PyObject *arguments)
{
    PyObject *capsule, *other;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO", &capsule, &other))
        return NULL;
    Held *const held = rankwell_worker_in(capsule), *const from =
                                                        held ? rankwell_worker_in(other) : NULL;
    if (!from)
        return NULL;
    if (from == held || from->table != held->table || from->worker.pass != held->worker.pass
        || from->worker.pass == SHARE || from->worker.pass == LISTS || from->first != held->first) {
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
        Held *const held = rankwell_worker_in(PyTuple_GetItem(listed, each));
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
    Held *const held = rankwell_worker_in(capsule);
    (void)self;
    return held ? outcome(rankwell_gather(&held->worker)) : NULL;
}

static PyObject *reader_share(PyObject *self, PyObject *arguments)
{
    PyObject *capsule, *first;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO", &capsule, &first))
        return NULL;
    Held *const held = rankwell_worker_in(capsule), *const from =
                                                        held ? rankwell_worker_in(first) : NULL;
    if (!from)
        return NULL;
    if (from == held || held->first || from->table != held->table
        || !from->worker.own_first_found) {
        PyErr_SetString(PyExc_ValueError, "the workers do not belong together");
        return NULL;
    }
    Py_INCREF(first);
    held->first = first;
    return outcome(rankwell_share(&held->worker, &from->worker));
}

static PyObject *reader_odd(PyObject *self, PyObject *capsule)
{
    Held *const held = rankwell_worker_in(capsule);
    (void)self;
    return held ? PyLong_FromUnsignedLongLong(held->worker.odd) : NULL;
}

static PyObject *reader_settle(PyObject *self, PyObject *capsule)
{
    Held *const held = rankwell_worker_in(capsule);
    (void)self;
    if (held && !held->first) {
        PyErr_SetString(PyExc_ValueError, "the worker has nothing to settle");
        return NULL;
    }
    return held ? outcome(rankwell_settle_scattered(&held->worker)) : NULL;
}

static PyMethodDef functions[] = {
    {"reader_worker", reader_worker, METH_VARARGS,
     "reader_worker(table, (fields, query, item, value, ranked), (rule, single, comments, "
     "trailing), keep, pass) -> worker"},
    {"reader_feed", reader_feed, METH_VARARGS,
     "reader_feed(worker, buffer, filled, place, last) -> rest, or what is the matter"},
    {"reader_read", reader_read, METH_VARARGS,
     "reader_read(worker, file, buffer, rest, place, stop, turn) -> (rest, or what is the matter; "
     "place; whether that was the "
     "last)"},
    {"reader_take", reader_take, METH_VARARGS,
     "reader_take(worker, stream of query, item, score, batches) -> 1 where more may follow, 0, or "
     "what is the matter"},
    {"reader_cut", reader_cut, METH_VARARGS,
     "reader_cut(text, comments) -> where the query changes, or -1"},
    {"reader_absorb", reader_absorb, METH_VARARGS,
     "reader_absorb(worker, other) -> 0, or what is the matter"},
    {"reader_twice", reader_twice, METH_VARARGS,
     "reader_twice(workers, part, parts) -> whether a hash appears there twice"},
    {"reader_gather", reader_gather, METH_O, "reader_gather(worker) -> 0"},
    {"reader_share", reader_share, METH_VARARGS, "reader_share(worker, first) -> 0"},
    {"reader_odd", reader_odd, METH_O,
     "reader_odd(worker) -> where in the file the line ends that was odd"},
    {"reader_settle", reader_settle, METH_O, "reader_settle(worker) -> 0"},
    {NULL, NULL, 0, NULL},
};

int rankwell_add_reader(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
