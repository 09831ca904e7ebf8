/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prerequisites. An RRset must exist with exactly the given records (section 3.2.3): each given
 * record must be in the zone, and the RRset must have no others. So the places of the given records
 * in the zone are counted.
 */
#include <stdlib.h>

#include "base/err.h"
#include "dns/rdata.h"
#include "xfr/update.h"

/* Where the zone has a record that a prerequisite demands. */
struct place {
	const struct zone_rrset *rrset;
	const uint8_t *rdata;
};

static const struct zone_rrset *find_rrset(const struct zone *z, const struct xfr_record *r)
{
	const struct zone_node *node = zone_node_of(z, r->owner);

	return node ? zone_node_rrset(z, node, r->type) : NULL;
}

static bool is_in_use(const struct zone *z, const uint8_t *owner)
{
	const struct zone_node *node = zone_node_of(z, owner);
	unsigned int n = 0;

	if (node)
		zone_node_rrsets(z, node, &n);
	return n;
}

/* Section 3.2.1 and 3.2.2, 3.2.4, 3.2.5: checks one prerequisite without data. */
static enum dns_rcode require(const struct zone *z, const struct xfr_record *r)
{
	bool wanted = r->class == DNS_CLASS_ANY;

	if (r->type == DNS_TYPE_ANY) {
		if (is_in_use(z, r->owner) == wanted)
			return DNS_RCODE_NOERROR;
		return wanted ? DNS_RCODE_NXDOMAIN : DNS_RCODE_YXDOMAIN;
	}
	if ((find_rrset(z, r) != NULL) == wanted)
		return DNS_RCODE_NOERROR;
	return wanted ? DNS_RCODE_NXRRSET : DNS_RCODE_YXRRSET;
}

static bool find_prerequisite_place(const struct zone *z, const struct xfr_record *r,
				    struct place *place)
{
	const struct zone_rrset *rrset = find_rrset(z, r);
	const uint8_t *at = rrset ? zone_rrset_first(z, rrset) : NULL;
	struct zone_rdata rd;

	for (unsigned int i = 0; rrset && i < rrset->n; i++) {
		at = zone_rdata_next(at, &rd);
		if (rdata_cmp(r->type, rd.bytes, rd.len, r->rdata, r->rdata_bytes))
			continue;
		*place = (struct place){ rrset, rd.bytes };
		return true;
	}
	return false;
}

static int compare_prerequisite(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->rrset != y->rrset)
		return x->rrset < y->rrset ? -1 : 1;
	return x->rdata < y->rdata ? -1 : x->rdata > y->rdata;
}

/* True if each RRset has as many records as there are different places in it. */
static bool are_whole(struct place *places, size_t n)
{
	size_t i = 0;

	qsort(places, n, sizeof(*places), compare_prerequisite);
	while (i < n) {
		const struct zone_rrset *rrset = places[i].rrset;
		const uint8_t *last = NULL;
		unsigned int n_different = 0;

		for (; i < n && places[i].rrset == rrset; i++) {
			n_different += places[i].rdata != last;
			last = places[i].rdata;
		}
		if (n_different != rrset->n)
			return false;
	}
	return true;
}

enum dns_rcode update_prerequisites(const struct update *u, const struct zone *z)
{
	struct place *places = calloc(u->n_prerequisites + 1u, sizeof(*places));
	enum dns_rcode rcode = DNS_RCODE_NOERROR;
	struct xfr_message m;
	struct xfr_record r;
	size_t n = 0;

	if (!places)
		return DNS_RCODE_SERVFAIL;
	update_rewind(&m, u->msg, u->len);
	while (rcode == DNS_RCODE_NOERROR && m.left[UPDATE_PREREQUISITE] &&
	       xfr_message_next(&m, &r)) {
		if (r.class != DNS_CLASS_IN)
			rcode = require(z, &r);
		else if (!find_prerequisite_place(z, &r, &places[n++]))
			rcode = DNS_RCODE_NXRRSET;
	}
	if (rcode == DNS_RCODE_NOERROR && n && !are_whole(places, n))
		rcode = DNS_RCODE_NXRRSET;
	free(places);
	return rcode;
}
