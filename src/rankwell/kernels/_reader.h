/* Adds the functions of the reader to the module. */

#ifndef RANKWELL_READER_H
#define RANKWELL_READER_H

#include <Python.h>

int rankwell_add_reader(PyObject *module);

#endif
