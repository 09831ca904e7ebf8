/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The local copy of the root (RFC 8806): an authority on a loopback address, for the resolver
 * alone.
 *
 *	zone "." of zones ─► zonemgr: transferred, checked, stored, expires
 *	                     ─► its set (engine_data.root_copy) ───────────────────┐ read by
 *	resolver ─ a question for the root ─► 127.88.0.6, own port ─► worker with an engine
 *
 * A new version of the zone is a new set; the resolver does not notice, and keeps its cache. If the
 * zone is removed or expires, another resolver is started that asks the root servers (RFC 8806
 * section 3), and another one when the zone is back. Until then the authority does not answer, so
 * no question fails: the new resolver asks the outstanding questions again.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_RECURSION_ROOT_COPY_H
#define VOLLEY_RECURSION_ROOT_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "recursion/recursion_service.h"
#include "engine/engine.h"

struct root_copy;

/*
 * The authority answers from data->set as soon as there is a copy. Both outlive it. 0 or -ENOMEM.
 */
int root_copy_new(struct root_copy **out, struct engine_data *data, struct recursion *recursion)
	__attribute__((warn_unused_result));

/*
 * Makes the resolver ask the copy if there is one, otherwise the root servers. Call it after each
 * change of zones or configuration; a call without a change is cheap. Failures are logged, and
 * tried again after a minute.
 */
void root_copy_poll(struct root_copy *copy, uint64_t now_ns);

struct root_copy_report {
	const char *address; /* that is asked, "127.88.0.6@40001"; NULL: the root servers */
	uint32_t serial;     /* of the copy, if there is an address */
	const char *problem; /* why the copy is not asked; NULL: no fault */
};

/* Valid until the next poll. */
void root_copy_report(const struct root_copy *copy, struct root_copy_report *out);

/* After recursion_stop(), and before data->set goes. NULL is allowed. */
void root_copy_free(struct root_copy *copy);

#endif
