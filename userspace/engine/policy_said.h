/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rule of a policy has made a reply, for the query log. A reply of the cache or the driver
 * comes without a note of its rule, so this is read from the reply and the rules:
 *
 *      the SOA record of a list in the authority section ───────► that list: NXDOMAIN or no data, by any trigger
 *      else a rule for the client or the name of the question,
 *      and the reply has the form that the rule's action makes ─► that rule
 *
 * Not found are other records and aliases of rules for addresses, name servers, and names behind
 * the first of a chain.
 *
 * Pure, in a QSBR read section.
 */
#ifndef VOLLEY_ENGINE_POLICY_SAID_H
#define VOLLEY_ENGINE_POLICY_SAID_H

#include "engine/policy.h"

struct policy_said {
	uint8_t list[NAME_FOLDED_BYTES]; /* its name, folded */
	bool is_local_data;              /* and no list */
	const char *action; /* "nxdomain", "nodata", "data", "cname" or "tcp-only"; static */
};

/* The reply is a whole message of n octets to this client. False: no rule is known to have changed
 * it. O(lists × labels). */
bool policy_said(const struct policy *p, const struct policy_client *client, const uint8_t *reply,
		 size_t n, struct policy_said *out);

#endif
