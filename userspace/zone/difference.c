/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two passes over the differences, for removals and for additions, since these are apart in the
 * result. If the TTL of an RRset differs, all its records are removed and added.
 */
#include "zone/diff.h"

#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "dns/proto.h"
#include "dns/rdata.h"

struct pass {
	const struct zone *of, *against; /* finds records of @of that @against has not */
	enum changeset_op op;
	size_t max_bytes;
	struct changeset *net;
};

static bool has_difference_record(const struct zone *z, const struct zone_rrset *rrset,
				  const struct zone_rdata *wanted)
{
	const uint8_t *at = zone_rrset_first(z, rrset);
	struct zone_rdata rd;

	for (unsigned i = 0; i < rrset->n; i++) {
		at = zone_rdata_next(at, &rd);
		if (!rdata_cmp(rrset->type, rd.bytes, rd.len, wanted->bytes, wanted->len))
			return true;
	}
	return false;
}

static int put_difference(struct pass *p, const uint8_t *owner, const struct zone_rrset *rrset,
			  const struct zone_rdata *rd)
{
	const struct changeset_record record = {
		.owner = owner,
		.rdata = rd->bytes,
		.ttl = rrset->ttl,
		.type = rrset->type,
		.rdata_bytes = rd->len,
		.op = (uint8_t)p->op,
	};

	int err = changeset_put(p->net, &record);

	return !err && p->net->n_bytes > p->max_bytes ? ERR_LIMIT : err;
}

/* Adds the records of the RRset that are not in @other, which may be NULL. */
static int put_missing(struct pass *p, const uint8_t *owner, const struct zone_rrset *rrset,
		       const struct zone_rrset *other)
{
	bool is_all = !other || other->ttl != rrset->ttl;
	const uint8_t *at = zone_rrset_first(p->of, rrset);
	struct zone_rdata rd;
	int err = 0;

	for (unsigned i = 0; i < rrset->n && !err; i++) {
		at = zone_rdata_next(at, &rd);
		if (is_all || !has_difference_record(p->against, other, &rd))
			err = put_difference(p, owner, rrset, &rd);
	}
	return err;
}

static int visit_difference(void *context, const struct zone_change *c)
{
	struct pass *p = context;
	bool is_removal = p->op == CHANGESET_REMOVE;
	const struct zone_node *node = is_removal ? c->old_node : c->new_node;
	const struct zone_node *other = is_removal ? c->new_node : c->old_node;
	const struct zone_rrset *rrsets;
	uint8_t owner[ZONE_NAME_MAX];
	unsigned n;
	int err = 0;

	if (!node)
		return 0;
	rrsets = zone_node_rrsets(p->of, node, &n);
	zone_node_owner(p->of, node, owner);
	for (unsigned i = 0; i < n && !err; i++) {
		const struct zone_rrset *beside =
			other ? zone_node_rrset(p->against, other, rrsets[i].type) : NULL;

		if (rrsets[i].type != DNS_TYPE_SOA &&
		    !zone_rrset_equal(p->of, &rrsets[i], p->against, beside))
			err = put_missing(p, owner, &rrsets[i], beside);
	}
	return err;
}

static int run_difference(struct pass *p)
{
	const struct zone_rrset *soa = zone_soa(p->of);
	unsigned len;
	int err = put_missing(p, zone_apex(p->of, &len), soa, zone_soa(p->against));
	bool is_old = p->op == CHANGESET_REMOVE;

	if (!err && p->net->n_removed + p->net->n_added < (is_old ? 1u : 2u))
		return ERR_LIMIT; /* the same SOA */
	if (err)
		return err;
	return is_old ? zone_diff(p->of, p->against, visit_difference, p) :
			zone_diff(p->against, p->of, visit_difference, p);
}

int zone_difference(const struct zone *old_zone, const struct zone *new_zone, size_t max_bytes,
		    struct changeset *net)
{
	struct pass removals = { old_zone, new_zone, CHANGESET_REMOVE, max_bytes, net };
	struct pass additions = { new_zone, old_zone, CHANGESET_ADD, max_bytes, net };
	int err;

	changeset_fini(net);
	err = run_difference(&removals);
	if (!err)
		err = run_difference(&additions);
	if (err)
		changeset_fini(net);
	return err;
}
