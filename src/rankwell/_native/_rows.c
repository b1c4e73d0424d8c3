/* Every row of a TREC run for Python: ids as text, numbers as bytes. */

#include "_reader.h"

#include "_decimals.h"

/* A number as Python's float reads it; 0 for what is none, not finite, or has underscores. */
static int read_any(const uint8_t *text, size_t size, double *number)
{
    char *stop = NULL;
    if (read_number(text, size, number))
        return 1;
    char *const copy = PyMem_Malloc(size + 1);
    if (!copy)
        return 0;
    memcpy(copy, text, size);
    copy[size] = '\0';
    *number = PyOS_string_to_double(copy, &stop, NULL);
    const int good = !PyErr_Occurred() && stop == copy + size && *number - *number == 0.0;
    PyErr_Clear();
    PyMem_Free(copy);
    return good;
}

/* The rank follows the item; NaN where that field is not a number. */
static double rank_behind(const Line *line)
{
    const uint8_t *begin = line->item + line->item_size, *stop;
    double rank;
    while (is_white(*begin))
        begin++;
    for (stop = begin; !is_white(*stop);)
        stop++;
    return read_any(begin, (size_t)(stop - begin), &rank) ? rank : (double)NAN;
}

/* Adds a text to a list, the one before where that has the same bytes; 0 with an exception set. */
static int add_text(PyObject *list, PyObject **last, Line *before, const Line *line)
{
    if (!*last || before->query_size != line->query_size
        || memcmp(before->query, line->query, line->query_size) != 0) {
        Py_XDECREF(*last);
        *last = PyUnicode_DecodeUTF8((const char *)line->query, (Py_ssize_t)line->query_size,
                                     "surrogateescape");
    }
    *before = *line;
    return *last && PyList_Append(list, *last) == 0;
}

/* Adds the lines of a text; DONE, ODD for a line that is none, NO_MEMORY with an exception set. numbers: scores, ranks, lines. */
static int add_lines(const Reading *reading, const uint8_t *text, size_t size, PyObject *queries,
                     PyObject *items, PyObject *numbers[3])
{
    PyObject *query = NULL;
    Line line = {0}, before = {0};
    double score;
    int status = DONE;
    int64_t number = 1;
    char *const to[3] = {PyBytes_AsString(numbers[0]), PyBytes_AsString(numbers[1]),
                         PyBytes_AsString(numbers[2])};
    size_t row = 0;
    for (size_t at = 0; at < size && !status; at = line.next, number++) {
        const int found = next_line(reading, reading->form, text, at, size, &line);
        if (found <= 0) {
            status = found;
            continue;
        }
        if (!read_any(line.value, line.value_size, &score)) {
            status = ODD;
            continue;
        }
        PyObject *const item = PyUnicode_DecodeUTF8((const char *)line.item,
                                                    (Py_ssize_t)line.item_size, "surrogateescape");
        const int good =
            item && PyList_Append(items, item) == 0 && add_text(queries, &query, &before, &line);
        Py_XDECREF(item);
        const double rank = rank_behind(&line);
        memcpy(to[0] + 8 * row, &score, 8);
        memcpy(to[1] + 8 * row, &rank, 8);
        memcpy(to[2] + 8 * row++, &number, 8);
        status = good ? DONE : NO_MEMORY;
    }
    Py_XDECREF(query);
    return status;
}

static PyObject *reader_rows(PyObject *self, PyObject *arguments)
{
    Py_buffer buffer;
    Py_ssize_t size, lines = 0;
    Reading reading = {.form = {6, 0, 2, 4, 0}};
    PyObject *parts[5] = {0}, *rows = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "y*npp", &buffer, &size, &reading.comments, &reading.trailing))
        return NULL;
    const uint8_t *const text = buffer.buf;
    if (size < 1 || size > buffer.len - SLACK || text[size - 1] != '\n') {
        PyErr_SetString(PyExc_ValueError,
                        "the buffer is too small for what is in it, or the last line has no end");
        PyBuffer_Release(&buffer);
        return NULL;
    }
    for (const uint8_t *end = text; (end = memchr(end, '\n', (size_t)(text + size - end))); end++)
        lines++;
    int good = (parts[0] = PyList_New(0)) && (parts[1] = PyList_New(0));
    for (int part = 2; part < 5; part++)
        good = good && (parts[part] = PyBytes_FromStringAndSize(NULL, 8 * lines));
    const int status =
        good ? add_lines(&reading, text, (size_t)size, parts[0], parts[1], parts + 2) : NO_MEMORY;
    if (status == ODD)
        rows = Py_BuildValue("");
    else if (status == DONE)
        rows = PyTuple_Pack(5, parts[0], parts[1], parts[2], parts[3], parts[4]);
    for (int part = 0; part < 5; part++)
        Py_XDECREF(parts[part]);
    PyBuffer_Release(&buffer);
    return rows;
}

static PyMethodDef functions[] = {
    {"reader_rows", reader_rows, METH_VARARGS,
     "reader_rows(buffer, size, comments, trailing) -> (queries, items, scores, ranks, lines), "
     "None where a line is none"},
    {NULL, NULL, 0, NULL},
};

int rankwell_add_rows(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
