/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text in the exposition format of Prometheus, version 0.0.4: families of samples.
 *
 *      metrics_text_family()     # HELP volley_port_rx_total messages received
 *                                # TYPE volley_port_rx_total counter
 *      metrics_text_sample()     volley_port_rx_total{kind="socket",worker="0"} 17
 *
 * The caller must write all samples of a family after it, and none with the same labels twice. If
 * memory runs out, is_failed becomes true and nothing more is written. One thread at a time.
 */
#ifndef VOLLEY_CONTROL_METRICS_TEXT_H
#define VOLLEY_CONTROL_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"

/* The prefix of each name. */
#define METRICS_PREFIX   "volley_"
#define METRICS_NAME_CAP 96

enum metrics_type {
	METRICS_COUNTER, /* never falls; "_total" is appended to its name */
	METRICS_GAUGE,
	METRICS_HISTOGRAM, /* its samples come from metrics_text_histogram() */
};

/* Begins as zeros. The caller must free() text, which has a NUL after its n octets. */
struct metrics_text {
	char *text;
	size_t n, cap;
	bool is_failed;
	char name[METRICS_NAME_CAP]; /* of the family */
};

/* `name` is of [a-z0-9_], without prefix and suffix; `help` is any text. */
void metrics_text_family(struct metrics_text *out, enum metrics_type type, const char *name,
			 const char *help);

/* The same, but `name` gets no prefix: for names that are common to all programs. */
void metrics_text_standard(struct metrics_text *out, enum metrics_type type, const char *name,
			   const char *help);

/* A sample without labels: `ns` nanoseconds, written in seconds. */
void metrics_text_decimal(struct metrics_text *out, uint64_t ns);

/* Buckets, sum in seconds and count of a family METRICS_HISTOGRAM. label NULL: no label. */
void metrics_text_histogram(struct metrics_text *out, const struct histogram *h, const char *label,
			    const char *text);

/* After `value` come pairs of a label and its text (any text), then NULL. */
void metrics_text_sample(struct metrics_text *out, uint64_t value, ...) __attribute__((sentinel));

#endif
