/* Judgments for Python: read from bytes, and as tables in capsules that workers ask. */

#include "_reader.h"

#include "_judgments.h"

const char RANKWELL_TABLE[] = "rankwell._native._native.table";

static void free_table(PyObject *capsule)
{
    Table *const table = PyCapsule_GetPointer(capsule, RANKWELL_TABLE);
    if (table) {
        rankwell_free_table(table);
        PyMem_Free(table);
    }
}

/* The bytes of ids, one behind the other, from `at` on; -1 with an exception set. */
static Py_ssize_t add_names(Table *table, size_t *room, PyObject *names, Py_ssize_t count,
                            size_t *place, size_t at)
{
    for (Py_ssize_t each = 0; each < count; each++) {
        PyObject *const name = PySequence_GetItem(names, each);
        PyObject *const raw =
            name ? PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape") : NULL;
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
static int fill_table(Table *table, PyObject *queries, PyObject *items, const int64_t *offsets,
                      Py_ssize_t n_offsets)
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
    if (at < 0
        || add_names(table, &room, items, n_items, table->places + n_queries, (size_t)at) < 0)
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
        capsule = PyCapsule_New(table, RANKWELL_TABLE, free_table);
    if (table && !capsule) {
        rankwell_free_table(table);
        PyMem_Free(table);
    }
    PyBuffer_Release(&offsets);
    return capsule;
}

static PyObject *text_of(const uint8_t *text, size_t size, int tabs)
{
    /* Tables of other tools hold UTF-8 only; the ids of TREC's files are bytes. */
    return PyUnicode_DecodeUTF8((const char *)text, (Py_ssize_t)size,
                                tabs ? NULL : "surrogateescape");
}

static PyObject *queries_of(const Judging *judging, int tabs)
{
    const Names *const names = &judging->queries;
    PyObject *const queries = PyTuple_New((Py_ssize_t)names->size);
    for (size_t place = 0; queries && place < names->size; place++) {
        const size_t *const bounds = names->places + judging->order[place];
        PyObject *const name = text_of(names->text + bounds[0], bounds[1] - bounds[0], tabs);
        if (!name || PyTuple_SetItem(queries, (Py_ssize_t)place, name)) {
            Py_DECREF(queries);
            return NULL;
        }
    }
    return queries;
}

/* The items of all rows, or their aspects, of which neighbours that are equal share one text. */
static PyObject *column_of(const Judging *judging, int aspects, int tabs)
{
    PyObject *const column = PyList_New((Py_ssize_t)judging->size);
    PyObject *last = NULL;
    for (size_t row = 0; column && row < judging->size; row++) {
        const Judged *const own = judging->rows + row, *const before = own - (row > 0);
        if (aspects && row
            && order_of(own->aspect, own->aspect_size, before->aspect, before->aspect_size) == 0)
            Py_INCREF(last);
        else
            last = aspects ? text_of(own->aspect, own->aspect_size, tabs)
                           : text_of(own->item, own->item_size, tabs);
        if (!last || PyList_SetItem(column, (Py_ssize_t)row, last)) {
            Py_DECREF(column);
            return NULL;
        }
    }
    return column;
}

static PyObject *grades_of(const Judging *judging)
{
    PyObject *const grades =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(judging->size * sizeof(double)));
    char *place = grades ? PyBytes_AsString(grades) : NULL;
    for (size_t row = 0; grades && row < judging->size; row++, place += sizeof(double))
        memcpy(place, &judging->rows[row].grade, sizeof(double));
    return grades;
}

static PyObject *rows_of(const Judging *judging, const Qrels *qrels)
{
    const Py_ssize_t offsets = (Py_ssize_t)((judging->queries.size + 1) * sizeof(int64_t));
    PyObject *parts[5] = {0};
    const int good =
        (parts[0] = queries_of(judging, qrels->tabs))
        && (parts[1] = PyBytes_FromStringAndSize((char *)judging->offsets, offsets))
        && (parts[2] = column_of(judging, 0, qrels->tabs)) && (parts[3] = grades_of(judging))
        && (parts[4] = qrels->aspects ? column_of(judging, 1, qrels->tabs) : Py_BuildValue(""));
    PyObject *const rows =
        good ? PyTuple_Pack(5, parts[0], parts[1], parts[2], parts[3], parts[4]) : NULL;
    for (size_t part = 0; part < 5; part++)
        Py_XDECREF(parts[part]);
    return rows;
}

static PyObject *reader_judgments(PyObject *self, PyObject *arguments)
{
    Py_buffer buffer;
    Py_ssize_t start, size;
    Qrels qrels = {0};
    Judging judging = {0};
    PyObject *rows = NULL;
    int status = ODD;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "w*nnppp", &buffer, &start, &size, &qrels.tabs,
                          &qrels.comments, &qrels.aspects))
        return NULL;
    uint8_t *const text = buffer.buf;
    if (start < 0 || size < start || size > buffer.len - SLACK - 1
        || (qrels.tabs && qrels.aspects)) {
        PyErr_SetString(
            PyExc_ValueError,
            "the buffer is too small for what is in it, or tabs are combined with aspects");
        PyBuffer_Release(&buffer);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    if (size > start && text[size - 1] != '\n')
        text[size++] = '\n';
    status = rankwell_read_judgments(&judging, text + start, (size_t)(size - start), &qrels);
    Py_END_ALLOW_THREADS
    if (status == DONE)
        rows = rows_of(&judging, &qrels);
    rankwell_free_judging(&judging);
    PyBuffer_Release(&buffer);
    if (status == NO_MEMORY)
        return PyErr_NoMemory();
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
        PyErr_Clear();
    return rows || PyErr_Occurred() ? rows : Py_BuildValue("");
}

static PyMethodDef functions[] = {
    {"reader_table", reader_table, METH_VARARGS, "reader_table(queries, items, offsets) -> table"},
    {"reader_judgments", reader_judgments, METH_VARARGS,
     "reader_judgments(buffer, start, size, tabs, comments, aspects) -> (queries, offsets, items, "
     "grades, aspects), or None"},
    {NULL, NULL, 0, NULL},
};

int rankwell_add_tables(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
