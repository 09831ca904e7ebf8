/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes records by zone/rdprint.h. Many lines go to stdio at once, since each call takes a lock.
 */
#include "zone/rdprint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "zone/zone_walk.h"

#define LINES_BYTES    (64u << 10)
#define LINE_BYTES_MAX (RDPRINT_NAME_MAX + 64u + RDPRINT_TEXT_MAX)

struct dump {
	const struct zone *z;
	FILE *out;
	char *lines; /* LINES_BYTES + LINE_BYTES_MAX */
	size_t n_lines_bytes;
	char owner_text[RDPRINT_NAME_MAX];
	size_t owner_text_bytes;
	uint8_t owner[ZONE_NAME_MAX];
};

static int flush_lines(struct dump *d)
{
	size_t n = d->n_lines_bytes;

	d->n_lines_bytes = 0;
	return fwrite(d->lines, 1, n, d->out) == n ? 0 : -errno;
}

/* Appends a line to the buffer. */
static int put_dump_record(struct dump *d, const struct zone_rrset *rrset,
			   const struct zone_rdata *rd)
{
	char *line = d->lines + d->n_lines_bytes, *at = line;

	memcpy(at, d->owner_text, d->owner_text_bytes);
	at += d->owner_text_bytes;
	*at++ = '\t';
	at += rdprint_u32(at, rrset->ttl);
	memcpy(at, "\tIN\t", 4);
	at += 4;
	at += rdprint_record(at, rrset->type, rd->bytes, rd->len);
	*at++ = '\n';
	d->n_lines_bytes += (size_t)(at - line);
	return d->n_lines_bytes < LINES_BYTES ? 0 : flush_lines(d);
}

static int put_dump_rrset(struct dump *d, const struct zone_rrset *rrset)
{
	const uint8_t *at = zone_rrset_first(d->z, rrset);
	struct zone_rdata rd;
	int rc = 0;

	for (unsigned i = 0; i < rrset->n && !rc; i++) {
		at = zone_rdata_next(at, &rd);
		rc = put_dump_record(d, rrset, &rd);
	}
	return rc;
}

static int put_dump_node(struct dump *d, const struct zone_node *node)
{
	unsigned n;
	const struct zone_rrset *rrsets = zone_node_rrsets(d->z, node, &n), *soa = NULL;
	int rc = 0;

	if (!n)
		return 0;
	zone_node_owner(d->z, node, d->owner);
	d->owner_text_bytes = rdprint_name(d->owner_text, d->owner);
	if (node == zone_apex_node(d->z)) {
		soa = zone_soa(d->z);
		rc = put_dump_rrset(d, soa);
	}
	for (unsigned i = 0; i < n && !rc; i++)
		if (&rrsets[i] != soa)
			rc = put_dump_rrset(d, &rrsets[i]);
	return rc;
}

int zone_dump(const struct zone *z, FILE *out, const bool *cancel)
{
	struct dump d = { .z = z, .out = out };
	const struct zone_node *node;
	struct zone_walk walk;
	int rc = 0;

	zone_walk_init(&walk, z);
	d.lines = malloc(LINES_BYTES + LINE_BYTES_MAX);
	if (!d.lines)
		rc = -ENOMEM;
	while (!rc && (node = zone_walk_next(&walk))) {
		if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED))
			rc = -ECANCELED;
		else
			rc = put_dump_node(&d, node);
	}
	if (!rc)
		rc = flush_lines(&d);
	if (!rc && fflush(out))
		rc = -errno;
	free(d.lines);
	return rc;
}
