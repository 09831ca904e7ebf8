/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may ask, and what is asked upstream for them: put in place at the start, changed by a reload,
 * ended in order.
 *
 *	configuration ─► clients (clients_map.h) ──► engine_data.clients, driver's map
 *	             ├─► settings (recursion_settings.h) ─► engine_data.recursion, a slot in the cache
 *	             └─► resolver_start() ─► *recursion_resolver()
 *
 *	reload  all new parts are made ─► pointers swapped ─► grace period ─► old parts freed; the old
 *	        resolver ends in the background: its outstanding questions are asked again of the new one
 *	stop    recursion_stop() ─► workers answer what came back ─► workers end ─► recursion_free()
 *
 * Answers from upstream have a slot in the cache as a zone has, whose generation stands for the settings
 * that answers depend on: so adoption and snapshots keep them where these are the same.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_CONTROL_RECURSION_H
#define VOLLEY_CONTROL_RECURSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cache/keeper.h"
#include "base/chore.h"
#include "config/config.h"
#include "engine/clients.h"
#include "engine/engine.h"
#include "resolver/resolver.h"

struct recursion;

/* What it needs of the daemon; all of it outlives it. */
struct recursion_env {
	struct cache *cache;
	struct engine_data *published;
	struct chores *chores;
	int clients_fd;         /* volley_clients; -1: no driver */
	uint64_t engine_digest; /* engine_config_digest() */
	cache_grace_fn *grace;  /* waits for the readers of what is published */
	void *grace_user;
	/*
	 * Has workers make room for so many questions, where they have none: called before each resolver that is published. 0; or a
	 * negative code, and then it is not published. NULL: they have it.
	 */
	int (*make_room)(void *user, uint32_t n_questions);
	void *room_user;
	struct tap *tap; /* as in struct resolver_config */
};

/* 0 or -ENOMEM. Nobody recurses yet, everyone may ask. */
int recursion_new(struct recursion **out, const struct recursion_env *env)
	__attribute__((warn_unused_result));

/*
 * Puts in place what the configuration says: config->recursion is exchanged for what was in place before, which is the caller's then,
 * and which a second call puts back. 0; or a negative code with a sentence in err, and all is as before, the configuration too. What
 * the driver cannot be told is logged: then it hands up more than it would.
 */
int recursion_configure(struct recursion *r, struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Whether recursion_configure() would take it: the resolver is started with its settings, so all of its files are read, and
 * ended without a question. 0; or a negative code with a sentence in err. Of no resolver that runs.
 */
int recursion_check(const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Clients that a policy names by their address: from now on the driver gives none of them what came from upstream, also when clients
 * change; n prefixes, copied. Until the first call, that is nobody where recursion.rpz has lists. To be called before the policy is
 * put in place. 0 or -ENOMEM; then it is as before.
 */
int recursion_set_apart(struct recursion *r, const struct clients_prefix *prefixes, size_t n)
	__attribute__((warn_unused_result));

/* What was taken last; zeros at first. Until the next recursion_configure(). */
const struct config_recursion *recursion_config(const struct recursion *r);

/* Where the pointer to the resolver stands, for responders: NULL there while nothing is asked. */
struct resolver **recursion_resolver(struct recursion *r);

/* The slot in the cache of what came from upstream; 0: none. */
uint32_t recursion_slot(const struct recursion *r);

/*
 * All answers from upstream are dead when this returns 0, those too that are on their way. An error is
 * that of grace: new ones may still be made of old questions.
 */
int recursion_flush(struct recursion *r) __attribute__((warn_unused_result));

/*
 * Forgets what the resolver itself remembers, where it does: another takes its place. When a chore that
 * is started after this runs, all answers of the one before are in the cache. 0; or a negative code with
 * a sentence in err, and it is as before.
 */
int recursion_forget(struct recursion *r, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * From now on the root is asked at this address, as in struct resolver_config, where the configuration has root-copy; NULL: the root
 * servers are asked. Copied. Where that is a change, another resolver takes the place of the one that is there, and what libunbound
 * remembers is lost; the answer cache stays. 0; or a negative code with a sentence in err, and it is as before.
 */
int recursion_set_root_copy(struct recursion *r, const char *address, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* From now on it is this cache, with the same slots: cache/copy.h. */
void recursion_set_cache(struct recursion *r, struct cache *cache);

/* Whether not everyone may ask for the zones. */
bool recursion_restricts_zones(const struct recursion *r);

struct recursion_report {
	bool is_on;
	bool has_own_forwarder;          /* resolver/forward.h; else libunbound does it */
	const struct resolver *resolver; /* for resolver/inspect.h; NULL: recursion is off */
	const struct resolver_config *resolver_config; /* that it was started with; NULL likewise */
	const char *root_hints;            /* NULL: those of libunbound, or none needed */
	const char *problem;               /* of the last change; NULL: none */
	struct resolver_counters counters; /* of this resolver, not of those before */
};

/* Beside recursion_config(); what it points to lives as long. */
void recursion_report(const struct recursion *r, struct recursion_report *out);

/* Nothing is asked any more, and all that was comes back. While the workers still run. */
void recursion_stop(struct recursion *r);

/* After recursion_stop(), chores_free() and the end of the workers. NULL is allowed. */
void recursion_free(struct recursion *r);

#endif
