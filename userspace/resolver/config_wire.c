/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/config_wire.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_WIRE_MAGIC 0x766f6c72u

enum member_kind {
	MEMBER_PLAIN,     /* octets as they are: numbers, and enums */
	MEMBER_FLAG,      /* bool */
	MEMBER_TRANSPORT, /* enum resolver_transport */
	MEMBER_TEXT,
	MEMBER_TEXTS,   /* a list that ends in NULL */
	MEMBER_STUBS,   /* a pointer, with its number in the next row */
	MEMBER_OPTIONS, /* likewise */
	MEMBER_COUNT,   /* of the row before */
};

struct member {
	enum member_kind kind;
	size_t at;
	size_t bytes;
};

#define MEMBER(kind, name)                                       \
	{ MEMBER_##kind, offsetof(struct resolver_config, name), \
	  sizeof(((struct resolver_config *)0)->name) },

static const struct member members[] = { RESOLVER_CONFIG_MEMBERS(MEMBER) };

#define N_MEMBERS (sizeof(members) / sizeof(members[0]))

/* --- Writer ----------------------------------------------------------------------------------- */

struct config_writer {
	uint8_t *out;
	size_t cap;
	size_t n; /* octets so far, also those without room */
};

static void put_octets(struct config_writer *w, const void *from, size_t n)
{
	if (n && w->n <= w->cap && n <= w->cap - w->n)
		memcpy(w->out + w->n, from, n);
	w->n += n;
}

static void put_u32(struct config_writer *w, size_t value)
{
	uint32_t number = (uint32_t)value;

	put_octets(w, &number, sizeof(number));
}

/* The length with the NUL; 0: there is no text. */
static void put_config_text(struct config_writer *w, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0;

	put_u32(w, n);
	put_octets(w, text, n);
}

static void put_config_texts(struct config_writer *w, const char *const *texts)
{
	size_t n = 0;

	while (texts && texts[n])
		n++;
	put_u32(w, n);
	for (size_t i = 0; i < n; i++)
		put_config_text(w, texts[i]);
}

static void put_config_stubs(struct config_writer *w, const struct resolver_stub *stubs, size_t n)
{
	put_u32(w, n);
	for (size_t i = 0; i < n; i++) {
		const struct resolver_stub *s = &stubs[i];

		put_config_text(w, s->zone);
		put_config_text(w, s->address);
		put_u32(w, s->is_forward);
		put_u32(w, s->prime);
		put_u32(w, s->first);
		put_u32(w, s->transport);
	}
}

static void put_config_options(struct config_writer *w, const struct resolver_option *options,
			       size_t n)
{
	put_u32(w, n);
	for (size_t i = 0; i < n; i++) {
		put_config_text(w, options[i].name);
		put_config_text(w, options[i].value);
	}
}

static void put_member(struct config_writer *w, const struct member *m,
		       const struct resolver_config *config)
{
	const void *at = (const char *)config + m->at;

	switch (m->kind) {
	case MEMBER_PLAIN:
	case MEMBER_FLAG:
	case MEMBER_TRANSPORT:
		put_octets(w, at, m->bytes);
		break;
	case MEMBER_TEXT:
		put_config_text(w, *(const char *const *)at);
		break;
	case MEMBER_TEXTS:
		put_config_texts(w, *(const char *const *const *)at);
		break;
	case MEMBER_STUBS:
		put_config_stubs(w, config->stubs, config->n_stubs);
		break;
	case MEMBER_OPTIONS:
		put_config_options(w, *(const struct resolver_option *const *)at,
				   *(const size_t *)(const void *)((const char *)config + m[1].at));
		break;
	case MEMBER_COUNT:
		break;
	}
}

size_t config_wire_write(uint8_t *out, size_t cap, const struct resolver_config *config)
{
	struct config_writer w = { .out = out, .cap = cap };

	put_u32(&w, CONFIG_WIRE_MAGIC);
	put_u32(&w, sizeof(*config));
	for (size_t i = 0; i < N_MEMBERS; i++)
		put_member(&w, &members[i], config);
	return w.n;
}

/* --- Reader ----------------------------------------------------------------------------------- */

struct config_reader {
	const uint8_t *at;
	size_t left;
	uint8_t *memory; /* lists and texts */
	size_t used;
	size_t cap;
	bool is_wrong;
};

static void get_octets(struct config_reader *r, void *out, size_t n)
{
	if (r->is_wrong || n > r->left) {
		r->is_wrong = true;
		memset(out, 0, n);
		return;
	}
	memcpy(out, r->at, n);
	r->at += n;
	r->left -= n;
}

static uint32_t get_u32(struct config_reader *r)
{
	uint32_t n;

	get_octets(r, &n, sizeof(n));
	return n;
}

static bool get_flag(struct config_reader *r)
{
	uint32_t value = get_u32(r);

	r->is_wrong |= value > 1;
	return value == 1;
}

/* Room in the block. NULL, and the reader has failed: the octets are not ours. */
static void *get_room(struct config_reader *r, size_t n_items, size_t item_bytes)
{
	size_t bytes = (n_items * item_bytes + 7) & ~(size_t)7;
	void *room = r->memory + r->used;

	if (r->is_wrong || n_items > r->left || bytes > r->cap - r->used) {
		r->is_wrong = true;
		return NULL;
	}
	r->used += bytes;
	return room;
}

static const char *get_config_text(struct config_reader *r)
{
	uint32_t n = get_u32(r);
	char *text = n ? get_room(r, n, 1) : NULL;

	if (!text)
		return NULL;
	get_octets(r, text, n);
	if (r->is_wrong || memchr(text, 0, n) != text + n - 1) {
		r->is_wrong = true;
		return NULL;
	}
	return text;
}

/* A text that must be there. */
static const char *get_given_text(struct config_reader *r)
{
	const char *text = get_config_text(r);

	r->is_wrong |= !text;
	return text;
}

static const char *const *get_config_texts(struct config_reader *r)
{
	uint32_t n = get_u32(r);
	const char **texts = n ? get_room(r, (size_t)n + 1, sizeof(*texts)) : NULL;

	if (!texts)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		texts[i] = get_given_text(r);
	texts[n] = NULL;
	return texts;
}

static enum resolver_transport get_transport(struct config_reader *r)
{
	uint32_t value = get_u32(r);

	r->is_wrong |= value > RESOLVER_TLS;
	return (enum resolver_transport)value;
}

static void get_stubs(struct config_reader *r, struct resolver_config *config)
{
	uint32_t n = get_u32(r);
	struct resolver_stub *stubs = n ? get_room(r, n, sizeof(*stubs)) : NULL;

	for (uint32_t i = 0; stubs && i < n && !r->is_wrong; i++) {
		stubs[i].zone = get_given_text(r);
		stubs[i].address = get_given_text(r);
		stubs[i].is_forward = get_flag(r);
		stubs[i].prime = get_flag(r);
		stubs[i].first = get_flag(r);
		stubs[i].transport = get_transport(r);
	}
	config->stubs = stubs;
	config->n_stubs = stubs ? n : 0;
}

static void get_options(struct config_reader *r, const struct resolver_option **out, size_t *n_out)
{
	uint32_t n = get_u32(r);
	struct resolver_option *options = n ? get_room(r, n, sizeof(*options)) : NULL;

	for (uint32_t i = 0; options && i < n && !r->is_wrong; i++) {
		options[i].name = get_given_text(r);
		options[i].value = get_given_text(r);
	}
	*out = options;
	*n_out = options ? n : 0;
}

static void get_member(struct config_reader *r, const struct member *m,
		       struct resolver_config *config)
{
	void *at = (char *)config + m->at;
	uint8_t flag;

	switch (m->kind) {
	case MEMBER_PLAIN:
		get_octets(r, at, m->bytes);
		break;
	case MEMBER_FLAG:
		get_octets(r, &flag, sizeof(flag));
		r->is_wrong |= flag > 1;
		*(bool *)at = flag == 1;
		break;
	case MEMBER_TRANSPORT:
		*(enum resolver_transport *)at = get_transport(r);
		break;
	case MEMBER_TEXT:
		*(const char **)at = get_config_text(r);
		break;
	case MEMBER_TEXTS:
		*(const char *const **)at = get_config_texts(r);
		break;
	case MEMBER_STUBS:
		get_stubs(r, config);
		break;
	case MEMBER_OPTIONS:
		get_options(r, at, (size_t *)(void *)((char *)config + m[1].at));
		break;
	case MEMBER_COUNT:
		break;
	}
}

/* The largest item for each octet that it takes: a pointer for the four octets of a length. */
static size_t room_for(size_t n)
{
	return 8 * n + 64;
}

int config_wire_read(struct resolver_config *config, void **memory, const uint8_t *from, size_t n)
{
	struct config_reader r = { .at = from, .left = n, .cap = room_for(n) };

	*config = (struct resolver_config){ 0 };
	*memory = r.memory = malloc(r.cap);
	if (!r.memory)
		return -ENOMEM;
	if (get_u32(&r) != CONFIG_WIRE_MAGIC || get_u32(&r) != sizeof(*config))
		r.is_wrong = true;
	for (size_t i = 0; i < N_MEMBERS; i++)
		get_member(&r, &members[i], config);
	if (!r.is_wrong && !r.left)
		return 0;
	free(r.memory);
	*memory = NULL;
	*config = (struct resolver_config){ 0 };
	return -EPROTO;
}
