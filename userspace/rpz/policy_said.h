/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the rule of a policy that has made a reply, for the query log. A reply of the cache or the
 * driver comes without a note of its rule, so the rule is derived from the reply and the policy:
 *
 *      the SOA record of a list in the authority section ──────► that list: NXDOMAIN or no data
 *      else a rule for the client or the name of the question,
 *      and the reply has the form that the rule's action makes ─► that rule
 *
 * A rule for addresses, for name servers, or for a later name of a chain is not found if it gives
 * other records or an alias.
 *
 * Pure, in a QSBR read section.
 */
#ifndef VOLLEY_RPZ_POLICY_SAID_H
#define VOLLEY_RPZ_POLICY_SAID_H

#include "rpz/policy.h"

struct policy_said {
	uint8_t list[NAME_FOLDED_BYTES]; /* its name, folded */
	bool is_local_data;              /* the rule is local data, and `list` has no meaning */
	const char *action; /* "nxdomain", "nodata", "data", "cname" or "tcp-only"; static */
};

/* `reply` is a whole message of n octets to this client. False: no rule is known to have changed
 * it. O(lists × labels). */
bool policy_said(const struct policy *p, const struct policy_client *client, const uint8_t *reply,
		 size_t n, struct policy_said *out);

#endif
