/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/handover_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache/message.h"

struct key {
	uint8_t bytes;
	uint8_t name[DNS_NAME_MAX];
};

struct handover_rules {
	struct clients *clients;
	size_t n_keys;
	struct key keys[]; /* in order */
};

static int compare_handover(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return memcmp(x->name, y->name, x->bytes);
}

int handover_rules_new(struct handover_rules **out, const struct clients_prefix *prefixes, size_t n,
		       const uint8_t *const *keys, size_t n_keys)
{
	struct handover_rules *rules = calloc(1, sizeof(*rules) + n_keys * sizeof(rules->keys[0]));
	int err;

	if (!rules)
		return -ENOMEM;
	for (size_t i = 0; i < n_keys; i++) {
		rules->keys[i].bytes = (uint8_t)name_bytes(keys[i]);
		memcpy(rules->keys[i].name, keys[i], rules->keys[i].bytes);
	}
	rules->n_keys = n_keys;
	qsort(rules->keys, n_keys, sizeof(rules->keys[0]), compare_handover);
	err = clients_new_joined(&rules->clients, prefixes, n);
	if (err)
		free(rules);
	else
		*out = rules;
	return err;
}

void handover_rules_free(struct handover_rules *rules)
{
	if (!rules)
		return;
	clients_free(rules->clients);
	free(rules);
}

bool handover_allows(const struct handover_rules *rules, uint8_t family, const uint8_t *address,
		     bool is_tls, uint32_t what)
{
	if (is_tls)
		what |= what << HANDOVER_TLS_SHIFT;
	return clients_views(rules->clients, family, address) & what;
}

unsigned int handover_key_name(uint8_t name[NAME_FOLDED_BYTES], const uint8_t *msg,
			       const struct query *q)
{
	struct message m;

	if (!q->has_tsig || !message_of_wire(&m, msg, q->end))
		return 0;
	return (unsigned int)message_read_name(&m, q->tsig_at, name);
}

bool handover_knows_key(const struct handover_rules *rules, const uint8_t *msg,
			const struct query *q)
{
	uint8_t name[NAME_FOLDED_BYTES];
	struct key key;

	if (!rules->n_keys)
		return false;
	key.bytes = (uint8_t)handover_key_name(name, msg, q);
	if (!key.bytes)
		return false;
	memcpy(key.name, name, key.bytes);
	return bsearch(&key, rules->keys, rules->n_keys, sizeof(key), compare_handover);
}
