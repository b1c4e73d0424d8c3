/* Files that are mapped into memory: where one is cut short meanwhile, the process ends with a sentence, not with a signal alone. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "_reader.h"

#ifdef _WIN32

/* Windows lets no one cut a file that is mapped. */
static PyObject *watch_mapped(PyObject *self, PyObject *arguments)
{
    (void)self, (void)arguments;
    Py_RETURN_NONE;
}

#else

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define WATCHED 1024
#define LONGEST 400

/* The latest files; an older one, and what others have mapped, is left to the handler that was there before. */
static struct {
    uintptr_t start, end;
    char name[LONGEST];
} watched[WATCHED];
static unsigned next;
static struct sigaction before;

static void say(const char *text)
{
    if (write(2, text, strlen(text)) < 0)
        return;
}

static void cut_short(int number, siginfo_t *about, void *context)
{
    const uintptr_t place = (uintptr_t)about->si_addr;
    (void)context;
    for (unsigned each = 0; each < WATCHED; each++)
        if (watched[each].start <= place && place < watched[each].end) {
            say("rankwell: ");
            say(watched[each].name);
            say(" was cut short while it was read; run this again once nothing writes to it.\n");
            _exit(2);
        }
    /* The access that failed is made again, now under that handler. */
    sigaction(number, &before, NULL);
}

static PyObject *watch_mapped(PyObject *self, PyObject *arguments)
{
    Py_buffer mapped;
    const char *name;
    static int is_set;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "y*y", &mapped, &name))
        return NULL;
    if (!is_set) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = cut_short;
        action.sa_flags = SA_SIGINFO;
        sigemptyset(&action.sa_mask);
        is_set = !sigaction(SIGBUS, &action, &before);
    }
    const unsigned slot = next++ % WATCHED;
    watched[slot].end = 0;
    strncpy(watched[slot].name, name, LONGEST - 1);
    watched[slot].start = (uintptr_t)mapped.buf;
    watched[slot].end = (uintptr_t)mapped.buf + (uintptr_t)mapped.len;
    PyBuffer_Release(&mapped);
    Py_RETURN_NONE;
}

#endif

static PyMethodDef functions[] = {
    {"watch_mapped", watch_mapped, METH_VARARGS,
     "watch_mapped(mapped, name): names the file if a part of it is gone when it is read"},
    {NULL, NULL, 0, NULL},
};

int rankwell_add_mapped(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
