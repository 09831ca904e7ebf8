/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The local copy of the root (RFC 8806): an authority on a loopback address that the resolver alone
 * asks.
 *
 *	zone "." of zones ─► zonemgr: transferred, checked, stored, expires ─► its set (engine_data.root_copy)
 *	                                                                            │ read by
 *	resolver ─ a question for the root ─► 127.88.0.6, a port of its own ─► worker with an engine
 *
 * Another version of the zone is another set: the resolver hears nothing of it, and keeps what it
 * knows. Where the zone goes, or has expired, another resolver is started that asks the root
 * servers (RFC 8806 section 3), and one more when the zone is back. In the moment between, the
 * authority does not answer, so that no question fails: the new resolver asks the questions under
 * way again.
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

/* The authority answers from data->set, and is there from the first copy on. Both outlive it. 0 or
 * -ENOMEM. */
int root_copy_new(struct root_copy **out, struct engine_data *data, struct recursion *recursion)
	__attribute__((warn_unused_result));

/*
 * Tells the resolver whether there is a copy now. After each change of zones and of the
 * configuration; else it costs a look. Failures are logged, and tried once more in a minute.
 */
void root_copy_poll(struct root_copy *copy, uint64_t now_ns);

struct root_copy_report {
	const char *address; /* "127.88.0.6@40001" that the resolver asks; NULL: the root servers */
	uint32_t serial;     /* of the copy, where there is an address */
	const char *problem; /* why the copy that is there is not asked; NULL: nothing is wrong */
};

/* Until the next poll. */
void root_copy_report(const struct root_copy *copy, struct root_copy_report *out);

/* After recursion_stop(), and before data->set goes. NULL is allowed. */
void root_copy_free(struct root_copy *copy);

#endif
