/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a version from a draft. Each touched name is compared with the base; the names that really
 * differ are checked and make the sums and the change set.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/builder.h"
#include "zone/building.h"
#include "zone/changeset.h"
#include "zone/denial.h"
#include "zone/diff.h"
#include "zone/edit.h"
#include "zone/editing.h"
#include "zone/nsec3_chain.h"
#include "dns/rdata.h"
#include "zone/sums.h"
#include "zone/zone_walk.h"

struct finish {
	const struct zone *old;
	struct zone *new;
	struct name_list names;
	uint8_t *bytes; /* of the names */
	struct zone_error *err;
};

/* --- The names --- */

static int collect_finish(struct finish *f)
{
	size_t n = 0;

	name_list_free(&f->names);
	free(f->bytes);
	f->bytes = NULL;
	for (const struct overlay_names *at = f->new->changed; at; at = at->next)
		n += at->n_bytes;
	f->bytes = malloc(n + 1);
	if (!f->bytes)
		return -ENOMEM;
	n = 0;
	for (const struct overlay_names *at = f->new->changed; at; at = at->next) {
		memcpy(f->bytes + n, at->bytes, at->n_bytes);
		n += at->n_bytes;
	}
	return name_list_make(&f->names, f->bytes, n);
}

static bool is_finish_cut(const struct zone_node *node)
{
	return node && node->flags & NODE_CUT;
}

/* Names below a new or removed cut leave the chain or come back to it. */
static int note_finish(void *user, const uint8_t *owner, unsigned n)
{
	struct finish *f = user;

	return version_note(f->new, owner, n);
}

static int collect_all_finish(struct finish *f)
{
	bool again = false;
	int rc = collect_finish(f);

	for (size_t i = 0; !rc && f->new->chain == ZONE_CHAIN_NSEC &&i < f->names.n; i++) {
		const uint8_t *name = f->names.names[i];

		if (is_finish_cut(zone_node_of(f->old, name)) ==
		    is_finish_cut(zone_node_of(f->new, name)))
			continue;
		again = true;
		rc = zone_walk_below(f->old, name, note_finish, f);
		if (!rc)
			rc = zone_walk_below(f->new, name, note_finish, f);
	}
	return rc || !again ? rc : collect_finish(f);
}

/* --- Checks --- */

static bool has_dname(const struct zone_node *node)
{
	return node && node->flags & NODE_DNAME;
}

static int check_finish(struct finish *f)
{
	int rc = zone_check_apex(f->new, f->err);

	for (size_t i = 0; !rc && i < f->names.n; i++) {
		const struct zone_node *old = zone_node_of(f->old, f->names.names[i]);
		const struct zone_node *node = zone_node_of(f->new, f->names.names[i]);

		if (node && node != old)
			rc = zone_check_name(f->new, node, !has_dname(old), f->err);
	}
	return rc;
}

/* The limit of iterations is that of a load: see freeze.c. */
static int find_finish_chain(struct finish *f, bool *is_another)
{
	struct nsec3_params params;
	bool is_nsec3 = nsec3_find_params(f->new, &params);
	enum zone_chain chain = ZONE_CHAIN_NSEC3;

	if (is_nsec3 && params.iterations > ZONE_NSEC3_ITERATIONS_MAX)
		return zone_error_set(f->err, "", 0,
				      "its NSEC3 chain has %u iterations, more than %u",
				      params.iterations, ZONE_NSEC3_ITERATIONS_MAX);
	if (!is_nsec3)
		chain = zone_node_rrset(f->new, f->new->apex_node, DNS_TYPE_NSEC) ?
				ZONE_CHAIN_NSEC :
				ZONE_CHAIN_NONE;
	*is_another = chain != f->old->chain ||
		      (is_nsec3 && !nsec3_params_equal(&params, f->old->nsec3_params));
	return 0;
}

/* --- Sums --- */

static void sum_up_finish(struct finish *f)
{
	uint8_t scratch[SUMS_SCRATCH_BYTES];

	for (size_t i = 0; i < f->names.n; i++) {
		const uint8_t *name = f->names.names[i];

		sums_subtract(&f->new->sums, f->old, zone_node_of(f->old, name), scratch);
		sums_add(&f->new->sums, f->new, zone_node_of(f->new, name), scratch);
	}
}

/* --- The change set --- */

/* One side of a comparison: its records that the other side has not go into the set. */
struct side {
	const struct zone *z, *other_z;
	const struct zone_node *node, *other;
	struct changeset *net;
	uint8_t op;
	uint8_t owner[ZONE_NAME_MAX];
};

/* RFC 4034 section 3. */
static uint32_t ttl_of_finish(const struct side *s, const struct zone_rrset *rrset,
			      const struct zone_rdata *rd)
{
	const struct zone_rrset *covered = NULL;

	if (rrset->type == DNS_TYPE_RRSIG)
		covered = zone_node_rrset(s->z, s->node, zone_rrsig_covered(rd));
	return covered ? covered->ttl : rrset->ttl;
}

static bool has_finish_record(const struct zone_rrset *rrset, const struct zone_rdata *rd,
			      const uint8_t **from, unsigned *left)
{
	while (*left) {
		struct zone_rdata other;
		const uint8_t *next = zone_rdata_next(*from, &other);
		int order = rdata_cmp(rrset->type, other.bytes, other.len, rd->bytes, rd->len);

		if (order > 0)
			return false;
		*from = next;
		--*left;
		if (!order)
			return true;
	}
	return false;
}

static int put_finish_rrset(struct side *s, const struct zone_rrset *rrset, bool all)
{
	const struct zone_rrset *other =
		s->other ? zone_node_rrset(s->other_z, s->other, rrset->type) : NULL;
	const uint8_t *at = zone_rrset_first(s->z, rrset), *other_at = NULL;
	unsigned other_left = 0;
	int rc = 0;

	/* Another TTL makes another record (RFC 2136 section 3.4.2.2), but not of signatures. */
	if (other && !all && (rrset->type == DNS_TYPE_RRSIG || rrset->ttl == other->ttl)) {
		other_at = zone_rrset_first(s->other_z, other);
		other_left = other->n;
	}
	for (unsigned i = 0; !rc && i < rrset->n; i++) {
		struct changeset_record r = { .owner = s->owner, .type = rrset->type, .op = s->op };
		struct zone_rdata rd;

		at = zone_rdata_next(at, &rd);
		if (has_finish_record(rrset, &rd, &other_at, &other_left))
			continue;
		r.ttl = ttl_of_finish(s, rrset, &rd);
		r.rdata = rd.bytes;
		r.rdata_bytes = rd.len;
		rc = changeset_put(s->net, &r);
	}
	return rc;
}

static int put_finish_name(struct side *s)
{
	unsigned n;
	const struct zone_rrset *rrsets;
	int rc = 0;

	if (!s->node || s->node == s->other)
		return 0;
	rrsets = zone_node_rrsets(s->z, s->node, &n);
	zone_node_owner(s->z, s->node, s->owner);
	for (unsigned i = 0; !rc && i < n; i++)
		if (rrsets[i].type != DNS_TYPE_SOA)
			rc = put_finish_rrset(s, &rrsets[i], false);
	return rc;
}

static int put_half(const struct finish *f, struct changeset *net, uint8_t op)
{
	bool is_add = op == CHANGESET_ADD;
	struct side s = { .z = is_add ? f->new : f->old,
			  .other_z = is_add ? f->old : f->new,
			  .net = net,
			  .op = op };
	int rc;

	s.node = s.z->apex_node;
	zone_node_owner(s.z, s.node, s.owner);
	rc = put_finish_rrset(&s, zone_soa(s.z), true);
	for (size_t i = 0; !rc && i < f->names.n; i++) {
		s.node = zone_node_of(s.z, f->names.names[i]);
		s.other = zone_node_of(s.other_z, f->names.names[i]);
		rc = put_finish_name(&s);
	}
	return rc;
}

/* True if the content differs from that of the base. */
static bool differs_finish(const struct finish *f)
{
	return f->old->sums.digest[0] != f->new->sums.digest[0] ||
	       f->old->sums.digest[1] != f->new->sums.digest[1];
}

static int put_net(const struct finish *f, struct changeset *net)
{
	int rc;

	changeset_fini(net);
	if (!differs_finish(f))
		return 0;
	rc = put_half(f, net, CHANGESET_REMOVE);
	return rc ? rc : put_half(f, net, CHANGESET_ADD);
}

/* --- The end --- */

static int look_finish(struct finish *f, struct changeset *net, bool *is_another)
{
	int rc = collect_all_finish(f);

	if (!rc)
		rc = check_finish(f);
	if (!rc)
		rc = find_finish_chain(f, is_another);
	if (rc)
		return rc;
	zone_read_apex(f->new);
	sum_up_finish(f);
	return net ? put_net(f, net) : 0;
}

int zone_edit_finish(struct zone_edit *e, struct zone **out, struct changeset *net,
		     struct zone_error *err)
{
	struct finish f = { .old = e->base, .new = e->overlay.z, .err = err };
	bool is_another = false, published = false;
	int rc = e->failed;

	*err = (struct zone_error){ 0 };
	*out = NULL;
	if (!rc)
		rc = look_finish(&f, net, &is_another);
	if (!rc && !is_another)
		published = version_publish(f.new, e->base, &e->overlay);
	if (!rc && !published)
		rc = zone_compact(f.new, NULL, out, err);
	name_list_free(&f.names);
	free(f.bytes);
	if (published)
		*out = f.new;
	else
		version_give_up(f.new);
	edit_free(e);
	return rc;
}
