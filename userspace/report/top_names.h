/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names, types and zones that clients ask for most, summed over driver and workers.
 *
 *      XDP program: hashes of some hits ──► entry in the cache ─┐   once a second
 *      worker: some questions that it answered ────────────────┴─► counters (census/frequent.h)
 *
 * Both record a random part of their answers: one of 256 under high load, all under low load. A
 * sample weighs as many answers as its source gave for each sample, so estimates of sources with
 * different rates can be added. If an entry is hit and withdrawn within one second, its samples are
 * left out.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_REPORT_TOP_NAMES_H
#define VOLLEY_REPORT_TOP_NAMES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define TOP_NAMES_HALF_LIFE_S 300u  /* a question of that age counts half */
#define TOP_NAMES_MAX         1024u /* names, types or zones that are given */

struct report_view;
struct top_names;

/* NULL: no memory. */
struct top_names *top_names_new(void);
void top_names_free(struct top_names *top); /* NULL is allowed */

/* Reads the samples since the last call; once a second, while the daemon has workers. */
void top_names_gather(struct top_names *top, const struct report_view *v, uint64_t now_s);

/* Estimates bounds of a zone's recent answers; apex: folded wire form. */
void top_names_zone_answers(const struct top_names *top, const uint8_t *apex, unsigned int apex_len,
			    double *least, double *most);

/* Calls each() for the zones with most recent answers, with a lower bound of their number. */
typedef void top_names_zone_fn(void *user, const uint8_t *apex, unsigned int apex_len,
			       double least);
void top_names_each_zone(const struct top_names *top, top_names_zone_fn *each, void *user);

/* `cache top`: [-n N] [--by name|type|zone]; the run() of a struct ctl_command. */
int top_names_run_top(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
