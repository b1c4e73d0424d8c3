/* Judgments from text: the rows of all queries, put in the order in which the table of judgments has them. */

#ifndef RANKWELL_JUDGMENTS_H
#define RANKWELL_JUDGMENTS_H

#include "_scan.h"

/* One judged item. The texts lie in what was read. */
typedef struct {
    const uint8_t *aspect, *item;
    size_t aspect_size, item_size, query;
    double grade;
} Judged;

/* rows: by the bytes of query, aspect and item once they are sorted. order: (queries,) the entries of `queries` by their bytes.
   offsets: (queries + 1,) where the rows of each begin, in that order. */
typedef struct {
    Names queries;
    Judged *rows;
    size_t size, room;
    size_t *order;
    int64_t *offsets;
} Judging;

/* tabs: lines of query, item and grade with single tabs between them, as in BEIR's files; else of query, aspect, item and grade
   between any white space. aspects: whether the second of these distinguishes judgments. */
typedef struct {
    int tabs, comments, aspects;
} Qrels;

int rankwell_read_judgments(Judging *judging, const uint8_t *text, size_t size, const Qrels *qrels);
void rankwell_free_judging(Judging *judging);

#endif
