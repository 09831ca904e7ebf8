/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "limits/clients.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "xdp/abi.h"

#define ADDRESS_BITS 128u
#define MAPPED_BITS  96u /* of ::ffff:0:0/96 */

/* An address as a number; IPv4 is mapped. */
typedef unsigned __int128 number;

/* A range from `first` to the next range. */
struct range {
	number first;
	uint32_t views;
};

struct clients {
	size_t n;
	bool restrict_zones;
	struct range ranges[]; /* ranges[0].first is 0; each prefix adds two at most */
};

/* A prefix as numbers. */
struct span {
	number first, last;
	uint32_t views;
};

static number number_of_clients(uint8_t family, const uint8_t *address)
{
	unsigned int n = family == AF_INET ? 4 : 16;
	number value = family == AF_INET ? 0xffff : 0;

	for (unsigned int i = 0; i < n; i++)
		value = value << 8 | address[i];
	return value;
}

static int span_of_clients(struct span *s, const struct clients_prefix *p)
{
	unsigned int bits = p->bits;
	number host;

	if ((p->family != AF_INET && p->family != AF_INET6) ||
	    bits > (p->family == AF_INET ? 32 : ADDRESS_BITS))
		return -EINVAL;
	if (p->family == AF_INET)
		bits += MAPPED_BITS;
	host = bits < ADDRESS_BITS ? ~(number)0 >> bits : 0;
	s->first = number_of_clients(p->family, p->address) & ~host;
	s->last = s->first | host;
	s->views = p->views;
	return 0;
}

/* Orders by the first address, and a wider span before those within it. */
static int compare_clients(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->last > y->last ? -1 : x->last < y->last;
}

/* Joins equal spans. They are in order. */
static size_t join_clients(struct span *spans, size_t n)
{
	size_t n_out = 0;

	for (size_t i = 0; i < n; i++) {
		if (n_out && !compare_clients(&spans[n_out - 1], &spans[i]))
			spans[n_out - 1].views |= spans[i].views;
		else
			spans[n_out++] = spans[i];
	}
	return n_out;
}

/* A range that begins where the last one does replaces it. */
static void add_range(struct clients *c, number first, uint32_t views)
{
	if (c->n && c->ranges[c->n - 1].first == first)
		c->n--;
	c->ranges[c->n++] = (struct range){ first, views };
}

/* Ends the spans before `next` (NULL: all). The span around each of them continues behind it. */
static void close_spans(struct clients *c, const struct span **around, unsigned int *depth,
			const struct span *next)
{
	while (*depth && (!next || around[*depth - 1]->last < next->first)) {
		number last = around[--*depth]->last;

		if (last != ~(number)0)
			add_range(c, last + 1,
				  *depth ? around[*depth - 1]->views :
					   CLIENTS_VIEW(VOLLEY_VIEW_PUBLIC));
	}
}

/* Spans are nested or disjoint, so those around the present one are a stack with at most one for
 * each length. */
static void flatten_clients(struct clients *c, struct span *spans, size_t n, bool joined)
{
	const struct span *around[ADDRESS_BITS + 1];
	unsigned int depth = 0;

	add_range(c, 0, CLIENTS_VIEW(VOLLEY_VIEW_PUBLIC));
	for (size_t i = 0; i < n; i++) {
		close_spans(c, around, &depth, &spans[i]);
		if (joined && depth)
			spans[i].views |= around[depth - 1]->views;
		add_range(c, spans[i].first, spans[i].views);
		around[depth++] = &spans[i];
		c->restrict_zones |= (spans[i].views & CLIENTS_VIEW(VOLLEY_VIEW_PRIVATE)) != 0;
	}
	close_spans(c, around, &depth, NULL);
}

static int make_clients(struct clients **out, const struct clients_prefix *prefixes, size_t n,
			bool joined)
{
	struct clients *c = calloc(1, sizeof(*c) + (2 * n + 1) * sizeof(c->ranges[0]));
	struct span *spans = calloc(n ? n : 1, sizeof(*spans));
	int err = c && spans ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		err = span_of_clients(&spans[i], &prefixes[i]);
	if (!err) {
		qsort(spans, n, sizeof(*spans), compare_clients);
		flatten_clients(c, spans, join_clients(spans, n), joined);
		*out = c;
		c = NULL;
	}
	free(spans);
	free(c);
	return err;
}

int clients_new(struct clients **out, const struct clients_prefix *prefixes, size_t n)
{
	return make_clients(out, prefixes, n, false);
}

int clients_new_joined(struct clients **out, const struct clients_prefix *prefixes, size_t n)
{
	return make_clients(out, prefixes, n, true);
}

void clients_free(struct clients *c)
{
	free(c);
}

uint32_t clients_views(const struct clients *c, uint8_t family, const uint8_t *address)
{
	number at = number_of_clients(family, address);
	size_t low = 0, high = c->n; /* ranges[low].first <= at < ranges[high].first */

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (c->ranges[middle].first <= at)
			low = middle;
		else
			high = middle;
	}
	return c->ranges[low].views;
}

bool clients_restrict_zones(const struct clients *c)
{
	return c->restrict_zones;
}
