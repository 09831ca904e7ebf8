/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cursors over bytes in network order. Their error stays: after the first access out of bounds
 * every read gives 0, every write does nothing, and the position stays. So a parser reads a group
 * of fields and checks once, at its end, if all of them were there.
 *
 * A cursor borrows the caller's bytes; it owns nothing. One thread for each cursor.
 */
#ifndef VOLLEY_BASE_WIRE_H
#define VOLLEY_BASE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

/* Unaligned big-endian access, host order in and out. */
static inline uint16_t wire_load_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t wire_load_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void wire_store_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void wire_store_be32(uint8_t *p, uint32_t v)
{
	wire_store_be16(p, (uint16_t)(v >> 16));
	wire_store_be16(p + 2, (uint16_t)v);
}

struct wire_reader {
	const uint8_t *start;
	size_t n_bytes;
	size_t at; /* offset of the next byte */
	int error; /* 0 or ERR_SHORT */
};

static inline void wire_reader_init(struct wire_reader *r, const void *bytes, size_t n_bytes)
{
	*r = (struct wire_reader){ .start = bytes, .n_bytes = n_bytes };
}

/* Bytes not yet read; 0 after an error. */
static inline size_t wire_reader_left(const struct wire_reader *r)
{
	return r->error ? 0 : r->n_bytes - r->at;
}

/* Returns a pointer to the next n bytes and skips them. If there are fewer: NULL and the error. */
static inline const uint8_t *wire_read_ref(struct wire_reader *r, size_t n)
{
	const uint8_t *p;

	if (r->error || n > r->n_bytes - r->at) {
		r->error = ERR_SHORT;
		return NULL;
	}
	p = r->start + r->at;
	r->at += n;
	return p;
}

static inline void wire_reader_skip(struct wire_reader *r, size_t n)
{
	(void)wire_read_ref(r, n);
}

/* Goes to an offset from the start, at most n_bytes. Does not clear an error. */
static inline void wire_reader_seek(struct wire_reader *r, size_t at)
{
	if (r->error || at > r->n_bytes)
		r->error = ERR_SHORT;
	else
		r->at = at;
}

static inline uint8_t wire_read_u8(struct wire_reader *r)
{
	const uint8_t *p = wire_read_ref(r, 1);

	return p ? *p : 0;
}

static inline uint16_t wire_read_be16(struct wire_reader *r)
{
	const uint8_t *p = wire_read_ref(r, 2);

	return p ? wire_load_be16(p) : 0;
}

static inline uint32_t wire_read_be32(struct wire_reader *r)
{
	const uint8_t *p = wire_read_ref(r, 4);

	return p ? wire_load_be32(p) : 0;
}

/* Copies n bytes out; fills dst with zeros if there are fewer. */
static inline void wire_read_bytes(struct wire_reader *r, void *dst, size_t n)
{
	const uint8_t *p = wire_read_ref(r, n);

	if (p)
		memcpy(dst, p, n);
	else
		memset(dst, 0, n);
}

struct wire_writer {
	uint8_t *start;
	size_t cap_bytes;
	size_t at; /* offset of the next byte, and so the bytes written */
	int error; /* 0 or ERR_SPACE */
};

static inline void wire_writer_init(struct wire_writer *w, void *bytes, size_t cap_bytes)
{
	*w = (struct wire_writer){ .start = bytes, .cap_bytes = cap_bytes };
}

/* Room that is left; 0 after an error. */
static inline size_t wire_writer_left(const struct wire_writer *w)
{
	return w->error ? 0 : w->cap_bytes - w->at;
}

/*
 * Room for the next n bytes, for the caller to fill; NULL, with the error set, if it is too small.
 */
static inline uint8_t *wire_write_ref(struct wire_writer *w, size_t n)
{
	uint8_t *p;

	if (w->error || n > w->cap_bytes - w->at) {
		w->error = ERR_SPACE;
		return NULL;
	}
	p = w->start + w->at;
	w->at += n;
	return p;
}

static inline void wire_write_u8(struct wire_writer *w, uint8_t v)
{
	uint8_t *p = wire_write_ref(w, 1);

	if (p)
		*p = v;
}

static inline void wire_write_be16(struct wire_writer *w, uint16_t v)
{
	uint8_t *p = wire_write_ref(w, 2);

	if (p)
		wire_store_be16(p, v);
}

static inline void wire_write_be32(struct wire_writer *w, uint32_t v)
{
	uint8_t *p = wire_write_ref(w, 4);

	if (p)
		wire_store_be32(p, v);
}

static inline void wire_write_bytes(struct wire_writer *w, const void *src, size_t n)
{
	uint8_t *p = wire_write_ref(w, n);

	if (p && n)
		memcpy(p, src, n);
}

#endif
