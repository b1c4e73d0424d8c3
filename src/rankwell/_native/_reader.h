/* What the parts of the reader know of each other and of Python; each adds its functions to the module. */

#ifndef RANKWELL_READER_H
#define RANKWELL_READER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "_scan.h"

/* What the capsule of a table is called. */
extern const char RANKWELL_TABLE[];

/* table, first: the capsules whose memory the worker reads. state: of the thread that runs it without the interpreter's lock. */
typedef struct {
    Worker worker;
    PyObject *table, *first;
    PyThreadState *state;
    int busy;
} Held;

Held *rankwell_worker_in(PyObject *capsule);
int rankwell_add_tables(PyObject *module);
int rankwell_add_reader(PyObject *module);
int rankwell_add_results(PyObject *module);
int rankwell_add_rows(PyObject *module);
int rankwell_add_shared(PyObject *module);
int rankwell_add_mappings(PyObject *module);
int rankwell_add_mapped(PyObject *module);

#endif
