/* Runs that are Python's own mappings. */

#include "_reader.h"

/* The number that an object is, where it is one of Python's own and finite; 0, perhaps with an exception, for any other. */
static int number_in(PyObject *object, double *number)
{
    if (PyFloat_Check(object))
        *number = PyFloat_AsDouble(object);
    else if (PyLong_Check(object))
        *number = PyLong_AsDouble(object);
    else
        return 0;
    return *number - *number == 0.0 && (*number != -1.0 || !PyErr_Occurred());
}

/* Counts the values of a mapping above, and equal to, each of some numbers; 0, perhaps with an exception, where one is not a number,
 * and where some of the keys are strings. */
static int count_values(PyObject *mapping, const double *own, Py_ssize_t size, int single,
                        int64_t *above, int64_t *tied)
{
    PyObject *key, *value;
    Py_ssize_t place = 0;
    double number;
    int kinds = 0;
    while (PyDict_Next(mapping, &place, &key, &value)) {
        if (!number_in(value, &number))
            return 0;
        /* A look at the type itself costs less than the call. */
        kinds |= Py_TYPE(key) == &PyUnicode_Type || PyUnicode_Check(key) ? 1 : 2;
        if (single)
            number = rounded(number);
        for (Py_ssize_t each = 0; each < size; each++) {
            above[each] += number > own[each];
            tied[each] += number == own[each];
        }
    }
    return kinds < 3;
}

static PyObject *mapping_counts(PyObject *self, PyObject *arguments)
{
    PyObject *mapping;
    Py_buffer own, above, tied;
    Py_ssize_t first, size;
    int single, good = 0;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!y*w*w*nnp", &PyDict_Type, &mapping, &own, &above, &tied,
                          &first, &size, &single))
        return NULL;
    const Py_ssize_t room = own.len / 8;
    if (first < 0 || size < 0 || size > room || first > room - size || above.len != own.len
        || tied.len != own.len)
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit each other");
    else {
        good = count_values(mapping, (double *)own.buf + first, size, single,
                            (int64_t *)above.buf + first, (int64_t *)tied.buf + first);
        /* A number that is too large for a double is like one that is none: whoever asked looks at it again. */
        PyErr_Clear();
    }
    PyBuffer_Release(&own);
    PyBuffer_Release(&above);
    PyBuffer_Release(&tied);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(good);
}

static PyMethodDef functions[] = {
    {"mapping_counts", mapping_counts, METH_VARARGS,
     "mapping_counts(mapping, own, above, tied, first, size, single) -> False where a value is not "
     "a finite number, or keys "
     "differ in kind"},
    {NULL, NULL, 0, NULL},
};

int rankwell_add_mappings(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
