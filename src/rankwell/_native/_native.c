/* What NumPy needs several passes for, in one: an optional extension behind CPython's stable ABI.

   Every function gives what the NumPy code beside it gives, to the last bit; without a compiler that code does the work.
   Nothing here allocates Python objects or raises while the interpreter's lock is released. */

#include "_reader.h"

#include <math.h>

/* The same code for several processors, chosen when the library is loaded; products and sums are never fused. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define FOR_EVERY_PROCESSOR                                                                        \
    __attribute__((target_clones("avx512f", "avx2", "default"), optimize("O3")))
#else
#define FOR_EVERY_PROCESSOR
#endif

#if defined(__GNUC__)
#define ALWAYS_INLINE __attribute__((always_inline))
#else
#define ALWAYS_INLINE
#endif

enum { STRIDE = 128, LINE = 64, AHEAD = 4 };

/* Pairs (i, j) with products[i][j] >= cut[i], by row and then by column; -1 where there is no room for them. */
FOR_EVERY_PROCESSOR
static Py_ssize_t sift_rows(const float *products, Py_ssize_t height, Py_ssize_t width,
                            const float *cut, Py_ssize_t room, int64_t *rows, int64_t *columns,
                            float *values)
{
    Py_ssize_t found = 0;
    for (Py_ssize_t i = 0; i < height; i++) {
        const float *row = products + i * width;
        const float least = cut[i];
        for (Py_ssize_t start = 0; start < width; start += STRIDE) {
            const Py_ssize_t stop = start + STRIDE < width ? start + STRIDE : width;
            int any = 0;
            for (Py_ssize_t j = start; j < stop; j++)
                any |= row[j] >= least;
            if (!any)
                continue;
            for (Py_ssize_t j = start; j < stop; j++) {
                if (!(row[j] >= least))
                    continue;
                if (found == room)
                    return -1;
                rows[found] = i;
                columns[found] = j;
                values[found++] = row[j];
            }
        }
    }
    return found;
}

/* above[i][w] = how many products of row i are greater than high[i][w]; the pairs from low to high are listed by w, row and
   column; -1 where there is no room for them. */
FOR_EVERY_PROCESSOR
static Py_ssize_t tally_rows(const float *products, Py_ssize_t height, Py_ssize_t width,
                             Py_ssize_t wanted, const float *low, const float *high, int64_t *above,
                             Py_ssize_t room, int64_t *rows, int64_t *columns, int64_t *which)
{
    Py_ssize_t found = 0;
    for (Py_ssize_t w = 0; w < wanted; w++)
        for (Py_ssize_t i = 0; i < height; i++) {
            const float *row = products + i * width;
            const float least = low[i * wanted + w], most = high[i * wanted + w];
            int64_t greater = 0;
            for (Py_ssize_t start = 0; start < width; start += STRIDE) {
                const Py_ssize_t stop = start + STRIDE < width ? start + STRIDE : width;
                int over = 0, reach = 0;
                for (Py_ssize_t j = start; j < stop; j++) {
                    over += row[j] > most;
                    reach += row[j] >= least;
                }
                greater += over;
                if (reach == over)
                    continue;
                for (Py_ssize_t j = start; j < stop; j++) {
                    if (!(row[j] >= least) || row[j] > most)
                        continue;
                    if (found == room)
                        return -1;
                    rows[found] = i;
                    columns[found] = j;
                    which[found++] = w;
                }
            }
            above[i * wanted + w] = greater;
        }
    return found;
}

enum { PRODUCT, DISTANCE, COSINE };

/* The sum of the products of two vectors, or of their squared differences: the second half of the terms is added to the first
   until one is left. terms: room for half of them, and one. */
static inline ALWAYS_INLINE double summed(const float *left, const float *right,
                                          Py_ssize_t dimensions, int distance, double *terms)
{
    const Py_ssize_t half = dimensions / 2;
    Py_ssize_t wide = dimensions - half;
    const float *const left_end = left + wide, *const right_end = right + wide;
    if (distance) {
        for (Py_ssize_t t = 0; t < half; t++) {
            const double one = (double)left[t] - (double)right[t],
                         other = (double)left_end[t] - (double)right_end[t];
            terms[t] = one * one + other * other;
        }
        if (wide > half) {
            const double one = (double)left[half] - (double)right[half];
            terms[half] = one * one;
        }
    } else {
        for (Py_ssize_t t = 0; t < half; t++)
            terms[t] =
                (double)left[t] * (double)right[t] + (double)left_end[t] * (double)right_end[t];
        if (wide > half)
            terms[half] = (double)left[half] * (double)right[half];
    }
    while (wide > 1) {
        const Py_ssize_t added = wide / 2;
        wide -= added;
        for (Py_ssize_t t = 0; t < added; t++)
            terms[t] += terms[wide + t];
    }
    return terms[0];
}

/* The same of the products of two vectors and, in `square`, of the second with itself. terms: room for all and one. */
static inline ALWAYS_INLINE double summed_both(const float *left, const float *right,
                                               Py_ssize_t dimensions, double *terms, double *square)
{
    const Py_ssize_t half = dimensions / 2;
    Py_ssize_t wide = dimensions - half;
    const float *const left_end = left + wide, *const right_end = right + wide;
    double *const squares = terms + wide;
    for (Py_ssize_t t = 0; t < half; t++) {
        const double one = right[t], other = right_end[t];
        terms[t] = (double)left[t] * one + (double)left_end[t] * other;
        squares[t] = one * one + other * other;
    }
    if (wide > half) {
        terms[half] = (double)left[half] * (double)right[half];
        squares[half] = (double)right[half] * (double)right[half];
    }
    while (wide > 1) {
        const Py_ssize_t added = wide / 2;
        wide -= added;
        for (Py_ssize_t t = 0; t < added; t++) {
            terms[t] += terms[wide + t];
            squares[t] += squares[wide + t];
        }
    }
    *square = squares[0];
    return terms[0];
}

/* scores[p] = the sum of `summed` for left[rows[p]] and right[columns[p]], in float64; a cosine is divided by the norms. */
FOR_EVERY_PROCESSOR
static void score_rows(const float *left, const float *right, Py_ssize_t dimensions,
                       Py_ssize_t pairs, const int64_t *rows, const int64_t *columns, int what,
                       double *terms, double *scores)
{
    double square = 0.0;
    for (Py_ssize_t p = 0; p < pairs; p++) {
        const float *const one = left + rows[p] * dimensions, *const other =
                                                                  right + columns[p] * dimensions;
#if defined(__GNUC__)
        if (p + AHEAD < pairs) {
            const char *const next = (const char *)(right + columns[p + AHEAD] * dimensions);
            for (size_t at = 0; at < (size_t)dimensions * sizeof(float); at += LINE)
                __builtin_prefetch(next + at);
        }
#endif
        if (what == DISTANCE) {
            scores[p] = summed(one, other, dimensions, 1, terms);
            continue;
        }
        if (what == PRODUCT) {
            scores[p] = summed(one, other, dimensions, 0, terms);
            continue;
        }
        if (!p || rows[p] != rows[p - 1])
            square = summed(one, one, dimensions, 0, terms);
        double others;
        const double product = summed_both(one, other, dimensions, terms, &others);
        scores[p] = product / sqrt(square * others);
    }
}

static int refuse(const char *what)
{
    PyErr_SetString(PyExc_ValueError, what);
    return 0;
}

/* Whether every index from 0 below n; a wrong one would read beyond the vectors. */
static int within(const int64_t *indices, Py_ssize_t count, Py_ssize_t n)
{
    for (Py_ssize_t p = 0; p < count; p++)
        if (indices[p] < 0 || indices[p] >= n)
            return refuse("an index is out of range");
    return 1;
}

static PyObject *sift(PyObject *self, PyObject *arguments)
{
    Py_buffer products, cut, rows, columns, values;
    Py_ssize_t found = 0;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "y*y*w*w*w*", &products, &cut, &rows, &columns, &values))
        return NULL;
    const Py_ssize_t height = cut.len / 4, width = height ? products.len / 4 / height : 0,
                     room = rows.len / 8;
    int good =
        columns.len / 8 == room && values.len / 4 == room && height * width * 4 == products.len;
    if (!good)
        refuse("the arrays of sift do not fit together");
    else {
        Py_BEGIN_ALLOW_THREADS
        found = sift_rows(products.buf, height, width, cut.buf, room, rows.buf, columns.buf,
                          values.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&products);
    PyBuffer_Release(&cut);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&columns);
    PyBuffer_Release(&values);
    return good ? PyLong_FromSsize_t(found) : NULL;
}

static PyObject *tally(PyObject *self, PyObject *arguments)
{
    Py_buffer products, low, high, above, rows, columns, which;
    Py_ssize_t height, found = 0;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "y*ny*y*w*w*w*w*", &products, &height, &low, &high, &above,
                          &rows, &columns, &which))
        return NULL;
    const Py_ssize_t safe = height > 0 ? height : 1;
    const Py_ssize_t width = products.len / 4 / safe, wanted = low.len / 4 / safe,
                     room = rows.len / 8;
    int good = height >= 0 && columns.len / 8 == room && which.len / 8 == room
               && high.len == low.len && above.len / 8 == low.len / 4
               && height * width * 4 == products.len && height * wanted * 4 == low.len;
    if (!good)
        refuse("the arrays of tally do not fit together");
    else {
        Py_BEGIN_ALLOW_THREADS
        found = tally_rows(products.buf, height, width, wanted, low.buf, high.buf, above.buf, room,
                           rows.buf, columns.buf, which.buf);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&products);
    PyBuffer_Release(&low);
    PyBuffer_Release(&high);
    PyBuffer_Release(&above);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&columns);
    PyBuffer_Release(&which);
    return good ? PyLong_FromSsize_t(found) : NULL;
}

static PyObject *score_pairs(PyObject *self, PyObject *arguments)
{
    Py_buffer left, right, rows, columns, scores;
    Py_ssize_t dimensions;
    int what;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "y*y*ny*y*iw*", &left, &right, &dimensions, &rows, &columns,
                          &what, &scores))
        return NULL;
    const Py_ssize_t pairs = rows.len / 8, safe = dimensions > 0 ? dimensions : 1;
    int good = dimensions > 0 && columns.len / 8 == pairs && scores.len / 8 == pairs
               && what >= PRODUCT && what <= COSINE;
    double *terms = NULL;
    if (!good)
        refuse("the arrays of score_pairs do not fit together");
    good = good && within(rows.buf, pairs, left.len / 4 / safe)
           && within(columns.buf, pairs, right.len / 4 / safe);
    if (good) {
        terms = PyMem_Malloc(((size_t)dimensions + 1) * sizeof(double));
        good = terms != NULL;
        if (!good)
            PyErr_NoMemory();
    }
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        score_rows(left.buf, right.buf, dimensions, pairs, rows.buf, columns.buf, what, terms,
                   scores.buf);
        Py_END_ALLOW_THREADS
    }
    PyMem_Free(terms);
    PyBuffer_Release(&left);
    PyBuffer_Release(&right);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&columns);
    PyBuffer_Release(&scores);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"sift", sift, METH_VARARGS,
     "sift(products, cut, rows, columns, values) -> found, -1 where there is no room"},
    {"tally", tally, METH_VARARGS,
     "tally(products, height, low, high, above, rows, columns, which) -> found, -1 likewise"},
    {"score_pairs", score_pairs, METH_VARARGS,
     "score_pairs(left, right, dimensions, rows, columns, what, scores)"},
    {NULL, NULL, 0, NULL},
};

/* What native.py asks for: raised whenever a function of this module is called in another way. */
#define INTERFACE 8

/* The seed of the hashes comes from the interpreter's own, which PYTHONHASHSEED fixes. */
static int draw_seed(void)
{
    for (int each = 0; each < 2; each++) {
        PyObject *const word =
            PyUnicode_FromString(each ? "rankwell: second seed" : "rankwell: first seed");
        const Py_hash_t hash = word ? PyObject_Hash(word) : -1;
        Py_XDECREF(word);
        if (hash == -1)
            return -1;
        rankwell_seed[each] = (uint64_t)hash | (uint64_t)each;
    }
    return 0;
}

static int add_parts(PyObject *module)
{
    if (draw_seed() || PyModule_AddIntConstant(module, "interface", INTERFACE))
        return -1;
    return rankwell_add_tables(module) || rankwell_add_reader(module)
                   || rankwell_add_results(module) || rankwell_add_rows(module)
                   || rankwell_add_mappings(module) || rankwell_add_shared(module)
                   || rankwell_add_mapped(module)
               ? -1
               : 0;
}

/* C has no conversion from a function to an object, which the interpreter needs all the same. */
static PyModuleDef_Slot steps[] = {{Py_mod_exec, (void *)add_parts}, {0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_native", NULL, 0, functions, steps, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&module);
}
