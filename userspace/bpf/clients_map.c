/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "xdp/abi.h"

#define PUBLIC      CLIENTS_VIEW(VOLLEY_VIEW_PUBLIC)
#define MAPPED_BITS 96u /* length of ::ffff:0:0/96, the prefix of mapped IPv4 addresses */

/* --- The list --------------------------------------------------------------------------------- */

static bool has_same_bits(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int n = bits / 8, rest = bits % 8;

	return !memcmp(a, b, n) && (!rest || !((a[n] ^ b[n]) >> (8 - rest)));
}

static bool is_inside(const struct clients_prefix *p, const struct config_prefix *of, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (of[i].family == p->family && of[i].bits <= p->bits &&
		    has_same_bits(of[i].addr, p->address, of[i].bits))
			return true;
	return false;
}

static uint32_t views_of(const struct clients_prefix *p, const struct config *config)
{
	const struct config_recursion *recursion = &config->recursion;
	bool is_listed = is_inside(p, config->allow, config->n_allow);
	uint32_t views = PUBLIC;

	if (is_inside(p, recursion->allow, recursion->n_allow))
		views |= CLIENTS_VIEW(VOLLEY_VIEW_RECURSIVE);
	else if (recursion->n_allow && (is_listed || !config->n_allow))
		views |= CLIENTS_VIEW(VOLLEY_VIEW_ITERATIVE);
	if (is_listed)
		views |= CLIENTS_VIEW(VOLLEY_VIEW_PRIVATE);
	if (is_inside(p, config->rrl.exempt, config->rrl.n_exempt))
		views |= VOLLEY_CLIENT_EXEMPT;
	return views;
}

static int compare_client_list(const void *a, const void *b)
{
	const struct clients_prefix *x = a, *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	if (x->bits != y->bits)
		return x->bits < y->bits ? -1 : 1;
	return memcmp(x->address, y->address, sizeof(x->address));
}

static void add_client_list(struct clients_list *list, const struct config_prefix *prefixes,
			    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct clients_prefix *p = &list->prefixes[list->n++];

		*p = (struct clients_prefix){ .family = prefixes[i].family,
					      .bits = prefixes[i].bits };
		memcpy(p->address, prefixes[i].addr, sizeof(p->address));
	}
}

/* Sorts the prefixes and removes duplicates. */
static void sort_client_list(struct clients_list *list)
{
	size_t n = 0;

	qsort(list->prefixes, list->n, sizeof(*list->prefixes), compare_client_list);
	for (size_t i = 0; i < list->n; i++)
		if (!n || compare_client_list(&list->prefixes[n - 1], &list->prefixes[i]))
			list->prefixes[n++] = list->prefixes[i];
	list->n = n;
}

int clients_list_make(struct clients_list *list, const struct config *config)
{
	static const struct config_prefix every_ipv4 = { .family = AF_INET };
	static const struct config_prefix every_ipv6 = { .family = AF_INET6 };
	size_t n = config->n_allow + config->recursion.n_allow + config->rrl.n_exempt;

	*list = (struct clients_list){ 0 };
	if (!n)
		return 0;
	list->prefixes = calloc(n + 2, sizeof(*list->prefixes));
	if (!list->prefixes)
		return -ENOMEM;
	/* The map keeps IPv4 addresses as mapped IPv6 addresses. With this prefix, no short IPv6
	 * prefix decides for an IPv4 client. */
	add_client_list(list, &every_ipv4, 1);
	if (config->recursion.n_allow)
		add_client_list(list, &every_ipv6, 1);
	add_client_list(list, config->allow, config->n_allow);
	add_client_list(list, config->recursion.allow, config->recursion.n_allow);
	add_client_list(list, config->rrl.exempt, config->rrl.n_exempt);
	sort_client_list(list);
	for (size_t i = 0; i < list->n; i++)
		list->prefixes[i].views = views_of(&list->prefixes[i], config);
	return 0;
}

void clients_list_fini(struct clients_list *list)
{
	free(list->prefixes);
	*list = (struct clients_list){ 0 };
}

bool clients_list_equal(const struct clients_list *a, const struct clients_list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (compare_client_list(&a->prefixes[i], &b->prefixes[i]) ||
		    a->prefixes[i].views != b->prefixes[i].views)
			return false;
	return true;
}

/* --- The map ---------------------------------------------------------------------------------- */

static struct volley_client key_of_client_list(const struct clients_prefix *p)
{
	struct volley_client key = { .prefix_bits = p->bits };

	if (p->family == AF_INET6) {
		memcpy(key.address, p->address, sizeof(key.address));
		return key;
	}
	key.prefix_bits += MAPPED_BITS;
	memset(key.address + 10, 0xff, 2);
	memcpy(key.address + 12, p->address, 4);
	return key;
}

/*
 * The views that the list gives a client or a whole prefix: those of the longest prefix around it.
 */
static uint32_t look_client_list(const struct clients_list *list,
				 const struct volley_client *client)
{
	uint32_t views = PUBLIC, longest = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct volley_client key = key_of_client_list(&list->prefixes[i]);

		if (key.prefix_bits < longest || key.prefix_bits > client->prefix_bits ||
		    !has_same_bits(key.address, client->address, key.prefix_bits))
			continue;
		longest = key.prefix_bits;
		views = list->prefixes[i].views;
	}
	return views;
}

static bool is_client_list_listed(const struct clients_list *list,
				  const struct volley_client *client)
{
	for (size_t i = 0; i < list->n; i++) {
		struct volley_client key = key_of_client_list(&list->prefixes[i]);

		if (!memcmp(&key, client, sizeof(key)))
			return true;
	}
	return false;
}

static bool is_apart(const struct clients_prefix *p, const struct clients_prefix *apart, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (apart[i].family == p->family && apart[i].bits <= p->bits &&
		    has_same_bits(apart[i].address, p->address, apart[i].bits))
			return true;
	return false;
}

int clients_list_without(struct clients_list *out, const struct clients_list *list,
			 const struct clients_prefix *apart, size_t n, bool all)
{
	all |= n > CLIENTS_APART_MAX;
	if (all || !list->n)
		n = 0;
	*out = (struct clients_list){ 0 };
	if (!list->n)
		return 0;
	out->prefixes = calloc(list->n + n, sizeof(*out->prefixes));
	if (!out->prefixes)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++) {
		struct clients_prefix *p = &out->prefixes[out->n++];

		*p = list->prefixes[i];
		if (all || is_apart(p, apart, n))
			p->views &= ~CLIENTS_VIEW(VOLLEY_VIEW_RECURSIVE);
	}
	for (size_t i = 0; i < n; i++) {
		struct volley_client key = key_of_client_list(&apart[i]);
		struct clients_prefix *p = &out->prefixes[out->n++];

		*p = apart[i];
		p->views = look_client_list(list, &key) & ~CLIENTS_VIEW(VOLLEY_VIEW_RECURSIVE);
	}
	sort_client_list(out); /* a prefix in both has the same views in both */
	return 0;
}

/* Reads all n keys of the map. The caller frees *out. */
static int read_keys(int fd, struct volley_client **out, size_t *n)
{
	struct volley_client *keys = NULL, *grown, next;
	size_t cap = 0;

	*n = 0;
	while (!bpf_map_get_next_key(fd, *n ? &keys[*n - 1] : NULL, &next)) {
		if (*n == cap) {
			cap = cap ? 2 * cap : 64;
			grown = realloc(keys, cap * sizeof(*keys));
			if (!grown) {
				free(keys);
				return -ENOMEM;
			}
			keys = grown;
		}
		keys[(*n)++] = next;
	}
	*out = keys;
	return errno == ENOENT ? 0 : -errno;
}

/* Enters a prefix that only the list has, with the views that both the list and the map give it. */
static int enter_client_list(int fd, const struct clients_prefix *p)
{
	struct volley_client key = key_of_client_list(p);
	uint32_t views;

	if (bpf_map_lookup_elem(fd, &key,
				&views)) /* the kernel also looks for the longest prefix */
		views = PUBLIC;
	views &= p->views;
	return bpf_map_update_elem(fd, &key, &views, BPF_ANY);
}

/* The map has no room for both lists: until the new list is in place, no client has a view. */
static int remove_all(int fd)
{
	struct volley_client *keys = NULL;
	size_t n;
	int err = read_keys(fd, &keys, &n);

	for (size_t i = 0; i < n && !err; i++)
		err = bpf_map_delete_elem(fd, &keys[i]);
	free(keys);
	return err;
}

int clients_map_restrict(int fd, const struct clients_list *list)
{
	struct volley_client *keys = NULL;
	uint32_t views;
	size_t n = 0;
	int err = fd < 0 ? 0 : read_keys(fd, &keys, &n);

	if (fd < 0 || err)
		return err;
	/*
	 * The longest prefix first: the views of shorter prefixes around it are still the old ones.
	 */
	for (size_t i = list->n; i-- && !err;)
		err = enter_client_list(fd, &list->prefixes[i]);
	for (size_t i = 0; i < n && !err; i++) {
		if (bpf_map_lookup_elem(fd, &keys[i], &views))
			continue;
		views &= look_client_list(list, &keys[i]);
		err = bpf_map_update_elem(fd, &keys[i], &views, BPF_EXIST);
	}
	if (err == -ENOSPC)
		err = remove_all(fd);
	free(keys);
	return err;
}

int clients_map_extend(int fd, const struct clients_list *list)
{
	struct volley_client *keys = NULL;
	size_t n = 0;
	int err = fd < 0 ? 0 : read_keys(fd, &keys, &n);

	if (fd < 0 || err)
		return err;
	for (size_t i = 0; i < list->n && !err; i++) {
		struct volley_client key = key_of_client_list(&list->prefixes[i]);

		err = bpf_map_update_elem(fd, &key, &list->prefixes[i].views, BPF_ANY);
	}
	for (size_t i = 0; i < n && !err; i++)
		if (!is_client_list_listed(list, &keys[i]))
			err = bpf_map_delete_elem(fd, &keys[i]);
	free(keys);
	return err;
}
