/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/message.h"

#include <stddef.h>
#include <string.h>

#include "base/wire.h"
#include "cache/cache.h"
#include "dns/proto.h"

struct message message_of_entry(const struct volley_entry *entry)
{
	struct message m = {
		.name = entry->name,
		.body = cache_entry_body(entry),
		.name_end = DNS_HEADER_BYTES + (uint32_t)entry->key.name_bytes,
	};

	m.body_at = m.name_end + DNS_QUESTION_FIXED_BYTES;
	m.end = m.body_at + (VOLLEY_IS_SHARED(entry->key) ? entry->short_bytes : entry->full_bytes);
	return m;
}

bool message_of_wire(struct message *m, const uint8_t *msg, size_t n)
{
	int name_bytes;

	if (n < DNS_HEADER_BYTES || n > DNS_MESSAGE_MAX ||
	    wire_load_be16(msg + DNS_QDCOUNT_AT) != 1)
		return false;
	name_bytes = name_check(msg + DNS_HEADER_BYTES, n - DNS_HEADER_BYTES);
	if (name_bytes < 0)
		return false;
	*m = (struct message){
		.name = msg + DNS_HEADER_BYTES,
		.name_end = DNS_HEADER_BYTES + (uint32_t)name_bytes,
		.end = (uint32_t)n,
	};
	m->body_at = m->name_end + DNS_QUESTION_FIXED_BYTES;
	m->body = msg + m->body_at;
	return m->body_at <= m->end;
}

const uint8_t *message_octets(const struct message *m, uint32_t at, uint32_t *n)
{
	if (at >= m->body_at && at < m->end) {
		*n = m->end - at;
		return m->body + (at - m->body_at);
	}
	if (at >= DNS_HEADER_BYTES && at < m->name_end) {
		*n = m->name_end - at;
		return m->name + (at - DNS_HEADER_BYTES);
	}
	return NULL;
}

uint32_t message_name_end(const struct message *m, uint32_t at)
{
	uint32_t n, i = 0;
	const uint8_t *p = message_octets(m, at, &n);

	while (p && i < n) {
		if (p[i] >= DNS_POINTER_BITS)
			return i + 2 <= n ? at + i + 2 : 0;
		if (!p[i])
			return at + i + 1;
		i += p[i] + 1u;
	}
	return 0;
}

/* Each pointer must lead further back than the last one, so the loop ends. */
unsigned message_copy_name(const struct message *m, uint32_t at, uint8_t name[NAME_FOLDED_BYTES])
{
	uint32_t lowest = at, out = 0, n;

	for (;;) {
		const uint8_t *p = message_octets(m, at, &n);

		if (!p)
			return 0;
		if ((*p & DNS_POINTER_BITS) == DNS_POINTER_BITS) {
			if (n < 2)
				return 0;
			at = wire_load_be16(p) & DNS_POINTER_MAX;
			if (at >= lowest)
				return 0;
			lowest = at;
			continue;
		}
		if (*p > DNS_LABEL_MAX || *p >= n || out + *p + 1u > DNS_NAME_MAX)
			return 0;
		memcpy(name + out, p, *p + 1u);
		out += *p + 1u;
		at += *p + 1u;
		if (!*p)
			break;
	}
	return out;
}

unsigned message_read_name(const struct message *m, uint32_t at, uint8_t folded[NAME_FOLDED_BYTES])
{
	unsigned len = message_copy_name(m, at, folded);

	name_fold(folded, folded, len);
	return len;
}

bool message_read_record(const struct message *m, uint32_t at, struct message_record *record)
{
	uint32_t n;
	const uint8_t *p = message_octets(m, at, &n);

	if (!p || n < DNS_RR_FIXED_BYTES)
		return false;
	*record = (struct message_record){
		.type = wire_load_be16(p),
		.class = wire_load_be16(p + 2),
		.ttl = wire_load_be32(p + 4),
		.len = wire_load_be16(p + 8),
		.rdata_at = at + DNS_RR_FIXED_BYTES,
		.rdata = p + DNS_RR_FIXED_BYTES,
	};
	return record->len <= n - DNS_RR_FIXED_BYTES;
}
