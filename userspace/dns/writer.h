/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the records of a reply, with name compression (RFC 1035 section 4.1.4).
 *
 * The caller's buffer begins at message offset `base`, after header and question, so the same bytes
 * can go into a message or into the cache:
 *
 * 	 0        12         base = question_end       at              limit
 * 	 | header | question | records written so far  | room          |
 * 	                     ^ buf[0]
 *
 * The question's name is the first compression target (offset 12): an owner that equals it becomes
 * c0 0c. So a reader that puts the client's own question before the records keeps its letter case.
 * A fixed table remembers, by hash, each suffix of each name written below offset 0x4000; writing a
 * name costs one look-up for each of its labels. Matches ignore letter case. If the table is full,
 * or too many suffixes share a hash bucket, names are longer but never wrong.
 *
 * An RRset is written whole or not at all: take a mark, write, roll back on ERR_SPACE. One thread
 * for each writer; about 5 KiB, which the worker keeps; no allocation.
 */
#ifndef VOLLEY_DNS_WRITER_H
#define VOLLEY_DNS_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"

#define WRITER_BUCKETS    256
#define WRITER_SUFFIX_CAP 512

enum writer_section {
	WRITER_ANSWER,
	WRITER_AUTHORITY,
	WRITER_ADDITIONAL,
	WRITER_N_SECTIONS,
};

struct writer_suffix {
	uint32_t hash;
	uint16_t offset; /* in the message */
	uint16_t next;   /* index + 1 of the next older one in the bucket; 0: none */
};

/* A state to return to. Marks nest; rolling back to an older one drops the younger. */
struct writer_mark {
	uint32_t at;
	uint16_t n_suffixes;
	uint16_t n_records[WRITER_N_SECTIONS];
	uint8_t section;
};

struct writer {
	uint8_t *buf;
	const uint8_t *qname; /* borrowed; NULL: no question */
	uint32_t base;        /* message offset of buf[0] */
	uint32_t at;          /* message offset of the next byte */
	uint32_t limit;       /* message offset that is not exceeded */
	uint32_t ttl_at;      /* message offset of the TTL of the last record */
	uint16_t n_suffixes;
	uint16_t n_records[WRITER_N_SECTIONS];
	uint8_t section;
	uint16_t bucket[WRITER_BUCKETS];
	struct writer_suffix suffix[WRITER_SUFFIX_CAP];
};

/*
 * Begins at message offset base, with room up to message offset limit (at most 65535): buf holds
 * limit - base bytes. qname (wire form, any case, NULL for none) is at offset 12 of the message and
 * must live as long as the writer. The section is WRITER_ANSWER.
 */
void writer_init(struct writer *w, uint8_t *buf, uint32_t base, uint32_t limit,
		 const uint8_t *qname);

/* Moves the limit, but not below what is written: to keep room for OPT, or to give it back. */
void writer_set_limit(struct writer *w, uint32_t limit);

/* Counts records in this section from here on; sections come in their order. */
void writer_set_section(struct writer *w, enum writer_section section);

/* Writes one name, compressed. ERR_SPACE: nothing was written. */
int writer_add_name(struct writer *w, const uint8_t *name) __attribute__((warn_unused_result));

/*
 * Writes one record and counts it. owner is an uncompressed name, rdata uncompressed wire form;
 * names inside it are compressed for NS MD MF CNAME SOA MB MG MR PTR MINFO MX only (RFC 3597
 * section 4). ERR_SPACE or ERR_RDATA (names inside it malformed): nothing was written.
 */
int writer_add_rr(struct writer *w, const uint8_t *owner, uint16_t type, uint16_t class,
		  uint32_t ttl, const uint8_t *rdata, size_t rdata_bytes)
	__attribute__((warn_unused_result));

struct writer_mark writer_get_mark(const struct writer *w);

/* Removes everything written since the mark, including counts and compression targets. */
void writer_rollback(struct writer *w, const struct writer_mark *mark);

/* Bytes written into buf. */
static inline size_t writer_bytes(const struct writer *w)
{
	return w->at - w->base;
}

/* Room left in buf. */
static inline size_t writer_left(const struct writer *w)
{
	return w->limit - w->at;
}

/* Fills the 12 header octets: id and flags (including the rcode, host order), QDCOUNT 1 if there is
 * a qname, the counts of the three sections, and n_extra more in ARCOUNT (OPT, TSIG). */
void writer_put_header(const struct writer *w, uint8_t header[DNS_HEADER_BYTES], uint16_t id,
		       uint16_t flags, unsigned int n_extra);

#endif
