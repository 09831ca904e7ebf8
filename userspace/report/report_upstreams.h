/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resolver's state of upstreams, as JSON: resolver/inspect.h says which values may not belong
 * together. Units are in the names. Each function returns a new reference, or NULL: no memory.
 * Control's thread.
 */
#ifndef VOLLEY_REPORT_REPORT_UPSTREAMS_H
#define VOLLEY_REPORT_REPORT_UPSTREAMS_H

#include <jansson.h>

#include "resolver/inspect.h"

/*
 * The servers that get a target's questions: an object with way, zone, and, if known, addresses,
 * first, transport or root_hints.
 */
json_t *report_upstreams_way(const struct resolver_config *config, const struct resolver *r,
			     size_t target);

/* An array with a row for each thread and upstream of the forwarder. Empty if libunbound asks. */
json_t *report_upstreams(const struct resolver *r);

/* The counts of a target of libunbound. NULL: no memory, or another row has them. */
json_t *report_upstreams_target(const struct resolver_config *config, const struct resolver *r,
				size_t target);

/* For `volleyctl resolver infra`. resolver NULL: recursion is off. */
json_t *report_upstreams_all(const struct resolver_config *config, const struct resolver *r);

#endif
