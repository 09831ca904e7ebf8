/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text in the exposition format of Prometheus, version 0.0.4: families of samples.
 *
 *      metrics_text_family()     # HELP volley_port_rx_total messages received
 *                                # TYPE volley_port_rx_total counter
 *      metrics_text_sample()     volley_port_rx_total{kind="socket",worker="0"} 17
 *
 * All samples of a family follow it, none with the same labels twice; that is the caller's duty.
 * When memory is short, nothing more is written and is_failed says so at the end. One thread at a
 * time.
 */
#ifndef VOLLEY_CONTROL_METRICS_TEXT_H
#define VOLLEY_CONTROL_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"

/* Before each name. */
#define METRICS_PREFIX   "volley_"
#define METRICS_NAME_CAP 96

enum metrics_type {
	METRICS_COUNTER, /* only ever grows; "_total" comes behind its name */
	METRICS_GAUGE,
	METRICS_HISTOGRAM, /* its samples: metrics_text_histogram() */
};

/* Begins as zeros. text is malloc()ed, the caller's, and has a NUL behind its n octets. */
struct metrics_text {
	char *text;
	size_t n, cap;
	bool is_failed;
	char name[METRICS_NAME_CAP]; /* of the family */
};

/* `name` without prefix and suffix, of [a-z0-9_]; `help` is any text. */
void metrics_text_family(struct metrics_text *out, enum metrics_type type, const char *name,
			 const char *help);

/* `name` as it is, without our prefix: for names that are the same for all programs. */
void metrics_text_standard(struct metrics_text *out, enum metrics_type type, const char *name,
			   const char *help);

/* A sample without labels: so many nanoseconds, in seconds. */
void metrics_text_decimal(struct metrics_text *out, uint64_t ns);

/* Buckets, sum in seconds and count of a family METRICS_HISTOGRAM; label NULL: without one. */
void metrics_text_histogram(struct metrics_text *out, const struct histogram *h, const char *label,
			    const char *text);

/* Behind `value` come pairs of label and its text, any text, then NULL. */
void metrics_text_sample(struct metrics_text *out, uint64_t value, ...) __attribute__((sentinel));

#endif
