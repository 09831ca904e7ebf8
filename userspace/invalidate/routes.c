/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "invalidate/affected.h"

#include <arpa/inet.h>

#include "dns/proto.h"
#include "cache/message.h"

/*
 * A rendering follows the target for all types but CNAME (RFC 1034 section 4.3.2, step 3a), and for
 * ANY if a DNAME made the alias. This cannot be told here, so for ANY each alias counts.
 */
static bool is_followed(const struct message_record *record, uint16_t qtype)
{
	return record->type == DNS_TYPE_CNAME && qtype != DNS_TYPE_CNAME;
}

static bool is_of_chain(const struct message_record *record)
{
	return record->type == DNS_TYPE_CNAME || record->type == DNS_TYPE_DNAME ||
	       record->type == DNS_TYPE_RRSIG;
}

static bool target_holds(const struct zone_set *set, const struct message *m, uint32_t at,
			 uint16_t qtype, const struct zone_member *first)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	unsigned len = message_read_name(m, at, folded);
	const struct zone_member *member;

	if (!len)
		return false;
	member = zone_set_find(set, folded, len, qtype);
	return !member || member == first;
}

bool routes_hold(const struct zone_set *set, const struct volley_entry *entry)
{
	struct message m = message_of_entry(entry);
	uint16_t qtype = ntohs(entry->key.qtype), n = ntohs(entry->ancount);
	const struct zone_member *first =
		set ? zone_set_find(set, m.name, entry->key.name_bytes, qtype) : NULL;
	struct message_record r;
	uint32_t at = m.body_at;

	if (entry->key.view == VOLLEY_VIEW_RECURSIVE)
		return !first || zone_set_delegates(set, m.name, entry->key.name_bytes, qtype);
	if (!first || first->cache_slot != entry->zone_slot)
		return false;
	for (; n; n--) {
		at = message_name_end(&m, at);
		if (!at || !message_read_record(&m, at, &r))
			return false;
		if (!is_of_chain(&r))
			/* the end of the chain: later records belong to its last name */
			return true;
		if (is_followed(&r, qtype) && !target_holds(set, &m, r.rdata_at, qtype, first))
			return false;
		at = r.rdata_at + r.len;
	}
	return true;
}
