/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of common types are written by zone/rdprint.h; any other is given to ldns as it is on the wire,
 * which writes it as text. Lines are gathered, since each call of stdio takes its lock.
 */
#include "zone/dump.h"

#include <errno.h>
#include <ldns/ldns.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "dns/proto.h"
#include "zone/rdprint.h"
#include "zone/walk.h"

#define LINES_BYTES    (64u << 10)
#define LINE_BYTES_MAX (RDPRINT_NAME_MAX + 64u + RDPRINT_TEXT_MAX)

struct dump {
	const struct zone *z;
	FILE *out;
	ldns_buffer *text;
	uint8_t *wire; /* of one record */
	char *lines;   /* LINES_BYTES + LINE_BYTES_MAX */
	size_t n_lines_bytes;
	char owner_text[RDPRINT_NAME_MAX];
	size_t owner_text_bytes;
	uint8_t owner[ZONE_NAME_MAX];
	unsigned owner_bytes;
};

static int flush_lines(struct dump *d)
{
	size_t n = d->n_lines_bytes;

	d->n_lines_bytes = 0;
	return fwrite(d->lines, 1, n, d->out) == n ? 0 : -errno;
}

/* A line behind the others, if its rdata is of a common kind. */
static bool put_fast(struct dump *d, const struct zone_rrset *rrset, const struct zone_rdata *rd)
{
	char *line = d->lines + d->n_lines_bytes, *at = line;
	size_t n;

	memcpy(at, d->owner_text, d->owner_text_bytes);
	at += d->owner_text_bytes;
	*at++ = '\t';
	at += rdprint_u32(at, rrset->ttl);
	memcpy(at, "\tIN\t", 4);
	at += 4;
	at += rdprint_type(at, rrset->type);
	*at++ = '\t';
	n = rdprint(at, rrset->type, rd->bytes, rd->len);
	if (!n)
		return false;
	at += n;
	*at++ = '\n';
	d->n_lines_bytes += (size_t)(at - line);
	return true;
}

static int put_generic(struct dump *d, const struct zone_rrset *rrset, const struct zone_rdata *rd)
{
	ldns_rdf owner = { ._size = d->owner_bytes, ._type = LDNS_RDF_TYPE_DNAME };

	owner._data = d->owner;
	ldns_buffer_clear(d->text);
	if (ldns_rdf2buffer_str_dname(d->text, &owner) != LDNS_STATUS_OK)
		return -ENOMEM;
	fwrite(ldns_buffer_begin(d->text), 1, ldns_buffer_position(d->text), d->out);
	fprintf(d->out, "\t%u\tIN\tTYPE%u\t\\# %u ", rrset->ttl, rrset->type, rd->len);
	for (unsigned i = 0; i < rd->len; i++)
		fprintf(d->out, "%02x", rd->bytes[i]);
	fputc('\n', d->out);
	return ferror(d->out) ? -errno : 0;
}

static size_t put_wire(struct dump *d, const struct zone_rrset *rrset, const struct zone_rdata *rd)
{
	uint8_t *at = d->wire + d->owner_bytes;

	memcpy(d->wire, d->owner, d->owner_bytes);
	wire_store_be16(at, rrset->type);
	wire_store_be16(at + 2, DNS_CLASS_IN);
	wire_store_be32(at + 4, rrset->ttl);
	wire_store_be16(at + 8, rd->len);
	memcpy(at + DNS_RR_FIXED_BYTES, rd->bytes, rd->len);
	return d->owner_bytes + DNS_RR_FIXED_BYTES + rd->len;
}

static int put_slow(struct dump *d, const struct zone_rrset *rrset, const struct zone_rdata *rd)
{
	size_t n = put_wire(d, rrset, rd), at = 0;
	ldns_status status;
	ldns_rr *rr = NULL;
	int rc = flush_lines(d);

	if (rc)
		return rc;
	if (rdprint_knows(rrset->type))
		return put_generic(d, rrset, rd);
	status = ldns_wire2rr(&rr, d->wire, n, &at, LDNS_SECTION_ANSWER);
	if (status == LDNS_STATUS_OK) {
		ldns_buffer_clear(d->text);
		status = ldns_rr2buffer_str_fmt(d->text, ldns_output_format_nocomments, rr);
		ldns_rr_free(rr);
	}
	if (status == LDNS_STATUS_MEM_ERR)
		return -ENOMEM;
	if (status != LDNS_STATUS_OK)
		return put_generic(d, rrset, rd);
	n = ldns_buffer_position(d->text);
	return fwrite(ldns_buffer_begin(d->text), 1, n, d->out) == n ? 0 : -errno;
}

static int put_record(struct dump *d, const struct zone_rrset *rrset, const struct zone_rdata *rd)
{
	if (!put_fast(d, rrset, rd))
		return put_slow(d, rrset, rd);
	return d->n_lines_bytes < LINES_BYTES ? 0 : flush_lines(d);
}

static int put_rrset(struct dump *d, const struct zone_rrset *rrset)
{
	const uint8_t *at = zone_rrset_first(d->z, rrset);
	struct zone_rdata rd;
	int rc = 0;

	for (unsigned i = 0; i < rrset->n && !rc; i++) {
		at = zone_rdata_next(at, &rd);
		rc = put_record(d, rrset, &rd);
	}
	return rc;
}

static int put_node(struct dump *d, const struct zone_node *node)
{
	unsigned n;
	const struct zone_rrset *rrsets = zone_node_rrsets(d->z, node, &n), *soa = NULL;
	int rc = 0;

	if (!n)
		return 0;
	d->owner_bytes = zone_node_owner(d->z, node, d->owner);
	d->owner_text_bytes = rdprint_name(d->owner_text, d->owner);
	if (node == zone_apex_node(d->z)) {
		soa = zone_soa(d->z);
		rc = put_rrset(d, soa);
	}
	for (unsigned i = 0; i < n && !rc; i++)
		if (&rrsets[i] != soa)
			rc = put_rrset(d, &rrsets[i]);
	return rc;
}

int zone_dump(const struct zone *z, FILE *out, const bool *cancel)
{
	struct dump d = { .z = z, .out = out };
	const struct zone_node *node;
	struct zone_walk walk;
	int rc = 0;

	zone_walk_init(&walk, z);
	d.text = ldns_buffer_new(LDNS_MIN_BUFLEN);
	d.wire = malloc(ZONE_NAME_MAX + DNS_RR_FIXED_BYTES + UINT16_MAX);
	d.lines = malloc(LINES_BYTES + LINE_BYTES_MAX);
	if (!d.text || !d.wire || !d.lines)
		rc = -ENOMEM;
	while (!rc && (node = zone_walk_next(&walk))) {
		if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED))
			rc = -ECANCELED;
		else
			rc = put_node(&d, node);
	}
	if (!rc)
		rc = flush_lines(&d);
	if (!rc && fflush(out))
		rc = -errno;
	ldns_buffer_free(d.text);
	free(d.wire);
	free(d.lines);
	return rc;
}
