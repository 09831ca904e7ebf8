/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rpz/rpz_servers.h"

#include <string.h>
#include <sys/socket.h>

#include "rpz/rpz_rules.h"

#define ADDRESS_BYTES 16

static const uint8_t by_server_name[] = "\13" RPZ_NSDNAME;

/* True if LABEL.ORIGIN exists: only a rule at or below it makes such a node. */
static bool has_label(const struct zone *list, const char *label)
{
	unsigned int apex_bytes, n = (unsigned int)strlen(label);
	const uint8_t *apex = zone_apex(list, &apex_bytes);
	uint8_t name[NAME_FOLDED_BYTES];

	if (1 + n + apex_bytes > DNS_NAME_MAX)
		return false;
	name[0] = (uint8_t)n;
	memcpy(name + 1, label, n);
	memcpy(name + 1 + n, apex, apex_bytes);
	return zone_node_of(list, name) != NULL;
}

bool rpz_has_server_names(const struct zone *list)
{
	return has_label(list, RPZ_NSDNAME);
}

bool rpz_list_names_servers(const struct zone *list)
{
	return has_label(list, RPZ_NSDNAME) || has_label(list, RPZ_NSIP);
}

bool rpz_names_servers(const struct rpz *p)
{
	return p->has_servers;
}

uint64_t rpz_number(const struct rpz *p)
{
	return p->number;
}

/* How many lists can have a better rule: those before the list of *hit, and that list itself,
 * except for an address if *hit is a rule for a name. */
static size_t n_better(size_t n_lists, bool by_address, const struct rpz_server_hit *hit)
{
	size_t n = hit->list + (by_address <= hit->by_address);

	return hit->node && n < n_lists ? n : n_lists;
}

bool rpz_may_better(const struct rpz *p, size_t n_lists, uint8_t family,
		    const struct rpz_server_hit *hit)
{
	size_t n = n_better(n_lists, family != 0, hit);

	for (size_t i = 0; i < n; i++) {
		const struct rpz_rules *rules = &p->lists[i];

		if (family ? rpz_prefixes_has(rules->server_addresses, family) :
			     rules->has_server_names)
			return true;
	}
	return false;
}

/* True if `other`, of the same list and kind as *hit, is not better. */
static bool is_worse(const struct rpz_server_hit *other, const struct rpz_server_hit *hit)
{
	if (!other->by_address)
		return name_canonical_cmp(other->server, hit->server) >= 0;
	if (other->bits != hit->bits)
		return other->bits < hit->bits;
	return memcmp(other->server, hit->server, ADDRESS_BYTES) >= 0;
}

static void take_rpz_server(struct rpz_server_hit *hit, const struct rpz_server_hit *other)
{
	bool is_same = hit->node && other->list == hit->list &&
		       other->by_address == hit->by_address;

	if (!is_same || !is_worse(other, hit))
		*hit = *other;
}

void rpz_add_server(const struct rpz *p, size_t n_lists, const uint8_t *folded,
		    struct rpz_server_hit *hit)
{
	size_t n = n_better(n_lists, false, hit);
	struct rpz_server_hit other = { .by_address = false };
	unsigned int n_bytes = (unsigned int)name_bytes(folded);

	for (other.list = 0; other.list < n; other.list++) {
		const struct rpz_rules *rules = &p->lists[other.list];

		if (!rules->has_server_names)
			continue;
		other.node = rpz_name_node(rules->zone, folded, n_bytes, by_server_name);
		if (!other.node)
			continue;
		memcpy(other.server, folded, n_bytes);
		take_rpz_server(hit, &other);
		return;
	}
}

void rpz_add_server_address(const struct rpz *p, size_t n_lists, uint8_t family,
			    const uint8_t *address, struct rpz_server_hit *hit)
{
	size_t n = n_better(n_lists, true, hit);
	struct rpz_server_hit other = { .by_address = true };

	for (other.list = 0; other.list < n; other.list++) {
		other.node = rpz_prefixes_find(p->lists[other.list].server_addresses, family,
					       address, &other.bits);
		if (!other.node)
			continue;
		/* As a mapped address: IPv4 sorts before nearly all of IPv6. */
		if (family == AF_INET) {
			memset(other.server + 10, 0xff, 2);
			memcpy(other.server + 12, address, 4);
		} else {
			memcpy(other.server, address, ADDRESS_BYTES);
		}
		take_rpz_server(hit, &other);
		return;
	}
}
