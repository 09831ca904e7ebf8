/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by daemon.c (the thread's loop, reloads), daemon_open.c (start and stop), daemon_beat.c (the
 * heartbeat), daemon_ifaces.c (the interfaces), daemon_recursion.c, daemon_cookies.c and daemon_storage.c. Control's thread
 * calls all of these.
 */
#ifndef VOLLEY_DAEMON_DAEMON_INTERNAL_H
#define VOLLEY_DAEMON_DAEMON_INTERNAL_H

#include "daemon/daemon.h"

/*
 * Opens all but the workers and begins to load the zones. 0, or -errno or an own code: the fault
 * has been logged. daemon_close() follows in any case.
 */
int daemon_open(struct daemon *d) __attribute__((warn_unused_result));
/* When the zones are loaded: workers, their ports, service addresses. 0 or a negative code, logged. */
int daemon_open_crew(struct daemon *d) __attribute__((warn_unused_result));
/* Closes the parts that are open, in reverse order. First the driver stops answering, unless d->keep is set. */
void daemon_close(struct daemon *d);

/*
 * Puts the lists of clients and the settings for upstreams in place: at the start and by a reload. As recursion_configure(): afterwards
 * config->recursion is what was in place before. 0; or a negative code with a sentence in err, and all is as before.
 */
int daemon_configure_recursion(struct daemon *d, struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/*
 * Undoes daemon_configure_recursion() with this configuration, where a later part of a reload was refused; config->recursion is its own
 * again. An error is logged, and then the refused one stays in force.
 */
void daemon_take_back_recursion(struct daemon *d, struct config *config);

/*
 * A digest of all that answers of our zones depend on, besides the zones: the engine's settings, the view of these answers, and whether parents
 * are asked for the DS records of the zones.
 */
uint64_t daemon_settings_digest(const struct daemon *d);

/* Opens the lists of clients and the resolver for the first time: before any zone is loaded. 0 or a negative code, logged. */
int daemon_open_recursion(struct daemon *d) __attribute__((warn_unused_result));
/* Behind it: lists and local data begin to be loaded. Likewise. */
int daemon_open_policies(struct daemon *d) __attribute__((warn_unused_result));

/* The rate limits, with maps or memory that are open; before any engine, since an engine's pointer to its limits never changes. */
int daemon_open_rrl(struct daemon *d) __attribute__((warn_unused_result));
/* Puts the rate limits of a configuration in force, for driver and workers. 0, or -errno, logged. */
int daemon_configure_rrl(struct daemon *d, const struct config *config)
	__attribute__((warn_unused_result));

/*
 * The filter of names that exist: that of an earlier daemon goes on, or a new one begins, or there is none. When the maps and
 * the cache are open, before any zone is loaded. 0 or a negative code, logged.
 */
int daemon_open_names(struct daemon *d) __attribute__((warn_unused_result));
/*
 * Once a second, when the zones are there: the driver denies no more of zones of which a worker has found that the filter lacks a name;
 * and once a minute a filter in which much has gone is rebuilt.
 */
void daemon_check_names(struct daemon *d);
/* During a resize: programs read these, the second one unless it is NULL. Before any of them is used. */
void daemon_tell_names(struct daemon *d, struct volley_state *first, struct volley_state *second);

/* After daemon_open_store(): loads the stored blocks. 0 or a negative code, logged. */
int daemon_open_blocks(struct daemon *d) __attribute__((warn_unused_result));

/*
 * When a reload changes server.listen (daemon_listen.c). First the workers listen at the addresses of `config`, too: 0, or a
 * negative code with a sentence in err, and they listen where they did.
 */
int daemon_listen(struct daemon *d, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* At last driver and workers serve the addresses of the configuration that holds, and no others. */
void daemon_settle_listen(struct daemon *d);

/*
 * When a reload changes `interfaces`. First those of `config` that the daemon does not have are attached: 0, or a negative code with a
 * sentence in err where that must not be (-EPROTO, ERR_RUNNING) or there are too many; daemon_settle_ifaces() follows then, too.
 */
int daemon_add_ifaces(struct daemon *d, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/*
 * At the end of a reload: interfaces that are not in `after` are let go of, unless a command has attached them. Interfaces whose keys differ between
 * `before`, which still holds, and `after` are attached anew. `after` stays until the next call.
 */
void daemon_settle_ifaces(struct daemon *d, const struct config *before,
			  const struct config *after);
/* The two functions above do nothing until there are workers. Then this one makes up for reloads that came before; failures are logged. */
void daemon_catch_up_ifaces(struct daemon *d);

/* Tells the programs which addresses are ours. */
void daemon_update_services(struct daemon *d);
/* Starts the thread that tells the driver that the daemon lives. 0 or -errno. */
int daemon_start_heartbeat(struct daemon *d) __attribute__((warn_unused_result));
/* From now on the heartbeat does not renew programs of earlier daemons, which are about to be replaced. */
void daemon_let_old_go(struct daemon *d);
/* The same, and these programs answer no more. */
void daemon_silence_old(struct daemon *d);
/* Is there a watchdog of systemd's? Before the heartbeat. */
void daemon_find_watchdog(struct daemon *d);
/* Once a second, behind health_ask_tick(): as long as all workers go on, the heartbeat feeds the watchdog. */
void daemon_watch_workers(struct daemon *d);
/* Its end. A program that stays although we go answers no more, but for a next daemon (d->keep). */
void daemon_silence(struct daemon *d);
/* From now on programs read these: the second one, if any, serves as long as the first one. */
void daemon_serve_by(struct daemon *d, struct volley_state *first, struct volley_state *second);

/*
 * Tells the driver how to answer COOKIE and NSID: by the table that is not read, which then is, so that a query is
 * answered by one of them. A grace period must be between two calls. During a resize both caches are told.
 */
void daemon_tell_options(struct daemon *d);
/* Before the cache is opened, so that the driver has the secrets of cookies from the beginning. 0 or a code, logged. */
int daemon_open_cookies(struct daemon *d) __attribute__((warn_unused_result));

/* NSID, version and identity of the server by this configuration. For free(); NULL: there is no memory. */
struct engine_identity *daemon_make_identity(const struct config *config)
	__attribute__((warn_unused_result));
/*
 * Puts an identity in place, which then belongs to the daemon: before the cache is opened, and by a reload. Workers and the transfer thread get it first,
 * then the driver. Meanwhile some replies have the old identity; a single reply does not mix both. Each reply that is made after this has returned
 * has the new one. A change of the driver's options: see daemon_tell_options(). If nothing is new, nothing is done.
 */
void daemon_put_identity(struct daemon *d, struct engine_identity *identity);

/*
 * Attaches to all interfaces of the configuration. Interfaces that have a program come first, since its
 * maps have the answers. -EPROTO or ERR_RUNNING, logged, if one of these programs would go on answering beside us.
 */
int daemon_attach_all(struct daemon *d) __attribute__((warn_unused_result));
/* Ours take the places of earlier daemons' programs. When sockets are open; daemon_let_old_go() comes before. */
void daemon_take_places(struct daemon *d);
/* Silences XDP programs that an earlier daemon has left on interfaces where this one has none. */
void daemon_clean_others(struct daemon *d);
/* Notices interfaces that came, went, or lost their program. While there are workers. */
void daemon_check_ifaces(struct daemon *d);
/* Checks, several times a second, whether the driver's answers can leave. While there are workers. */
void daemon_guard_ifaces(struct daemon *d);
/* Reads how much the driver has dropped since the last call, a second ago. */
void daemon_look_at_load(struct daemon *d);

/*
 * Opens server.storage. Where its disk is at fault: 0, with d->storage_error, and d->store to be read, or NULL. Else 0,
 * or a negative code, which has been logged: a damaged store, or one in use, is for a person.
 */
int daemon_open_store(struct daemon *d) __attribute__((warn_unused_result));
/* Whether a store that gives this code is done without. Pure. */
bool daemon_serves_without_store(int code);

#endif
