/* What a worker found, for Python: arrays as bytes. */

#include "_reader.h"

static PyObject *unknown_of(const Names *names)
{
    PyObject *const counts = PyDict_New();
    for (size_t each = 0; counts && each < names->size; each++) {
        const size_t place = names->places[each];
        PyObject *const name = PyBytes_FromStringAndSize(
            (char *)names->text + place, (Py_ssize_t)(names->places[each + 1] - place));
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
    Held *const held = rankwell_worker_in(capsule);
    (void)self;
    if (!held)
        return NULL;
    const Worker *const worker = &held->worker;
    const Hits *const hits = &worker->hits;
    PyObject *const unknown = unknown_of(&worker->unknown);
    const Py_ssize_t size = (Py_ssize_t)hits->size * 8, tops = (Py_ssize_t)worker->tops * 8,
                     rows = (Py_ssize_t)worker->top_rows * 8;
    if (!unknown)
        return NULL;
    return Py_BuildValue(
        "y#Ny#y#y#y#y#(y#y#y#y#y#)", (char *)worker->retrieved,
        (Py_ssize_t)worker->table->queries * 8, unknown, hits->row ? (char *)hits->row : "", size,
        hits->score ? (char *)hits->score : "", size, hits->above ? (char *)hits->above : "", size,
        hits->tied ? (char *)hits->tied : "", size, hits->before ? (char *)hits->before : "", size,
        worker->top_query ? (char *)worker->top_query : "", tops,
        worker->top_size ? (char *)worker->top_size : "", tops,
        worker->top_length ? (char *)worker->top_length : "", rows,
        worker->top_score ? (char *)worker->top_score : "", rows,
        worker->top_text ? (char *)worker->top_text : "", (Py_ssize_t)worker->top_text_size);
}

static PyObject *reader_ordered(PyObject *self, PyObject *capsule)
{
    Held *const held = rankwell_worker_in(capsule);
    (void)self;
    return held ? PyBool_FromLong(!held->worker.unordered) : NULL;
}

static PyObject *reader_items(PyObject *self, PyObject *arguments)
{
    PyObject *capsule, *names;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO", &capsule, &names))
        return NULL;
    Held *const held = rankwell_worker_in(capsule);
    const Py_ssize_t count = held ? PySequence_Size(names) : -1;
    uint8_t *copy = NULL;
    size_t room = 0;
    int good = count >= 0;
    for (Py_ssize_t each = 0; good && each < count; each++) {
        PyObject *const name = PySequence_GetItem(names, each);
        PyObject *const raw =
            name ? PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape") : NULL;
        const size_t size = raw ? (size_t)PyBytes_Size(raw) : 0;
        good = raw != NULL;
        if (good) {
            /* Slack must be behind a name. */
            int64_t item = NO_MEMORY;
            if (make_room(&copy, &room, size + SLACK, 1)) {
                memcpy(copy, PyBytes_AsString(raw), size);
                item = rankwell_name_entry(&held->worker.items, copy, size);
            }
            if (item != each)
                PyErr_SetString(item < 0 ? PyExc_MemoryError : PyExc_ValueError,
                                "an item is named twice, or there is no memory");
            good = item == each;
        }
        Py_XDECREF(name);
        Py_XDECREF(raw);
    }
    free(copy);
    if (!good)
        return NULL;
    held->worker.known_items = held->worker.items.size;
    return PyLong_FromSsize_t(count);
}

/* Some names as texts; NULL with an exception set. */
static PyObject *texts_of(const Names *names, size_t first, size_t stop)
{
    PyObject *const texts = PyList_New((Py_ssize_t)(stop - first));
    for (size_t each = first; texts && each < stop; each++) {
        const size_t place = names->places[each];
        PyObject *const text =
            PyUnicode_DecodeUTF8((char *)names->text + place,
                                 (Py_ssize_t)(names->places[each + 1] - place), "surrogateescape");
        if (!text || PyList_SetItem(texts, (Py_ssize_t)(each - first), text)) {
            Py_DECREF(texts);
            return NULL;
        }
    }
    return texts;
}

static PyObject *reader_lists(PyObject *self, PyObject *arguments)
{
    PyObject *capsule;
    Py_ssize_t least;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "On", &capsule, &least))
        return NULL;
    Held *const held = rankwell_worker_in(capsule);
    if (!held)
        return NULL;
    Worker *const worker = &held->worker;
    if (!worker->tops || worker->top_rows < (size_t)least)
        return Py_BuildValue("");
    /* Each query has one list, in the order of the file. */
    const size_t first = (size_t)worker->top_query[0];
    PyObject *const queries = texts_of(&worker->unknown, first, first + worker->tops);
    PyObject *const items =
        queries ? texts_of(&worker->items, worker->known_items, worker->items.size) : NULL;
    if (!items) {
        Py_XDECREF(queries);
        return NULL;
    }
    PyObject *const found =
        Py_BuildValue("Ny#y#N", queries, (char *)worker->top_size, (Py_ssize_t)worker->tops * 8,
                      (char *)worker->top_length, (Py_ssize_t)worker->top_rows * 8, items);
    worker->known_items = worker->items.size;
    worker->tops = worker->top_rows = 0;
    return found;
}

static PyMethodDef functions[] = {
    {"reader_results", reader_results, METH_O,
     "reader_results(worker) -> (retrieved, unknown, row, score, above, tied, before, top)"},
    {"reader_ordered", reader_ordered, METH_O,
     "reader_ordered(worker) -> whether the ranks of every query are 1, 2, 3, … in the order of "
     "the lines"},
    {"reader_items", reader_items, METH_VARARGS,
     "reader_items(worker, names) -> their number; those of the pass LISTS, in order"},
    {"reader_lists", reader_lists, METH_VARARGS,
     "reader_lists(worker, least) -> (queries, sizes, items by number, names of new items) since "
     "the last call; None where there "
     "are fewer than so many items"},
    {NULL, NULL, 0, NULL},
};

int rankwell_add_results(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
