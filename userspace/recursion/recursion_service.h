/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clients that may ask, and the resolver that asks upstream for them: put in place at the
 * start, changed by a reload, ended in order.
 *
 *	configuration ─► clients (clients_map.h) ──► engine_data.clients, driver's map
 *	             ├─► settings (recursion_settings.h) ─► engine_data.recursion, a slot in the cache
 *	             └─► resolver_start() ─► *recursion_resolver()
 *
 *	reload  all new parts are made ─► pointers swapped ─► grace period ─► old parts freed; the old
 *	        resolver ends in the background: its outstanding questions are asked again of the
 *	        new one
 *	stop    recursion_stop() ─► workers answer with the last replies ─► workers end ─► recursion_free()
 *
 * Answers from upstream have a slot in the cache as a zone has, whose generation stands for the
 * settings that answers depend on: so adoption and snapshots keep them where these are the same.
 *
 * Control's thread calls all of these.
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
#include "engine/clients.h"
#include "engine/engine.h"
#include "resolver/resolver.h"

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
	 * Has workers make room for so many questions, where they have none: called before each
	 * resolver that is published. 0; or a negative code, and then it is not published. NULL:
	 * they have it.
	 */
	int (*make_room)(void *user, uint32_t n_questions);
	void *room_user;
	struct tap *tap; /* as in struct resolver_config */
};

/* 0 or -ENOMEM. Nobody recurses yet, everyone may ask. */
int recursion_new(struct recursion **out, const struct recursion_env *env)
	__attribute__((warn_unused_result));

/*
 * Puts the configuration in place, and exchanges config->recursion for what was in place before:
 * that is the caller's then, and a second call puts it back. 0; or a negative code with a sentence
 * in err, and all is as before, also the configuration. If some clients cannot be written to the
 * driver's map, this is logged: then the driver hands up more queries than it would.
 */
int recursion_configure(struct recursion *r, struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Whether recursion_configure() would take it: the resolver is started with its settings, so all of
 * its files are read, and ended without a question. 0; or a negative code with a sentence in err.
 * Of no resolver that runs.
 */
int recursion_check(const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Clients that a policy names by their address: from now on the driver gives them no answers from
 * upstream, also when the lists of clients change; n prefixes, copied. If recursion.rpz has lists,
 * no client gets such answers from the driver until the first call. To be called before the policy
 * is put in place. 0 or -ENOMEM; then it is as before.
 */
int recursion_set_apart(struct recursion *r, const struct clients_prefix *prefixes, size_t n)
	__attribute__((warn_unused_result));

/* The configuration that was taken last; zeros at first. Valid until the next
 * recursion_configure(). */
const struct config_recursion *recursion_config(const struct recursion *r);

/* Where the pointer to the resolver stands, for responders: NULL there while nothing is asked. */
struct resolver **recursion_resolver(struct recursion *r);

/* The slot in the cache of answers from upstream; 0: none. */
uint32_t recursion_slot(const struct recursion *r);

/*
 * When this returns 0, all answers from upstream are dead, also those on their way. An error is
 * that of the grace period: new answers may still be made of old questions.
 */
int recursion_flush(struct recursion *r) __attribute__((warn_unused_result));

/*
 * Empties the resolver's own memory, if it has one: another resolver takes its place. When a job
 * that is started after this runs, all answers of the one before are in the cache. 0; or a negative
 * code with a sentence in err, and it is as before.
 */
int recursion_forget(struct recursion *r, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * From now on the root is asked at this address, as in struct resolver_config, where the
 * configuration has root-copy; NULL: the root servers are asked. Copied. If this is a change,
 * another resolver replaces the running one, and libunbound's memory is lost; the answer cache
 * stays. 0; or a negative code with a sentence in err, and it is as before.
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
	const char *root_hints;            /* NULL: libunbound's own hints, or none needed */
	const char *problem;               /* of the last change; NULL: none */
	struct resolver_counters counters; /* of this resolver, without earlier ones */
};

/* Beside recursion_config(). Its pointers are valid as long as that. */
void recursion_report(const struct recursion *r, struct recursion_report *out);

/* Nothing is asked any more, and all that was comes back. While the workers still run. */
void recursion_stop(struct recursion *r);

/* After recursion_stop(), background_free() and the end of the workers. NULL is allowed. */
void recursion_free(struct recursion *r);

#endif
