/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recursion/rpz_manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "cache/entry_walk.h"
#include "cache/generations.h"
#include "config/local_data.h"
#include "rpz/rpz.h"
#include "engine/servers.h"
#include "zonemgr/loader.h"

/* The version of the rules' effects. A cache with another version was checked by other rules. */
#define RULES_VERSION 1u

/* The name of the slot of RPZ in the cache. No zone has it: a label has at most 63 octets. */
static const uint8_t slot_name[] = "\377policy";

struct part {
	struct rpz_manager_entry entry;
	struct rpz_manager *owner;
	struct load *load; /* under way, or NULL */
};

/* The hits of a list, by its name. They outlive its versions, since workers count in them. */
struct hits {
	uint64_t n;
	struct hits *next;
	char name[];
};

/* A set of parts, in place or in the making. */
struct parts {
	struct part *items;
	size_t n;
	struct rpz *rpz; /* NULL: no part has a zone */
};

/* The walk over the cache, and its data. */
struct sweep {
	struct background_job job; /* must be first */
	struct rpz_manager *owner;
	/* in use when the walk began; lives until all background jobs have ended */
	struct cache *cache;
	const struct rpz *rpz;
	/* all answers from upstream are withdrawn; then the slot of RPZ gets `digest` */
	bool is_whole;
	uint64_t digest[2];
	uint64_t n_withdrawn;
	int code;
};

/* A caller that waits for done(). */
struct waiter {
	rpz_manager_done_fn *done;
	void *user;
	struct waiter *next;
};

/* The work on `next`; CANCELLED is the last state. */
enum work { WORK_IDLE, WORK_BUSY, WORK_CANCELLED };

struct rpz_manager {
	struct rpz_manager_env env;
	uint32_t slot;
	struct parts now;
	struct parts next; /* being loaded */
	size_t n_loading;
	struct hits *hits; /* of all lists since the start */
	enum work work;
	/* something was put in place; before, the slot has the digest of an earlier daemon */
	bool is_begun;
	bool is_swept;    /* no walk over all answers from upstream is due */
	bool is_zone_due; /* another version of a list that is a zone */
	int code;
	char error[128];              /* rpz_manager_error() */
	struct waiter *waiters;       /* for the reading under way */
	struct waiter *later_waiters; /* for the reading that follows it */
	struct waiter *zone_waiters;  /* for the next begin_zones() */
};

int rpz_manager_new(struct rpz_manager **out, const struct rpz_manager_env *env)
{
	struct rpz_manager *p = calloc(1, sizeof(*p));

	*out = p;
	if (!p)
		return -ENOMEM;
	p->env = *env;
	/* This only finds the slot: an empty digest is never committed. */
	cache_zone_prepare(env->cache, slot_name, sizeof(slot_name) - 1, (uint64_t[2]){ 0, 0 },
			   &p->slot, &(uint32_t){ 0 });
	return 0;
}

static void parts_free(struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++) {
		struct part *part = &parts->items[i];

		free(part->entry.name);
		free(part->entry.file);
		zone_unref(part->entry.zone);
	}
	free(parts->items);
	rpz_free(parts->rpz);
	*parts = (struct parts){ 0 };
}

void rpz_manager_free(struct rpz_manager *p)
{
	if (!p)
		return;
	parts_free(&p->next);
	parts_free(&p->now);
	for (struct hits *hits = p->hits, *next; hits; hits = next) {
		next = hits->next;
		free(hits);
	}
	free(p);
}

static void tell_rpz_set(struct waiter **waiters, int code)
{
	struct waiter *waiter = *waiters, *next;

	*waiters = NULL;
	for (; waiter; waiter = next) {
		next = waiter->next;
		waiter->done(waiter->user, code);
		free(waiter);
	}
}

static void begin_rpz_set(struct rpz_manager *p);

static void finish_rpz_set(struct rpz_manager *p)
{
	bool again = p->later_waiters && p->work != WORK_CANCELLED;
	struct waiter *waiters = p->waiters;

	p->waiters = NULL;
	if (p->work != WORK_CANCELLED)
		p->work = again ? WORK_BUSY : WORK_IDLE;
	tell_rpz_set(&waiters, p->code); /* a waiter may ask rpz_manager_is_idle() */
	if (p->work == WORK_CANCELLED)
		tell_rpz_set(&p->later_waiters, -ECANCELED);
	if (again && p->work != WORK_CANCELLED)
		begin_rpz_set(p);
}

/* ---- The walk -------------------------------------------------------------------------------- */

/* Withdraws upstream's answers that have a rule now. Answers of rules die by their generation. */
static enum walk_step judge_rpz_set(void *user, const struct volley_entry *e)
{
	struct sweep *sweep = user;

	if (e->key.view != VOLLEY_VIEW_RECURSIVE || e->zone_slot == sweep->owner->slot ||
	    e->key.flags & SERVERS_KEY)
		return WALK_ON;
	return sweep->is_whole || rpz_changes_entry(sweep->rpz, e) ? WALK_WITHDRAW : WALK_ON;
}

static void sweep_run(struct background_job *job)
{
	struct sweep *sweep = (struct sweep *)job;
	const struct rpz_manager_env *env = &sweep->owner->env;

	sweep->code = cache_sweep(sweep->cache, &job->is_cancelled, judge_rpz_set, sweep,
				  env->grace, env->grace_user, &sweep->n_withdrawn);
}

static void sweep_ended(struct background_job *job)
{
	struct sweep *sweep = (struct sweep *)job;
	struct rpz_manager *p = sweep->owner;

	log_info("policy: %llu answers from upstream withdrawn",
		 (unsigned long long)sweep->n_withdrawn);
	if (!p->code)
		p->code = background_is_cancelled(job) ? -ECANCELED : sweep->code;
	if (sweep->is_whole && !sweep->code && !background_is_cancelled(job)) {
		p->is_swept = true;
		if (sweep->cache == p->env.cache && p->slot)
			cache_zone_end_change(p->env.cache, p->slot, sweep->digest);
	}
	free(sweep);
	finish_rpz_set(p);
}

static void start_sweep(struct rpz_manager *p, bool is_whole, const uint64_t digest[2])
{
	struct sweep *sweep = p->now.rpz ? calloc(1, sizeof(*sweep)) : NULL;

	if (!sweep) {
		if (p->now.rpz)
			p->code = -ENOMEM;
		finish_rpz_set(p);
		return;
	}
	sweep->job = (struct background_job){ .run = sweep_run, .ended = sweep_ended };
	sweep->owner = p;
	sweep->cache = p->env.cache;
	sweep->rpz = p->now.rpz;
	sweep->is_whole = is_whole;
	memcpy(sweep->digest, digest, sizeof(sweep->digest));
	background_start(p->env.background, &sweep->job);
}

/* ---- Publishing ------------------------------------------------------------------------------ */

/*
 * The digest of all contents in their order and the settings of rendering. Without parts it is 0:
 * there are no answers to adopt, or to keep in a snapshot.
 */
static void digest_of_rpz_set(const struct rpz_manager *p, const struct parts *parts,
			      uint64_t digest[2])
{
	digest[0] = parts->n ? p->env.settings_digest : 0;
	digest[1] = parts->n ? parts->n ^ (uint64_t)RULES_VERSION << 32 : 0;
	for (size_t i = 0; i < parts->n; i++) {
		const struct rpz_manager_entry *e = &parts->items[i].entry;
		uint64_t one[2] = { 0 };

		if (e->zone)
			zone_digest(e->zone, (uint8_t *)one);
		one[0] ^= e->ede_code;
		digest[0] = digest[0] * 0x9e3779b97f4a7c15ull + one[0];
		digest[1] = digest[1] * 0x9e3779b97f4a7c15ull + one[1];
	}
}

/* NULL: no memory; the hits are not counted. */
static uint64_t *hits_of(struct rpz_manager *p, const char *name)
{
	struct hits *hits = p->hits;
	size_t n_bytes = strlen(name) + 1;

	while (hits && strcmp(hits->name, name) != 0)
		hits = hits->next;
	if (hits)
		return &hits->n;
	hits = calloc(1, sizeof(*hits) + n_bytes);
	if (!hits)
		return NULL;
	memcpy(hits->name, name, n_bytes);
	hits->next = p->hits;
	p->hits = hits;
	return &hits->n;
}

static int make_rpz(struct rpz_manager *p, struct parts *parts, uint32_t gen)
{
	struct rpz_list *lists = calloc(parts->n + 1, sizeof(*lists));
	const struct zone *local = NULL;
	size_t n = 0;
	int err;

	if (!lists)
		return -ENOMEM;
	for (size_t i = 0; i < parts->n; i++) {
		struct rpz_manager_entry *e = &parts->items[i].entry;

		if (!e->is_list) {
			local = e->zone;
			continue;
		}
		e->hits = hits_of(p, e->name);
		if (e->zone)
			lists[n++] = (struct rpz_list){ e->zone, e->hits, e->ede_code };
	}
	err = local || n ? rpz_new(&parts->rpz, local, lists, n, p->slot, gen) : 0;
	free(lists);
	return err;
}

/* Before the next rules are in force, workers begin to answer the clients that they name. */
static int set_apart(const struct rpz_manager *p, const struct parts *parts)
{
	size_t n = parts->rpz ? rpz_clients(parts->rpz, NULL, 0) : 0;
	struct clients_prefix *prefixes;
	int err;

	if (!p->env.set_apart)
		return 0;
	prefixes = calloc(n + 1, sizeof(*prefixes));
	if (!prefixes)
		return -ENOMEM;
	if (n)
		rpz_clients(parts->rpz, prefixes, n);
	err = p->env.set_apart(p->env.apart_user, prefixes, n);
	free(prefixes);
	return err;
}

static struct part *find_part(const struct parts *parts, const char *name)
{
	for (size_t i = 0; i < parts->n; i++) {
		if (!strcmp(parts->items[i].entry.name, name))
			return &parts->items[i];
	}
	return NULL;
}

/* Drops everything that was read. The parts in force stay. */
static void give_up_rpz_set(struct rpz_manager *p, int code)
{
	for (size_t i = 0; i < p->next.n; i++)
		load_free(p->next.items[i].load);
	parts_free(&p->next);
	snprintf(p->error, sizeof(p->error), "lists and local data could not be put in place: %s",
		 err_text(code));
	log_error("policies: %s", p->error);
	p->code = code;
	finish_rpz_set(p);
}

/* The i-th list in force, or NULL. */
static const struct zone *list_at(const struct parts *parts, size_t i)
{
	for (size_t k = 0; k < parts->n; k++) {
		const struct rpz_manager_entry *e = &parts->items[k].entry;

		if (e->is_list && e->zone && !i--)
			return e->zone;
	}
	return NULL;
}

/* The number of lists up to the last one with rules for name servers. */
static size_t n_to_servers(const struct parts *parts)
{
	const struct zone *list;
	size_t n = 0;

	for (size_t i = 0; (list = list_at(parts, i)); i++)
		if (rpz_list_names_servers(list))
			n = i + 1;
	return n;
}

/*
 * True if a rule for name servers may apply to an answer in the cache and did not when the answer
 * came: an answer does not say which servers its name has. A list after the last one with such
 * rules does not matter. A list before it may have let the name pass.
 */
static bool may_hit_by_servers(const struct rpz_manager *p, bool is_present)
{
	size_t n = n_to_servers(&p->next);

	if (n && !p->is_begun)
		return !is_present;
	for (size_t i = 0; i < n; i++) {
		const struct zone *was = list_at(&p->now, i);
		uint64_t one[2], other[2];

		if (!was)
			return true;
		zone_digest(was, (uint8_t *)one);
		zone_digest(list_at(&p->next, i), (uint8_t *)other);
		if (memcmp(one, other, sizeof(one)) != 0)
			return true;
	}
	return n && !p->is_swept;
}

/* Until the whole walk has ended, the slot has no digest: a daemon that starts then walks, too. */
static void commit_rpz_set(struct rpz_manager *p, uint32_t gen, const uint64_t digest[2],
			   bool is_whole)
{
	static const uint64_t nothing[2];

	p->is_swept = !is_whole;
	cache_zone_commit(p->env.cache, p->slot, gen, digest);
	if (is_whole && p->slot)
		cache_zone_end_change(p->env.cache, p->slot, nothing);
}

static void publish_rpz_set(struct rpz_manager *p)
{
	struct parts old = p->now;
	bool is_present, is_whole;
	uint64_t digest[2];
	uint32_t gen;
	int err;

	digest_of_rpz_set(p, &p->next, digest);
	is_present = cache_zone_prepare(p->env.cache, slot_name, sizeof(slot_name) - 1, digest,
					&p->slot, &gen);
	is_whole = may_hit_by_servers(p, is_present);
	err = make_rpz(p, &p->next, gen);
	if (!err)
		err = set_apart(p, &p->next);
	if (err) {
		give_up_rpz_set(p, err);
		return;
	}
	*p->error = '\0';
	p->is_begun = true;
	p->now = p->next;
	p->next = (struct parts){ 0 };
	(void)rcu_xchg_pointer(&p->env.published->rpz, p->now.rpz);
	(void)p->env.grace(p->env.grace_user); /* workers that used the old one have published */
	commit_rpz_set(p, gen, digest, is_whole);
	parts_free(&old);
	start_sweep(p, is_whole, digest);
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* Keeps the version in force. */
static void take_present(struct rpz_manager_entry *e, const struct rpz_manager_entry *present)
{
	e->zone = zone_ref(present->zone);
	e->n_rules = present->n_rules;
	e->n_ignored = present->n_ignored;
	e->loaded_wall_s = present->loaded_wall_s;
	memcpy(e->warning, present->warning, sizeof(e->warning));
}

/* The entry has the reason. */
static void fail_rpz_set(struct rpz_manager *p, struct part *part, int code)
{
	const struct part *present = find_part(&p->now, part->entry.name);
	char text[RPZ_MANAGER_TEXT_CAP];

	if (present && present->entry.zone)
		take_present(&part->entry, &present->entry);
	if (rpz_manager_entry_tell(&part->entry, text))
		log_error("%s", text);
	if (!p->code)
		p->code = code;
}

static void take_rpz_set_zone(struct part *part, struct zone *zone, uint64_t wall_s)
{
	struct rpz_manager_entry *e = &part->entry;
	struct rpz_counts counts = rpz_count(zone, e->is_list);

	e->zone = zone;
	e->n_rules = counts.n_rules;
	e->n_ignored = counts.n_ignored;
	e->loaded_wall_s = wall_s;
	log_info("policy %s: %u rules", e->name, e->n_rules);
	if (e->n_ignored)
		log_warn("policy %s: %u rules have triggers or actions that are not supported: "
			 "they are ignored",
			 e->name, e->n_ignored);
}

/* The first of the lines that the list is in force without, and their number. */
static void note_warning(struct part *part, const struct load *load)
{
	const struct zone_error *err = load->err;
	struct rpz_manager_entry *e = &part->entry;

	if (!err->n_warnings)
		return;
	snprintf(e->warning, sizeof(e->warning), "%s", err->warning);
	if (err->n_warnings > 1)
		snprintf(e->warning, sizeof(e->warning), "%s (and %u more)", err->warning,
			 err->n_warnings - 1);
	log_warn("policy %s: %s", e->name, e->warning);
}

static void on_rpz_set_loaded(struct load *load)
{
	struct part *part = load->user;
	struct rpz_manager *p = part->owner;

	part->load = NULL;
	if (p->work == WORK_CANCELLED) {
		p->code = -ECANCELED;
	} else if (load->code) {
		load_put_error(load, part->entry.error, sizeof(part->entry.error));
		fail_rpz_set(p, part, load->code);
	} else {
		take_rpz_set_zone(part, load->zone, load->ended_wall_s);
		load->zone = NULL;
		note_warning(part, load);
	}
	loader_discard(p->env.loader, load);
	if (--p->n_loading)
		return;
	if (p->work == WORK_CANCELLED)
		finish_rpz_set(p);
	else
		publish_rpz_set(p);
}

/* Loads local data at once: it is a few records of the configuration. */
static int add_local(struct rpz_manager *p, struct part *part, char *const *records)
{
	struct local_data_error why;
	struct zone *zone;
	int code;

	*part = (struct part){ .owner = p };
	part->entry.name = strdup(RPZ_MANAGER_LOCAL);
	if (!part->entry.name)
		return -ENOMEM;
	code = local_data_load(&zone, records, &why);
	if (!code) {
		take_rpz_set_zone(part, zone, clock_wall_s());
		return 0;
	}
	if (why.at >= 0)
		snprintf(part->entry.error, sizeof(part->entry.error), "record %d: %s", why.at + 1,
			 why.sentence);
	else
		snprintf(part->entry.error, sizeof(part->entry.error), "%s", why.sentence);
	fail_rpz_set(p, part, code);
	return 0;
}

/* For a list that is a zone. If the zone is not served, that is no error of the reading. */
static void take_served(struct rpz_manager *p, struct part *part)
{
	const struct part *present = find_part(&p->now, part->entry.name);
	const struct rpz_manager_entry *was = present ? &present->entry : NULL;
	struct rpz_manager_entry *e = &part->entry;
	struct zone *zone = p->env.served ? p->env.served(p->env.served_user, e->name) : NULL;

	if (zone && was && was->zone == zone) {
		take_present(e, was);
		zone_unref(zone);
		return;
	}
	if (zone) {
		take_rpz_set_zone(part, zone, clock_wall_s());
		return;
	}
	snprintf(e->error, sizeof(e->error), "the zone is not served");
	if (was && was->zone)
		take_present(e, was);
	if (!was || !*was->error)
		log_warn("policy %s: the zone is not served: %s", e->name,
			 e->zone ? "the version before stays in force" : "nothing is in force");
}

static int add_rpz_set_list(struct rpz_manager *p, struct part *part, const struct config_rpz *list)
{
	*part = (struct part){ .owner = p };
	part->entry.is_list = true;
	part->entry.ede_code = list->ede_code;
	part->entry.name = strdup(list->name);
	if (!part->entry.name)
		return -ENOMEM;
	if (!list->file) {
		take_served(p, part);
		return 0;
	}
	part->entry.file = strdup(list->file);
	if (!part->entry.file)
		return -ENOMEM;
	part->load = load_new(list->name, list->file, NULL, on_rpz_set_loaded, part);
	if (part->load) /* one line of another name must not switch the list off */
		part->load->progress.skips_outside = true;
	p->n_loading++;
	return part->load ? 0 : -ENOMEM;
}

static int add_parts(struct rpz_manager *p, const struct config_recursion *config)
{
	bool has_local = config->local_data && config->local_data[0];
	struct parts *next = &p->next;
	int err = 0;

	next->items = calloc(config->n_rpz + 1, sizeof(*next->items));
	if (!next->items)
		return -ENOMEM;
	if (has_local)
		err = add_local(p, &next->items[next->n++], config->local_data);
	for (uint32_t i = 0; !err && i < config->n_rpz; i++)
		err = add_rpz_set_list(p, &next->items[next->n++], &config->rpz[i]);
	return err;
}

static void begin_rpz_set(struct rpz_manager *p)
{
	int err;

	p->waiters = p->later_waiters;
	p->later_waiters = NULL;
	p->code = 0;
	p->n_loading = 0;
	err = add_parts(p, p->env.config(p->env.config_user));
	if (err) {
		give_up_rpz_set(p, err);
	} else if (!p->next.n && !p->now.n && p->is_begun) {
		parts_free(&p->next);
		*p->error = '\0';
		finish_rpz_set(p);
	} else if (!p->n_loading) {
		publish_rpz_set(p);
	} else {
		for (size_t i = 0; i < p->next.n; i++)
			if (p->next.items[i].load)
				loader_start(p->env.loader, p->next.items[i].load);
	}
}

/* ---- Lists that are zones -------------------------------------------------------------------- */

static bool is_zone_list(const struct rpz_manager_entry *e)
{
	return e->is_list && !e->file;
}

/* Copies a part in force; the zone is shared. */
static int copy_part(struct rpz_manager *p, struct part *to, const struct part *from)
{
	*to = (struct part){ .owner = p };
	to->entry.is_list = from->entry.is_list;
	to->entry.ede_code = from->entry.ede_code;
	to->entry.name = strdup(from->entry.name);
	to->entry.file = from->entry.file ? strdup(from->entry.file) : NULL;
	if (!to->entry.name || (from->entry.file && !to->entry.file))
		return -ENOMEM;
	if (is_zone_list(&to->entry)) {
		take_served(p, to);
		return 0;
	}
	memcpy(to->entry.error, from->entry.error, sizeof(to->entry.error));
	if (from->entry.zone)
		take_present(&to->entry, &from->entry);
	return 0;
}

static void begin_zones(struct rpz_manager *p)
{
	struct parts *next = &p->next;
	int err = 0;

	p->waiters = p->zone_waiters;
	p->zone_waiters = NULL;
	p->code = 0;
	p->n_loading = 0;
	next->items = calloc(p->now.n + 1, sizeof(*next->items));
	if (!next->items)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < p->now.n; i++)
		err = copy_part(p, &next->items[next->n++], &p->now.items[i]);
	if (err)
		give_up_rpz_set(p, err);
	else
		publish_rpz_set(p);
}

void rpz_manager_zone_served(struct rpz_manager *p, const char *name)
{
	const struct part *now = find_part(&p->now, name), *next = find_part(&p->next, name);

	p->is_zone_due |= (now && is_zone_list(&now->entry)) ||
			  (next && is_zone_list(&next->entry));
}

void rpz_manager_poll(struct rpz_manager *p)
{
	if (!p->is_zone_due || p->work != WORK_IDLE)
		return;
	p->is_zone_due = false;
	p->work = WORK_BUSY;
	begin_zones(p);
}

bool rpz_manager_is_idle(const struct rpz_manager *p)
{
	return !p->is_zone_due && p->work != WORK_BUSY;
}

static int add_waiter(struct waiter **waiters, rpz_manager_done_fn *done, void *user)
{
	struct waiter *waiter = malloc(sizeof(*waiter));

	if (!waiter)
		return -ENOMEM;
	*waiter = (struct waiter){ done, user, *waiters };
	*waiters = waiter;
	return 0;
}

int rpz_manager_await_zones(struct rpz_manager *p, rpz_manager_done_fn *done, void *user)
{
	int err = p->work == WORK_CANCELLED ? -ECANCELED : add_waiter(&p->zone_waiters, done, user);

	p->is_zone_due |= !err;
	return err;
}

int rpz_manager_reload(struct rpz_manager *p, rpz_manager_done_fn *done, void *user)
{
	int err = add_waiter(&p->later_waiters, done, user);

	if (err)
		return err;
	if (p->work != WORK_IDLE)
		return 0;
	p->work = WORK_BUSY;
	begin_rpz_set(p);
	return 0;
}

void rpz_manager_set_cache(struct rpz_manager *p, struct cache *cache)
{
	p->env.cache = cache;
}

void rpz_manager_cancel(struct rpz_manager *p)
{
	if (!p)
		return;
	p->work = WORK_CANCELLED;
	tell_rpz_set(&p->zone_waiters, -ECANCELED);
}

/* ---- Access ---------------------------------------------------------------------------------- */

uint32_t rpz_manager_slot(const struct rpz_manager *p)
{
	return p->slot;
}

size_t rpz_manager_n(const struct rpz_manager *p)
{
	return p->now.n;
}

const struct rpz_manager_entry *rpz_manager_at(const struct rpz_manager *p, size_t i)
{
	return &p->now.items[i].entry;
}

const char *rpz_manager_error(const struct rpz_manager *p)
{
	return p->error;
}
