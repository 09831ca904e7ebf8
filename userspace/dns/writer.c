/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/writer.h"

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/rdata.h"

/* A longer bucket is not searched to its end: crafted names must not turn the table into a list. */
#define BUCKET_WALK_MAX 16

/* A name in parts: where each label begins, and the hash of the suffix from there on. The bytes are
 * folded, with room after them for reading by words. */
struct parts {
	unsigned int n_labels;
	uint8_t at[DNS_LABELS_MAX + 1]; /* the last is the root's */
	uint32_t hash[DNS_LABELS_MAX];
	uint8_t folded[NAME_FOLDED_BYTES + 8] __attribute__((aligned(8)));
};

static uint8_t lower_writer(uint8_t c)
{
	return (uint8_t)(c | (unsigned int)((uint8_t)(c - 'A') < 26) << 5);
}

/* Hashes a label with its length octet, by words, after the hash of the suffix to its right. */
static uint32_t hash_writer_label(uint32_t hash, const uint8_t *label)
{
	uint64_t h = hash, word;
	unsigned int n = 1u + *label;

	for (; n > 8; label += 8, n -= 8) {
		memcpy(&word, label, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	memcpy(&word, label, 8);
	h = (h ^ (le64toh(word) & ~0ull >> 8 * (8 - n))) * 0x9e3779b97f4a7c15;
	return (uint32_t)(h >> 32);
}

static void take_apart(struct parts *p, const uint8_t *name)
{
	uint32_t hash = 2166136261u;
	unsigned int at = 0;

	p->n_labels = 0;
	for (; name[at]; at += 1u + name[at])
		p->at[p->n_labels++] = (uint8_t)at;
	p->at[p->n_labels] = (uint8_t)at;
	name_fold(p->folded, name, at + 1);
	for (unsigned int i = p->n_labels; i--;) {
		hash = hash_writer_label(hash, p->folded + p->at[i]);
		p->hash[i] = hash;
	}
}

static uint16_t *bucket_of_writer(struct writer *w, uint32_t hash)
{
	return &w->bucket[(hash ^ hash >> 16) % WRITER_BUCKETS];
}

/* Remembers the first n suffixes of a name at message offset name_at. */
static void remember(struct writer *w, const struct parts *p, unsigned int n, uint32_t name_at)
{
	for (unsigned int i = 0; i < n; i++) {
		uint16_t *bucket = bucket_of_writer(w, p->hash[i]);
		struct writer_suffix *s = &w->suffix[w->n_suffixes];

		if (name_at + p->at[i] > DNS_POINTER_MAX || w->n_suffixes == WRITER_SUFFIX_CAP)
			return;
		s->hash = p->hash[i];
		s->offset = (uint16_t)(name_at + p->at[i]);
		s->next = *bucket;
		*bucket = ++w->n_suffixes;
	}
}

/* Only names are looked at, so an offset is in the question's name or in what was written here. */
static const uint8_t *writer_message_at(const struct writer *w, uint32_t offset)
{
	return offset < w->base ? w->qname + (offset - DNS_HEADER_BYTES) :
				  w->buf + (offset - w->base);
}

static bool writer_label_equal(const uint8_t *label, const uint8_t *folded)
{
	for (unsigned int i = 0; i <= *label; i++)
		if (lower_writer(label[i]) != folded[i])
			return false;
	return true;
}

/* True if the name at this message offset, with its pointers followed, is the folded name. */
static bool stands_at(const struct writer *w, uint32_t offset, const uint8_t *folded)
{
	for (;;) {
		const uint8_t *p = writer_message_at(w, offset);

		if (*p >= DNS_POINTER_BITS) {
			offset = wire_load_be16(p) & DNS_POINTER_MAX;
			continue;
		}
		if (!writer_label_equal(p, folded))
			return false;
		if (!*p)
			return true;
		offset += 1u + *p;
		folded += 1u + *folded;
	}
}

/* The message offset of an earlier suffix, or 0. */
static uint16_t find_writer(struct writer *w, uint32_t hash, const uint8_t *folded)
{
	unsigned int walk = BUCKET_WALK_MAX;

	for (uint16_t i = *bucket_of_writer(w, hash); i && walk--; i = w->suffix[i - 1].next) {
		const struct writer_suffix *s = &w->suffix[i - 1];

		if (s->hash == hash && stands_at(w, s->offset, folded))
			return s->offset;
	}
	return 0;
}

void writer_init(struct writer *w, uint8_t *buf, uint32_t base, uint32_t limit,
		 const uint8_t *qname)
{
	struct parts p;

	assert(base >= DNS_HEADER_BYTES && base <= limit && limit <= DNS_MESSAGE_MAX);
	memset(w, 0, offsetof(struct writer, suffix));
	w->buf = buf;
	w->qname = qname;
	w->base = base;
	w->at = base;
	w->limit = limit;
	if (!qname)
		return;
	take_apart(&p, qname);
	remember(w, &p, p.n_labels, DNS_HEADER_BYTES);
}

void writer_set_limit(struct writer *w, uint32_t limit)
{
	assert(limit >= w->at && limit <= DNS_MESSAGE_MAX);
	w->limit = limit;
}

void writer_set_section(struct writer *w, enum writer_section section)
{
	assert(section >= w->section && section < WRITER_N_SECTIONS);
	w->section = (uint8_t)section;
}

static void put_writer_bytes(struct writer *w, const void *src, size_t n)
{
	memcpy(w->buf + (w->at - w->base), src, n);
	w->at += (uint32_t)n;
}

static void put_be16(struct writer *w, uint16_t v)
{
	wire_store_be16(w->buf + (w->at - w->base), v);
	w->at += 2;
}

int writer_add_name(struct writer *w, const uint8_t *name)
{
	uint32_t name_at = w->at;
	uint16_t target = 0;
	struct parts p;
	unsigned int n = 0; /* labels that are written out */

	/*
	 * Most records have the question's owner. The root needs no pointer: it is shorter itself.
	 */
	if (name == w->qname && *name && writer_left(w) >= 2) {
		put_be16(w, 0xc000 | DNS_HEADER_BYTES);
		return 0;
	}
	take_apart(&p, name);
	while (n < p.n_labels && !(target = find_writer(w, p.hash[n], p.folded + p.at[n])))
		n++;
	if (writer_left(w) < p.at[n] + (target ? 2u : 1u))
		return ERR_SPACE;
	put_writer_bytes(w, name, p.at[n]);
	if (target)
		put_be16(w, (uint16_t)(0xc000 | target));
	else
		put_writer_bytes(w, "", 1);
	remember(w, &p, n, name_at);
	return 0;
}

static int add_bytes(struct writer *w, const uint8_t *src, size_t n)
{
	if (!src)
		return ERR_RDATA;
	if (writer_left(w) < n)
		return ERR_SPACE;
	put_writer_bytes(w, src, n);
	return 0;
}

static int add_rdata_name(struct writer *w, struct wire_reader *r)
{
	const uint8_t *name = r->start + r->at;
	int n_bytes = name_check(name, wire_reader_left(r));

	if (n_bytes < 0)
		return ERR_RDATA;
	wire_reader_skip(r, (size_t)n_bytes);
	return writer_add_name(w, name);
}

static int add_rdata(struct writer *w, uint16_t type, const uint8_t *rdata, size_t rdata_bytes)
{
	struct rdata_layout l = rdata_layout(type, RD_SEND);
	struct wire_reader r;
	int error;

	wire_reader_init(&r, rdata, rdata_bytes);
	if (!l.n_names)
		return rdata_bytes ? add_bytes(w, rdata, rdata_bytes) : 0;
	error = add_bytes(w, wire_read_ref(&r, l.front_bytes), l.front_bytes);
	while (l.n_names-- && !error)
		error = add_rdata_name(w, &r);
	if (error)
		return error;
	if (wire_reader_left(&r) != l.tail_bytes)
		return ERR_RDATA;
	return add_bytes(w, wire_read_ref(&r, l.tail_bytes), l.tail_bytes);
}

/* Writes owner, fixed fields and data. If it fails, what was written stays. */
static int add_whole(struct writer *w, const uint8_t *owner, uint16_t type, uint16_t class,
		     uint32_t ttl, const uint8_t *rdata, size_t rdata_bytes)
{
	uint8_t fixed[DNS_RR_FIXED_BYTES] = { 0 };
	uint32_t rdata_at;
	int error = writer_add_name(w, owner);

	if (error)
		return error;
	wire_store_be16(fixed, type);
	wire_store_be16(fixed + 2, class);
	wire_store_be32(fixed + 4, ttl);
	error = add_bytes(w, fixed, sizeof(fixed));
	if (error)
		return error;
	rdata_at = w->at;
	error = add_rdata(w, type, rdata, rdata_bytes);
	if (error)
		return error;
	wire_store_be16(w->buf + (rdata_at - 2 - w->base), (uint16_t)(w->at - rdata_at));
	w->ttl_at = rdata_at - 6;
	return 0;
}

int writer_add_rr(struct writer *w, const uint8_t *owner, uint16_t type, uint16_t class,
		  uint32_t ttl, const uint8_t *rdata, size_t rdata_bytes)
{
	struct writer_mark mark = writer_get_mark(w);
	int error = add_whole(w, owner, type, class, ttl, rdata, rdata_bytes);

	if (error)
		writer_rollback(w, &mark);
	else
		w->n_records[w->section]++;
	return error;
}

struct writer_mark writer_get_mark(const struct writer *w)
{
	struct writer_mark mark = {
		.at = w->at,
		.n_suffixes = w->n_suffixes,
		.section = w->section,
	};

	memcpy(mark.n_records, w->n_records, sizeof(mark.n_records));
	return mark;
}

void writer_rollback(struct writer *w, const struct writer_mark *mark)
{
	assert(mark->at <= w->at && mark->n_suffixes <= w->n_suffixes);
	/* The youngest is the head of its bucket, so removing them in turn restores each list. */
	while (w->n_suffixes > mark->n_suffixes) {
		const struct writer_suffix *s = &w->suffix[--w->n_suffixes];

		*bucket_of_writer(w, s->hash) = s->next;
	}
	w->at = mark->at;
	w->section = mark->section;
	memcpy(w->n_records, mark->n_records, sizeof(w->n_records));
}

void writer_put_header(const struct writer *w, uint8_t header[DNS_HEADER_BYTES], uint16_t id,
		       uint16_t flags, unsigned int n_extra)
{
	wire_store_be16(header + DNS_ID_AT, id);
	wire_store_be16(header + DNS_FLAGS_AT, flags);
	wire_store_be16(header + DNS_QDCOUNT_AT, w->qname ? 1 : 0);
	wire_store_be16(header + DNS_ANCOUNT_AT, w->n_records[WRITER_ANSWER]);
	wire_store_be16(header + DNS_NSCOUNT_AT, w->n_records[WRITER_AUTHORITY]);
	wire_store_be16(header + DNS_ARCOUNT_AT,
			(uint16_t)(w->n_records[WRITER_ADDITIONAL] + n_extra));
}
