/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/rules.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "base/log.h"
#include "engine/handover_rules.h"
#include "transfer/primary_state.h"
#include "transfer/remotes.h"

/*
 * Making the workers' rules takes at most about 1/DELAY_SHARE of the time while zones come and go.
 */
#define DELAY_SHARE 8

static bool holds_transfer_rules(const struct config_prefix *prefix, const struct port_addr *addr)
{
	unsigned int whole = prefix->bits / 8, rest = prefix->bits % 8;
	uint8_t mask = (uint8_t)(0xff00u >> rest);

	if (prefix->family != addr->family || memcmp(prefix->addr, addr->bytes, whole) != 0)
		return false;
	return !rest || !((prefix->addr[whole] ^ addr->bytes[whole]) & mask);
}

static bool fits_transfer_rules(const struct transfer *t, const struct config_rule *rule,
				const struct rules_client *client)
{
	if (rule->has_tls && !client->is_xot)
		return false;
	if (rule->has_prefix && !holds_transfer_rules(&rule->prefix, &client->addr))
		return false;
	return !rule->key || (client->key && client->key == remotes_key(t->remotes, rule->key));
}

bool rules_allow(const struct transfer *t, const struct config_rules *rules,
		 const struct rules_client *client)
{
	for (uint32_t i = 0; i < rules->n; i++)
		if (fits_transfer_rules(t, &rules->rules[i], client))
			return true;
	return false;
}

static bool is_remote(const struct remote *remote, const struct rules_client *client)
{
	return (!remote->key || remote->key == client->key) && remote_has(remote, &client->addr);
}

bool rules_are_primary(const struct transfer *t, const struct transfer_zone *zone,
		       const struct rules_client *client)
{
	char **names = zone->config->primaries;

	for (size_t i = 0; names && names[i]; i++) {
		const struct remote *remote = remotes_find(t->remotes, names[i]);

		if (remote && is_remote(remote, client))
			return true;
	}
	return false;
}

/* ---- The workers' rules ---------------------------------------------------------------------- */

struct list {
	struct clients_prefix *prefixes;
	size_t n, cap;
	int error;
};

static void add_transfer_rules(struct list *list, uint8_t family, uint8_t bits,
			       const uint8_t *address, uint32_t what)
{
	struct clients_prefix *p;

	if (list->n == list->cap) {
		size_t cap = list->cap ? 2 * list->cap : 64;

		p = realloc(list->prefixes, cap * sizeof(*p));
		if (!p) {
			list->error = -ENOMEM;
			return;
		}
		list->prefixes = p;
		list->cap = cap;
	}
	p = &list->prefixes[list->n++];
	*p = (struct clients_prefix){ .family = family, .bits = bits, .views = what };
	memcpy(p->address, address, family == AF_INET ? 4 : 16);
}

static void add_any(struct list *list, uint32_t what)
{
	static const uint8_t nothing[16];

	add_transfer_rules(list, AF_INET, 0, nothing, what);
	add_transfer_rules(list, AF_INET6, 0, nothing, what);
}

/* A rule for a key without a prefix adds no address. */
static void add_rules(struct list *list, const struct config_rules *rules, uint32_t what)
{
	for (uint32_t i = 0; i < rules->n; i++) {
		const struct config_rule *rule = &rules->rules[i];
		uint32_t allowed = rule->has_tls ? what << HANDOVER_TLS_SHIFT : what;

		if (rule->has_prefix)
			add_transfer_rules(list, rule->prefix.family, rule->prefix.bits,
					   rule->prefix.addr, allowed);
		else if (!rule->key)
			add_any(list, allowed);
	}
}

static void add_primaries(struct list *list, const struct transfer *t,
			  const struct transfer_zone *zone)
{
	char **names = zone->config->primaries;

	for (size_t i = 0; names && names[i]; i++) {
		const struct remote *remote = remotes_find(t->remotes, names[i]);

		for (uint32_t k = 0; remote && k < remote->n_peers; k++) {
			const struct port_addr *addr = &remote->peers[k].addr;

			add_transfer_rules(list, addr->family, addr->family == AF_INET ? 32 : 128,
					   addr->bytes, HANDOVER_NOTIFY);
		}
	}
}

static int compare_transfer_rules(const void *a, const void *b)
{
	const struct clients_prefix *x = a, *y = b;
	int order = memcmp(x, y, offsetof(struct clients_prefix, views));

	return order ? order : (x->views > y->views) - (x->views < y->views);
}

/* Removes duplicates: ten thousand zones have the same few rules. */
static void drop_twins(struct list *list)
{
	size_t n = 0;

	if (!list->n)
		return;
	qsort(list->prefixes, list->n, sizeof(*list->prefixes), compare_transfer_rules);
	for (size_t i = 0; i < list->n; i++)
		if (!n || compare_transfer_rules(&list->prefixes[n - 1], &list->prefixes[i]) != 0)
			list->prefixes[n++] = list->prefixes[i];
	list->n = n;
}

static void add_transfer_rules_zone(struct list *list, const struct transfer *t,
				    const struct transfer_zone *zone)
{
	add_rules(list, &zone->config->allow_transfer, HANDOVER_TRANSFER);
	add_rules(list, &zone->config->allow_notify, HANDOVER_NOTIFY);
	add_rules(list, &zone->config->allow_update, HANDOVER_UPDATE);
	add_primaries(list, t, zone);
}

static int make_transfer_rules(struct handover_rules **out, const struct transfer *t)
{
	const struct primary_settings *settings = t->primary->settings;
	const struct transfer_zone *zone = NULL;
	struct list list = { 0 };
	size_t enough = 4096;
	int err;

	while ((zone = transfer_zones_next(&t->zones, zone))) {
		add_transfer_rules_zone(&list, t, zone);
		if (list.n < enough)
			continue;
		drop_twins(&list);
		enough = 2 * list.n + 4096;
	}
	drop_twins(&list);
	err = list.error;
	if (!err)
		err = handover_rules_new(out, list.prefixes, list.n,
					 (const uint8_t *const *)(settings ? settings->keys : NULL),
					 settings ? settings->n_keys : 0);
	free(list.prefixes);
	return err;
}

static void publish_transfer_rules(struct transfer *t, struct handover_rules *rules)
{
	struct primary *p = t->primary;

	(void)rcu_xchg_pointer(&t->env.published->handover, rules);
	synchronize_rcu();
	handover_rules_free(p->rules);
	p->rules = rules;
}

static void on_rules(evutil_socket_t fd, short events, void *user)
{
	struct transfer *t = user;
	struct handover_rules *rules = NULL;
	uint64_t begun_ns;
	int err;

	(void)fd, (void)events;
	loop_wake(t);
	begun_ns = t->now.ns;
	err = make_transfer_rules(&rules, t);
	if (err)
		log_error("workers keep the old rules of transfers and NOTIFY: %s", err_text(err));
	else
		publish_transfer_rules(t, rules);
	loop_wake(t); /* for the time that it has taken */
	t->primary->rules_made_ns = t->now.ns;
	t->primary->rules_took_ns = t->primary->rules_made_ns - begun_ns;
}

void rules_change(struct transfer *t)
{
	const struct primary *p = t->primary;
	uint64_t now_ns = t->now.ns;
	uint64_t due_ns = p->rules_made_ns + DELAY_SHARE * p->rules_took_ns;
	uint64_t us = due_ns > now_ns ? (due_ns - now_ns) / 1000 : 0;
	const struct timeval delay = { .tv_sec = (time_t)(us / 1000000),
				       .tv_usec = (suseconds_t)(us % 1000000) };

	if (!event_pending(p->on_rules, EV_TIMEOUT, NULL))
		(void)event_add(t->primary->on_rules, &delay);
}

int rules_open(struct transfer *t)
{
	t->primary->on_rules = evtimer_new(t->base, on_rules, t);
	return t->primary->on_rules ? 0 : -ENOMEM;
}

void rules_close(struct transfer *t)
{
	if (t->primary->on_rules)
		event_free(t->primary->on_rules);
	if (t->primary->rules)
		publish_transfer_rules(t, NULL);
}
