/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clients that may recurse, and the resolver that asks upstream for them: their start, their
 * change by a reload, and their end.
 *
 *	configuration ─► clients (clients_map.h) ──► engine_data.clients, driver's map
 *	             ├─► settings (recursion_settings.h) ─► engine_data.recursion, a cache slot
 *	             └─► querier_start() ──► *recursion_resolver()
 *
 *	reload  all new parts are made ─► pointers swapped ─► grace period ─► old parts freed;
 *	        the old resolver ends in the background: the new one asks its outstanding
 *	        questions again
 *	stop    recursion_stop() ─► workers answer with the last replies ─► workers end
 *	        ─► recursion_free()
 *
 * Answers from upstream have a slot in the cache, as a zone has. The slot's generation stands for
 * the settings that answers depend on: if the settings are the same, adoption and snapshots keep
 * the answers.
 *
 * Control's thread calls all of these.
 *
 * A reload takes rights out of the driver's map, swaps the engine's table, waits for all readers,
 * and then gives the new rights. A start that adopts a cache first withdraws the public answers, if
 * no longer everyone may ask, and the answers of lists and local data, if the configuration has
 * none any more; then zones are loaded. With the first recursion.allow, workers get room for
 * questions, then the resolver starts, then the workers get the rules by which they ask it.
 */
#ifndef VOLLEY_RECURSION_RECURSION_SERVICE_H
#define VOLLEY_RECURSION_RECURSION_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cache/keeper.h"
#include "base/background.h"
#include "config/config.h"
#include "limits/clients.h"
#include "engine/engine.h"
#include "querier/querier.h"

struct recursion;

/* The parts of the daemon that it uses; all of them outlive it. */
struct recursion_env {
	struct cache *cache;
	struct engine_data *published;
	struct background *background;
	int clients_fd;         /* volley_clients; -1: no driver */
	uint64_t engine_digest; /* engine_config_digest() */
	cache_grace_fn *grace;  /* waits for all readers of published data */
	void *grace_user;
	/*
	 * Called before a resolver is published: each worker makes room for so many questions,
	 * unless it has room. 0; or a negative code, and then the resolver is not published. NULL:
	 * the workers have room.
	 */
	int (*make_room)(void *user, uint32_t n_questions);
	void *room_user;
	struct tap *tap;        /* gets queries to upstreams; or NULL */
	unsigned int n_workers; /* at most so many workers ask */
	const char *programs;   /* the folder of volley-resolver; NULL: the usual ones */
};

/* 0 or -ENOMEM. No client may recurse yet, and all may ask for the zones. */
int recursion_new(struct recursion **out, const struct recursion_env *env)
	__attribute__((warn_unused_result));

/*
 * Puts config->recursion in place and stores the earlier settings there, which the caller then
 * owns; a second call puts them back. 0; or a negative code with a sentence in err, and nothing has
 * changed, not even *config. If some clients cannot be written to the driver's map, this is logged,
 * and the driver hands up more queries than necessary.
 */
int recursion_configure(struct recursion *r, struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Checks whether recursion_configure() would accept the configuration: starts a resolver, which
 * reads all its files, and ends it without a question. 0; or a negative code with a sentence in
 * err. Uses no running resolver.
 */
int recursion_check(const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Sets the n prefixes of clients that RPZ names by address; copied. From now on the driver
 * gives these clients no answers from upstream, also after the lists of clients change. If
 * recursion.rpz has lists, the driver gives no client these answers before the first call. Call it
 * before the rules are put in place. 0; or -ENOMEM, and nothing has changed.
 */
int recursion_set_apart(struct recursion *r, const struct clients_prefix *prefixes, size_t n)
	__attribute__((warn_unused_result));

/* The settings in place; all zeros at first. Valid until the next recursion_configure(). */
const struct config_recursion *recursion_config(const struct recursion *r);

/* The pointer to the resolver, for responders; it is NULL while nothing is asked upstream. */
struct querier **recursion_resolver(struct recursion *r);

/* A bell for each worker, for responders. */
const struct bells *recursion_bells(const struct recursion *r);

/* The slot of answers from upstream in the cache; 0: none. */
uint32_t recursion_slot(const struct recursion *r);

/*
 * When this returns 0, all answers from upstream are dead, also those on their way. -ENOMEM:
 * nothing was done. Another error is that of the grace period: an old question may still bring an
 * answer.
 */
int recursion_flush(struct recursion *r) __attribute__((warn_unused_result));

/*
 * Empties the resolver's own cache, if it has one: another resolver takes its place. A background
 * job that is started after this finds all answers of the earlier resolver in the answer cache. 0;
 * or a negative code with a sentence in err, and nothing has changed.
 */
int recursion_forget(struct recursion *r, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * If the configuration has root-copy, the root is from now on asked at this address, as in struct
 * resolver_config; copied. NULL: the root servers are asked. A change replaces the running
 * resolver, so libunbound's cache is lost; the answer cache stays. 0; or a negative code with a
 * sentence in err, and nothing has changed.
 */
int recursion_set_root_copy(struct recursion *r, const char *address, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* From now on this cache is used; it has the same slots: cache/copy.h. */
void recursion_set_cache(struct recursion *r, struct cache *cache);

/* True if not all clients may ask for the zones. */
bool recursion_restricts_zones(const struct recursion *r);

struct recursion_report {
	bool is_on;
	bool has_own_forwarder; /* resolver/forward.h asks; otherwise libunbound */
	const char
		*libunbound; /* the version of the resolver's program, whether or not it is asked */
	struct querier *resolver; /* for querier/inspect.h; NULL: recursion is off */
	const struct resolver_config *resolver_config; /* of its start; NULL: recursion is off */
	const char *root_hints;        /* NULL: libunbound's own hints, or none needed */
	struct querier_report process; /* of this resolver, without earlier resolvers */
};

/*
 * The state of recursion, beside recursion_config(). Its pointers are valid until the next
 * recursion_configure(), too.
 */
void recursion_report(const struct recursion *r, struct recursion_report *out);

/* Why the driver does not know all clients since their last change; "": it does. */
const char *recursion_problem(const struct recursion *r);

/* The same of the resolver's process: why it does not run, or has ended of late. Valid until the
 * next call. */
const char *recursion_process_problem(struct recursion *r);

/* Ends all outstanding questions, and takes no new ones. Called while the workers still run. */
void recursion_stop(struct recursion *r);

/* After recursion_stop(), background_free() and the end of the workers. NULL is allowed. */
void recursion_free(struct recursion *r);

#endif
