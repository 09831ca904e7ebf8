/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the signatures and proofs out of a zone: its content becomes a zone of its own. */
#include <errno.h>

#include "sign/signer.h"
#include "zone/builder.h"
#include "zone/zone_walk.h"

struct strip {
	const struct zone *from;
	struct zone_builder *b;
	struct zone_error *err;
	uint32_t serial;
	struct sign_list list;
};

static int put_strip_rrset(struct strip *s, const uint8_t *owner, const struct zone_rrset *rrset)
{
	const uint8_t *at = zone_rrset_first(s->from, rrset);
	struct zone_rdata rd;
	int rc = 0;

	if (rrset->type == DNS_TYPE_SOA) {
		rc = sign_list_soa(&s->list, s->from, s->serial);
		at = s->list.bytes;
	}
	for (unsigned int i = 0; !rc && i < rrset->n; i++) {
		struct zone_builder_record record = {
			.owner = owner,
			.owner_bytes = (unsigned int)name_bytes(owner),
			.type = rrset->type,
			.ttl = rrset->ttl,
		};

		at = zone_rdata_next(at, &rd);
		record.rdata = rd.bytes;
		record.rdata_bytes = rd.len;
		rc = zone_builder_add(s->b, &record, s->err);
	}
	return rc;
}

static int put_strip_name(struct strip *s, const struct zone_node *node)
{
	bool is_apex = node == zone_apex_node(s->from);
	uint8_t owner[NAME_FOLDED_BYTES];
	unsigned int n;
	const struct zone_rrset *rrsets = zone_node_rrsets(s->from, node, &n);
	int rc = 0;

	zone_node_owner(s->from, node, owner);
	for (unsigned int i = 0; !rc && i < n; i++)
		if (!sign_is_left_out(rrsets[i].type, is_apex))
			rc = put_strip_rrset(s, owner, &rrsets[i]);
	return rc;
}

int sign_strip(const struct zone *from, uint32_t serial, const bool *cancel, struct zone **out,
	       struct zone_error *err)
{
	struct strip s = { .from = from, .err = err, .serial = serial };
	const struct zone_node *node;
	struct zone_walk walk;
	unsigned int apex_bytes;
	int rc;

	*out = NULL;
	*err = (struct zone_error){ 0 };
	rc = zone_builder_new(&s.b, zone_apex(from, &apex_bytes));
	if (rc)
		return rc;
	zone_builder_watch(s.b, cancel);
	zone_walk_init(&walk, from);
	while (!rc && (node = zone_walk_next(&walk)))
		rc = cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED) ? -ECANCELED :
									   put_strip_name(&s, node);
	if (!rc)
		rc = zone_builder_finish(s.b, out, err);
	zone_builder_free(s.b);
	sign_list_free(&s.list);
	return rc;
}
