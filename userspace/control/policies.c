/* SPDX-License-Identifier: GPL-2.0-only */
#include "control/policies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "base/log.h"
#include "cache/sweep.h"
#include "cache/zones.h"
#include "engine/policy.h"

/* Its slot's name in the cache: no zone's, for a label has no more than 63 octets. */
static const uint8_t slot_name[] = "\377policy";

struct part {
	struct policies_entry entry;
	struct policies *owner;
	struct load *load; /* under way, or NULL */
	int local_fd;      /* a memory file of the local data; -1 */
	bool is_earlier;   /* entry.zone is that of the part of this name that is in place */
};

/* A set of parts, in place or in the making. */
struct parts {
	struct part *items;
	size_t n;
	struct policy *policy; /* NULL: none of them has anything */
	uint32_t n_ignored;
};

/* The walk over the cache, with what has to stay until it has ended. */
struct sweep {
	struct chore chore; /* first */
	struct policies *owner;
	struct cache *cache; /* that was in use when it began: it lives until all chores have ended */
	const struct policy *policy;
	uint64_t n_withdrawn;
	int code;
};

/* Somebody who has asked. */
struct waiter {
	policies_done_fn *done;
	void *user;
	struct waiter *next;
};

struct policies {
	struct policies_env env;
	uint32_t slot;
	struct parts now;
	struct parts next; /* being loaded */
	size_t n_loading;
	bool is_busy;
	bool is_begun; /* something was put in place: before, the slot stands for what an earlier daemon had */
	bool is_cancelled;
	int code;
	struct waiter *waiters;       /* of what is under way */
	struct waiter *later_waiters; /* of what follows it */
};

int policies_new(struct policies **out, const struct policies_env *env)
{
	struct policies *p = calloc(1, sizeof(*p));

	*out = p;
	if (!p)
		return -ENOMEM;
	p->env = *env;
	/* The slot alone: what stands for no content is never put in place. */
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
		if (!part->is_earlier)
			zone_free(part->entry.zone);
		if (part->local_fd >= 0)
			close(part->local_fd);
	}
	free(parts->items);
	policy_free(parts->policy);
	*parts = (struct parts){ 0 };
}

void policies_free(struct policies *p)
{
	if (!p)
		return;
	parts_free(&p->next);
	parts_free(&p->now);
	free(p);
}

static void tell(struct waiter **waiters, int code)
{
	struct waiter *waiter = *waiters, *next;

	*waiters = NULL;
	for (; waiter; waiter = next) {
		next = waiter->next;
		waiter->done(waiter->user, code);
		free(waiter);
	}
}

static void begin(struct policies *p);

static void finish(struct policies *p)
{
	bool again = p->later_waiters && !p->is_cancelled;

	tell(&p->waiters, p->code);
	if (!again)
		tell(&p->later_waiters, -ECANCELED);
	p->is_busy = again;
	if (again)
		begin(p);
}

/* ---- The walk ----------------------------------------------------------------------------------- */

/* What came from upstream for a name that has a rule now. Answers of rules die by their generation. */
static enum walk_step judge(void *user, const struct volley_entry *e)
{
	struct sweep *sweep = user;

	if (e->key.view != VOLLEY_VIEW_RECURSIVE || e->zone_slot == sweep->owner->slot ||
	    !policy_names(sweep->policy, e->name, e->key.name_bytes))
		return WALK_ON;
	return WALK_WITHDRAW;
}

static void sweep_run(struct chore *chore)
{
	struct sweep *sweep = (struct sweep *)chore;
	const struct policies_env *env = &sweep->owner->env;

	sweep->code = cache_sweep(sweep->cache, &chore->is_cancelled, judge, sweep, env->grace,
				  env->grace_user, &sweep->n_withdrawn);
}

static void sweep_ended(struct chore *chore)
{
	struct sweep *sweep = (struct sweep *)chore;
	struct policies *p = sweep->owner;

	log_info("policy: %llu answers from upstream withdrawn",
		 (unsigned long long)sweep->n_withdrawn);
	if (!p->code)
		p->code = chore_is_cancelled(chore) ? -ECANCELED : sweep->code;
	free(sweep);
	finish(p);
}

static void start_sweep(struct policies *p)
{
	struct sweep *sweep = p->now.policy ? calloc(1, sizeof(*sweep)) : NULL;

	if (!sweep) {
		if (p->now.policy)
			p->code = -ENOMEM;
		finish(p);
		return;
	}
	sweep->chore = (struct chore){ .run = sweep_run, .ended = sweep_ended };
	sweep->owner = p;
	sweep->cache = p->env.cache;
	sweep->policy = p->now.policy;
	chores_start(p->env.chores, &sweep->chore);
}

/* ---- Publishing --------------------------------------------------------------------------------- */

/* Of all contents, in their order, and the settings by which they are rendered. */
/* Without parts the slot stands for no content: there are no answers to adopt, or to keep in a snapshot. */
static void digest_of(const struct policies *p, const struct parts *parts, uint64_t digest[2])
{
	digest[0] = parts->n ? p->env.settings_digest : 0;
	digest[1] = parts->n;
	for (size_t i = 0; i < parts->n; i++) {
		const struct policies_entry *e = &parts->items[i].entry;
		uint64_t one[2] = { 0 };

		if (e->zone)
			zone_digest(e->zone, (uint8_t *)one);
		digest[0] = digest[0] * 0x9e3779b97f4a7c15ull + one[0];
		digest[1] = digest[1] * 0x9e3779b97f4a7c15ull + one[1];
	}
}

static int make_policy(struct policies *p, struct parts *parts, uint32_t gen)
{
	const struct zone **lists = calloc(parts->n + 1, sizeof(struct zone *));
	const struct zone *local = NULL;
	size_t n = 0;
	int err;

	if (!lists)
		return -ENOMEM;
	for (size_t i = 0; i < parts->n; i++) {
		const struct policies_entry *e = &parts->items[i].entry;

		if (!e->file)
			local = e->zone;
		else if (e->zone)
			lists[n++] = e->zone;
	}
	err = local || n ?
		      policy_new(&parts->policy, local, lists, n, p->slot, gen, &parts->n_ignored) :
		      0;
	free(lists);
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

/* What did not load is now theirs who are put in place. */
static void take_earlier(struct parts *parts, struct parts *old)
{
	for (size_t i = 0; i < parts->n; i++) {
		struct part *part = &parts->items[i];

		if (!part->is_earlier)
			continue;
		part->is_earlier = false;
		find_part(old, part->entry.name)->entry.zone = NULL;
	}
}

static void publish(struct policies *p)
{
	struct parts old = p->now;
	uint64_t digest[2];
	uint32_t gen;
	int err;

	digest_of(p, &p->next, digest);
	cache_zone_prepare(p->env.cache, slot_name, sizeof(slot_name) - 1, digest, &p->slot, &gen);
	err = make_policy(p, &p->next, gen);
	if (err) {
		p->code = err;
		parts_free(&p->next);
		finish(p);
		return;
	}
	take_earlier(&p->next, &old);
	p->is_begun = true;
	p->now = p->next;
	p->next = (struct parts){ 0 };
	(void)rcu_xchg_pointer(&p->env.published->policy, p->now.policy);
	(void)p->env.grace(p->env.grace_user); /* who asked the old one has published */
	cache_zone_commit(p->env.cache, p->slot, gen, digest);
	parts_free(&old);
	if (p->now.n_ignored)
		log_warn("policy: %u rules are triggers that are not supported: ignored",
			 p->now.n_ignored);
	start_sweep(p);
}

/* ---- Loading ------------------------------------------------------------------------------------ */

static void fail(struct policies *p, struct part *part, const struct load *load)
{
	const struct part *earlier = find_part(&p->now, part->entry.name);
	struct policies_entry *e = &part->entry;

	if (e->file)
		load_put_error(load, e->error, sizeof(e->error));
	else /* the first two records are not the operator's */
		snprintf(e->error, sizeof(e->error), "record %u: %s",
			 load->err.line > 2 ? load->err.line - 2 : 0, load->err.sentence);
	log_error("policy %s: %s", e->name, e->error);
	part->is_earlier = earlier != NULL;
	if (earlier)
		e->zone = earlier->entry.zone;
	if (!p->code)
		p->code = load->code;
}

static void on_loaded(struct load *load)
{
	struct part *part = load->user;
	struct policies *p = part->owner;
	struct policies_entry *e = &part->entry;

	part->load = NULL;
	if (p->is_cancelled) {
		p->code = -ECANCELED;
	} else if (load->code) {
		fail(p, part, load);
	} else {
		e->zone = load->zone;
		load->zone = NULL;
		log_info("policy %s: %zu records", e->name, zone_n_records(e->zone));
	}
	loader_discard(p->env.loader, load);
	if (--p->n_loading)
		return;
	if (p->is_cancelled)
		finish(p);
	else
		publish(p);
}

/* The local data as a zone of the root, in a file that is nowhere but in memory. */
static int make_local(struct part *part, char *const *records)
{
	char path[32];
	FILE *out;
	int fd = memfd_create("volley-local-data", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	part->local_fd = fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	out = fopen(path, "w");
	if (!out)
		return -errno;
	fprintf(out, ". 300 IN SOA localhost. nobody.invalid. 1 3600 1200 604800 300\n"
		     ". 300 IN NS localhost.\n");
	for (; *records; records++)
		fprintf(out, "%s\n", *records);
	return fclose(out) ? -errno : 0;
}

static int start_load(struct part *part, const char *origin, const char *path)
{
	part->load = load_new(origin, path, NULL, on_loaded, part);
	return part->load ? 0 : -ENOMEM;
}

static int add_local(struct policies *p, struct part *part, char *const *records)
{
	char path[32];
	int err;

	*part = (struct part){ .owner = p, .local_fd = -1 };
	part->entry.name = strdup(POLICIES_LOCAL);
	if (!part->entry.name)
		return -ENOMEM;
	err = make_local(part, records);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", part->local_fd);
	return err ? err : start_load(part, ".", path);
}

static int add_list(struct policies *p, struct part *part, const struct config_rpz *list)
{
	*part = (struct part){ .owner = p, .local_fd = -1 };
	part->entry.name = strdup(list->name);
	part->entry.file = strdup(list->file);
	if (!part->entry.name || !part->entry.file)
		return -ENOMEM;
	return start_load(part, list->name, list->file);
}

static int add_parts(struct policies *p, const struct config_recursion *config)
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
		err = add_list(p, &next->items[next->n++], &config->rpz[i]);
	return err;
}

static void begin(struct policies *p)
{
	int err = add_parts(p, p->env.config(p->env.config_user));

	p->waiters = p->later_waiters;
	p->later_waiters = NULL;
	p->code = err;
	p->n_loading = p->next.n;
	if (err) {
		for (size_t i = 0; i < p->next.n; i++)
			load_free(p->next.items[i].load);
		parts_free(&p->next);
		finish(p);
	} else if (!p->n_loading && !p->now.n && p->is_begun) {
		parts_free(&p->next);
		finish(p);
	} else if (!p->n_loading) {
		publish(p);
	} else {
		for (size_t i = 0; i < p->next.n; i++)
			loader_start(p->env.loader, p->next.items[i].load);
	}
}

int policies_reload(struct policies *p, policies_done_fn *done, void *user)
{
	struct waiter *waiter = malloc(sizeof(*waiter));

	if (!waiter)
		return -ENOMEM;
	*waiter = (struct waiter){ done, user, p->later_waiters };
	p->later_waiters = waiter;
	if (p->is_busy)
		return 0;
	p->is_busy = true;
	begin(p);
	return 0;
}

void policies_set_cache(struct policies *p, struct cache *cache)
{
	p->env.cache = cache;
}

void policies_cancel(struct policies *p)
{
	if (p)
		p->is_cancelled = true;
}

/* ---- Questions ---------------------------------------------------------------------------------- */

uint32_t policies_slot(const struct policies *p)
{
	return p->slot;
}

size_t policies_n(const struct policies *p)
{
	return p->now.n;
}

const struct policies_entry *policies_at(const struct policies *p, size_t i)
{
	return &p->now.items[i].entry;
}

uint32_t policies_n_ignored(const struct policies *p)
{
	return p->now.n_ignored;
}
