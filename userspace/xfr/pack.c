/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xfr/pack.h"

#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/rdata.h"

/* Finds the labels of a name, once, before it is compared with several others. */
static void split_packed(struct pack_name *n, const uint8_t *name)
{
	unsigned int at = 0;

	n->n_labels = 0;
	while (name[at]) {
		n->at[n->n_labels++] = (uint8_t)at;
		at += 1u + name[at];
	}
	n->at[n->n_labels] = (uint8_t)at;
	memcpy(n->octets, name, at + 1);
}

static bool packed_label_equal(const uint8_t *a, const uint8_t *b)
{
	for (unsigned int i = 0; i <= *a; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* How many labels, from the right, are the same in both and have an offset in b. */
static unsigned int packed_common(const struct pack_name *a, const struct pack_name *b)
{
	unsigned int max = a->n_labels < b->n_labels ? a->n_labels : b->n_labels, best = 0;

	for (unsigned int k = 1; k <= max; k++) {
		if (!packed_label_equal(a->octets + a->at[a->n_labels - k],
					b->octets + b->at[b->n_labels - k]))
			break;
		if (b->offset[b->n_labels - k])
			best = k;
	}
	return best;
}

static const struct pack_name *find_packed(const struct pack *p, const struct pack_name *n,
					   unsigned int *n_shared)
{
	const struct pack_name *best = &p->owners[p->owner];

	*n_shared = packed_common(n, best);
	for (unsigned int i = 0; i < PACK_RDATA_NAMES && *n_shared < n->n_labels; i++) {
		unsigned int shared = i == p->rdata ? 0 : packed_common(n, &p->rdatas[i]);

		if (shared <= *n_shared)
			continue;
		*n_shared = shared;
		best = &p->rdatas[i];
	}
	return best;
}

/* Stores the offsets of n's labels: n_written were written at at, from has the others. */
static void note_packed(struct pack_name *n, unsigned int n_written, size_t at,
			const struct pack_name *from)
{
	for (unsigned int i = 0; i < n_written; i++)
		n->offset[i] = at + n->at[i] <= DNS_POINTER_MAX ? (uint16_t)(at + n->at[i]) : 0;
	for (unsigned int i = n_written; i < n->n_labels; i++)
		n->offset[i] = from->offset[from->n_labels - (n->n_labels - i)];
}

/* n is the result of split_packed(). ERR_SPACE: nothing was written. */
static int put_packed_name(struct pack *p, struct pack_name *n)
{
	unsigned int n_shared, n_written;
	const struct pack_name *from = find_packed(p, n, &n_shared);
	size_t bytes;

	n_written = n->n_labels - n_shared;
	bytes = n->at[n_written];
	if (p->limit - p->at < bytes + (n_shared ? 2 : 1))
		return ERR_SPACE;
	memcpy(p->msg + p->at, n->octets, bytes);
	note_packed(n, n_written, p->at, from);
	p->at += bytes;
	if (n_shared) {
		wire_store_be16(p->msg + p->at,
				(uint16_t)(DNS_POINTER_BITS << 8 | n->offset[n_written]));
		p->at += 2;
	} else {
		p->msg[p->at++] = 0;
	}
	return 0;
}

static int put_owner(struct pack *p, const uint8_t *name)
{
	const struct pack_name *last = &p->owners[p->owner];
	struct pack_name *n = &p->owners[!p->owner];
	int err;

	/* Most records have the same owner as the record before. */
	if (last->n_labels && last->offset[0] && p->limit - p->at >= 2 &&
	    name_bytes(name) == last->at[last->n_labels] + 1u &&
	    !memcmp(name, last->octets, last->at[last->n_labels])) {
		wire_store_be16(p->msg + p->at,
				(uint16_t)(DNS_POINTER_BITS << 8 | last->offset[0]));
		p->at += 2;
		return 0;
	}
	split_packed(n, name);
	err = put_packed_name(p, n);
	if (!err)
		p->owner = !p->owner;
	return err;
}

static int put_rdata_name(struct pack *p, const uint8_t *name)
{
	struct pack_name *n = &p->rdatas[p->rdata];
	int err;

	split_packed(n, name);
	err = put_packed_name(p, n);
	if (!err)
		p->rdata = (p->rdata + 1) % PACK_RDATA_NAMES;
	return err;
}

static int put_packed_octets(struct pack *p, const uint8_t *octets, size_t n)
{
	if (p->limit - p->at < n)
		return ERR_SPACE;
	if (n)
		memcpy(p->msg + p->at, octets, n);
	p->at += n;
	return 0;
}

static int put_packed_rdata(struct pack *p, uint16_t type, const uint8_t *rdata, size_t n)
{
	struct rdata_layout l = rdata_layout(type, RD_SEND);
	const uint8_t *end = rdata + n;
	int err;

	if (!l.n_names)
		return put_packed_octets(p, rdata, n);
	err = put_packed_octets(p, rdata, l.front_bytes);
	rdata += l.front_bytes;
	while (l.n_names-- && !err) {
		err = put_rdata_name(p, rdata);
		rdata += name_bytes(rdata);
	}
	return err ? err : put_packed_octets(p, rdata, (size_t)(end - rdata));
}

static int put_packed_record(struct pack *p, const uint8_t *owner, uint16_t type, uint32_t ttl,
			     const uint8_t *rdata, size_t rdata_bytes)
{
	uint8_t *fixed;
	int err = put_owner(p, owner);

	if (err || p->limit - p->at < DNS_RR_FIXED_BYTES)
		return ERR_SPACE;
	fixed = p->msg + p->at;
	p->at += DNS_RR_FIXED_BYTES;
	wire_store_be16(fixed, type);
	wire_store_be16(fixed + 2, DNS_CLASS_IN);
	wire_store_be32(fixed + 4, ttl);
	err = put_packed_rdata(p, type, rdata, rdata_bytes);
	if (!err)
		wire_store_be16(fixed + 8, (uint16_t)(p->msg + p->at - fixed - DNS_RR_FIXED_BYTES));
	return err;
}

void pack_begin(struct pack *p, uint8_t *msg, size_t at, size_t limit, const uint8_t *qname)
{
	p->msg = msg;
	p->at = at;
	p->limit = limit;
	p->n_records = 0;
	p->owner = 0;
	p->rdata = 0;
	p->owners[0].n_labels = 0;
	for (unsigned int i = 0; i < PACK_RDATA_NAMES; i++)
		p->rdatas[i].n_labels = 0;
	if (!qname)
		return;
	split_packed(&p->owners[0], qname);
	note_packed(&p->owners[0], p->owners[0].n_labels, DNS_HEADER_BYTES, NULL);
}

int pack_record(struct pack *p, const uint8_t *owner, uint16_t type, uint32_t ttl,
		const uint8_t *rdata, size_t rdata_bytes)
{
	size_t at = p->at;
	int err = put_packed_record(p, owner, type, ttl, rdata, rdata_bytes);

	if (err)
		p->at = at;
	else
		p->n_records++;
	return err;
}
