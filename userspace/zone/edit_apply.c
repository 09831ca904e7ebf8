/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies a change set. Changes of one RRset that follow each other are made at once, so that a
 * large RRset is copied once, not once for each record.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "dns/rdata.h"
#include "zone/builder.h"
#include "zone/changeset.h"
#include "zone/edit.h"
#include "zone/editing.h"

static int compare_edit_apply(const void *a, const void *b, void *type)
{
	const struct zone_rdata *x = a, *y = b;

	return rdata_cmp(*(uint16_t *)type, x->bytes, x->len, y->bytes, y->len);
}

static bool goes_with(const struct changeset_record *a, const struct changeset_record *b)
{
	return a->op == b->op && a->type == b->type && a->ttl == b->ttl &&
	       name_equal(a->owner, b->owner);
}

static int reserve_edit_apply(struct zone_edit *e, size_t n)
{
	struct zone_rdata *rds;

	if (n <= e->rds_cap)
		return 0;
	rds = reallocarray(e->rds, n, 2 * sizeof(*rds));
	if (!rds)
		return -ENOMEM;
	e->rds = rds;
	e->rds_cap = 2 * n;
	return 0;
}

/* Gathers @first and the next records of its kind, in order. Returns their number or -ENOMEM. */
static long gather_edit_apply(struct zone_edit *e, const struct changeset *changes,
			      const struct changeset_record *first, size_t *at)
{
	struct changeset_record r = *first;
	size_t n = 0, next = *at;

	do {
		if (reserve_edit_apply(e, n + 1))
			return -ENOMEM;
		e->rds[n++] = (struct zone_rdata){ r.rdata, r.rdata_bytes };
		*at = next;
	} while (n <= UINT16_MAX && changeset_next(changes, &next, &r) && goes_with(first, &r));
	return (long)n;
}

/*
 * Adds one by one, in the order of the set from @at on, records that cannot be added at once: for
 * example, the first one may change the TTL of the RRset.
 */
static int add_each(struct zone_edit *e, const struct changeset *changes, size_t at, unsigned n)
{
	struct changeset_record r;
	int rc = 0;

	while (!rc && n-- && changeset_next(changes, &at, &r))
		rc = zone_edit_add(e, r.owner, r.type, r.ttl, r.rdata, r.rdata_bytes);
	return rc;
}

/* Applies @r, which is at @begin, and the records from *@at on that belong to it. */
static int apply_some(struct zone_edit *e, const struct changeset *changes, size_t begin,
		      size_t *at, const struct changeset_record *r, const char **why)
{
	uint16_t type = r->type;
	long n = gather_edit_apply(e, changes, r, at);
	int rc;

	if (n < 0)
		return e->failed = (int)n;
	if (n > 1)
		qsort_r(e->rds, (size_t)n, sizeof(e->rds[0]), compare_edit_apply, &type);
	if (r->op == CHANGESET_REMOVE) {
		rc = edit_remove_all(e, r->owner, type, e->rds, (unsigned)n);
		*why = "the record to be removed is not there";
		return rc == ERR_NOT_FOUND ? ERR_ZONE : rc;
	}
	rc = edit_add_all(e, r->owner, type, r->ttl, e->rds, (unsigned)n);
	if (rc == 1 && n > 1)
		rc = add_each(e, changes, begin, (unsigned)n);
	*why = rc == 1 ? "the record to be added is there already" : "the record cannot be added";
	return rc == 1 ? ERR_ZONE : rc;
}

static int refuse_edit_apply(struct zone_error *err, const char *why,
			     const struct changeset_record *r)
{
	char owner[NAME_TEXT_MAX], type[PROTO_TEXT_MAX];

	name_to_text(owner, sizeof(owner), r->owner);
	proto_type_to_text(type, r->type);
	return zone_error_set(err, "", 0, "%s: %.160s %s", why, owner, type);
}

int zone_edit_apply(struct zone_edit *e, const struct changeset *changes, struct zone_error *err)
{
	struct changeset_record r;
	size_t begin = 0, at = 0;
	const char *why;
	int rc = 0;

	*err = (struct zone_error){ 0 };
	while (!rc && changeset_next(changes, &at, &r)) {
		rc = apply_some(e, changes, begin, &at, &r, &why);
		if (rc == ERR_ZONE)
			e->failed = refuse_edit_apply(err, why, &r);
		begin = at;
	}
	return rc;
}
