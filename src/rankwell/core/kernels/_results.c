/* What a worker found, for Python: arrays as bytes. */

#include "_reader.h"

static PyObject *unknown_of(const Names *names)
{
    PyObject *const counts = PyDict_New();
    for (size_t each = 0; counts && each < names->size; each++) {
        const size_t place = names->places[each];
        PyObject *const name =
            PyBytes_FromStringAndSize((char *)names->text + place, (Py_ssize_t)(names->places[each + 1] - place));
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
    return Py_BuildValue("y#Ny#y#y#y#y#(y#y#y#y#y#)", (char *)worker->retrieved, (Py_ssize_t)worker->table->queries * 8, unknown,
                         hits->row ? (char *)hits->row : "", size, hits->score ? (char *)hits->score : "", size,
                         hits->above ? (char *)hits->above : "", size, hits->tied ? (char *)hits->tied : "", size,
                         hits->before ? (char *)hits->before : "", size, worker->top_query ? (char *)worker->top_query : "", tops,
                         worker->top_size ? (char *)worker->top_size : "", tops,
                         worker->top_length ? (char *)worker->top_length : "", rows,
                         worker->top_score ? (char *)worker->top_score : "", rows,
                         worker->top_text ? (char *)worker->top_text : "", (Py_ssize_t)worker->top_text_size);
}

static PyMethodDef functions[] = {
    {"reader_results", reader_results, METH_O,
     "reader_results(worker) -> (retrieved, unknown, row, score, above, tied, before, top)"},
    {NULL, NULL, 0, NULL},
};

int rankwell_add_results(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
