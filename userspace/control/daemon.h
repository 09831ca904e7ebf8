/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon: all parts put together, in the order in which one needs the other.
 *
 *   start   lock ─► programs and maps ─► cache ─► control socket ─► resolver ─► zones ─► workers,
 *           sockets ─► AF_XDP ─► services
 *   life    one thread in epoll: signals, control socket, loads that have ended, address and link
 *           changes, a tick a second
 *   stop    the same backwards
 *
 * Beside that thread: the workers, the keeper of the cache, the loader of zones, a thread for walks
 * over the cache (base/background.h), and the heartbeat by which the driver knows that a daemon is
 * there (cache.orphan-serve). base/affinity.h says on which processors they run.
 */
#ifndef VOLLEY_CONTROL_DAEMON_H
#define VOLLEY_CONTROL_DAEMON_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/affinity.h"
#include "base/background.h"
#include "bpf/program.h"
#include "cache/grace.h"
#include "cache/keeper.h"
#include "control/answers.h"
#include "control/descriptors.h"
#include "control/blocks.h"
#include "control/cookies.h"
#include "control/ctl.h"
#include "control/drain.h"
#include "control/health.h"
#include "control/capture.h"
#include "control/hot.h"
#include "control/live.h"
#include "control/zone_places.h"
#include "control/metrics.h"
#include "control/policies.h"
#include "control/progress.h"
#include "control/recursion.h"
#include "control/resize.h"
#include "control/root_copy.h"
#include "control/rrl.h"
#include "control/snapshots.h"
#include "control/taps.h"
#include "engine/name_filter.h"
#include "engine/shield.h"
#include "iface/crew.h"
#include "iface/iface.h"
#include "iface/links.h"
#include "zonemgr/catalogs.h"
#include "zonemgr/loader.h"
#include "zonemgr/signing.h"
#include "zonemgr/transfers.h"
#include "zonemgr/upkeep.h"
#include "zonemgr/zones.h"

/* Each has a slot in the cache, as zones have. */
enum daemon_slot { DAEMON_SLOT_RECURSION, DAEMON_SLOT_POLICIES, DAEMON_N_SLOTS };

/* How the filter of names is, and when it began anew. */
struct names_care {
	uint64_t looked_ns;  /* when it was looked at whether a rebuild is due; 0: not yet */
	uint64_t rebuilt_ns; /* when the last rebuild was tried; 0: not yet */
	uint64_t took_ns;    /* it */
	uint64_t n_rebuilds; /* that succeeded */
	struct names_use use;
	uint64_t n_live; /* names that are served */
};

/* Commands (control/commands.c) and reports (control/report.c) read these. */
struct daemon {
	struct config *config;
	struct engine_config engine_config;
	uint64_t started_ns;
	bool keep;     /* leave programs attached at the end */
	bool stopping; /* set by a signal or a command */
	bool is_ready; /* it answers; before, while the zones are loaded for the first time, crew is NULL */
	bool is_loaded;    /* the zones of the start are in place */
	bool has_policies; /* and its lists and local data */

	struct object_maps maps;
	struct cache_memory memory; /* maps.memory, or anonymous */
	bool is_anonymous;
	bool is_adopted; /* the cache had another daemon before */
	struct cache_sizes sizes;
	struct cache *cache;
	struct cache_keeper *keeper;
	struct grace *grace;
	pthread_mutex_t alive_lock;
	struct volley_state
		*alive[2]; /* under it: the state for programs; the second one during a resize */
	uint32_t *alive_old
		[CONFIG_INTERFACES_MAX]; /* under it: deadlines of programs of earlier daemons */
	size_t n_alive_old;
	struct resize *resize; /* NULL until the workers are there */

	struct rrl *rrl;
	struct tap *tap;
	struct live *live;
	struct capture *capture;
	struct tap_rings *tap_rings; /* NULL: the driver tells nothing, and never did */
	char tap_error[640];         /* dnstap or the query log is off; "" */

	struct names names_memory;
	struct names *names; /* or NULL: there is no filter of names */
	struct shield shield;
	struct names_care names_care;

	struct engine_data published;
	struct engine_data root_data; /* published.root_copy */
	struct root_copy *root_copy;
	struct cookies *cookies;
	struct recursion *recursion;
	int64_t wall_ahead_s; /* of the monotonic clock, when it was looked at last */
	struct policies *policies;
	struct block_book *blocks;            /* NULL until server.storage is open */
	uint32_t other_slots[DAEMON_N_SLOTS]; /* in the cache, for answers of no zone; 0: none */
	struct loader *loader;
	struct background *background;
	unsigned int n_walks; /* over the cache that wait or run, their clients gone or not */
	struct hot *hot;
	struct answers *answers;
	struct zone_places *places;
	struct store *store;     /* NULL: no server.storage, or it cannot be opened */
	char storage_error[640]; /* it cannot be, or not be written to; "" */
	struct upkeep *upkeep;
	struct catalogs *catalogs;
	struct signing_policies policies_of_signing;
	struct transfers *transfers;
	struct zones *zones;
	struct progress progress;
	struct affinity affinity;
	struct descriptors descriptors;
	struct crew *crew;
	struct snapshots *snapshots; /* NULL until the workers are there */
	struct iface ifaces[CONFIG_INTERFACES_MAX];
	size_t n_ifaces;
	uint32_t n_services;
	bool services_overflow;
	bool ends_overflow; /* of addresses at which tunnels end */
	struct drain drain;
	struct health_beats beats;
	bool have_zones_come; /* all of them, once */

	struct ctl *ctl;
	struct metrics *metrics; /* NULL: there is no metrics.listen */
	int lock_fd;
	int epoll_fd;
	int signal_fd;
	struct links links;
	int tick_fd;
	int guard_fd; /* daemon_guard_ifaces() is due */

	bool is_watched;  /* by systemd's watchdog, which the heartbeat feeds */
	uint64_t well_ns; /* when control's thread last saw all workers go round; 0: one hangs */
	pthread_t heartbeat;
	bool has_heartbeat;
	bool heartbeat_stops;
};

/*
 * Runs until it is told to stop. 0, or -errno or an own code after a failed start: the fault
 * has been logged. The caller's thread is the control thread. `config` becomes the daemon's.
 */
int daemon_run(struct config *config, bool keep) __attribute__((warn_unused_result));

/* Waits for all readers of zones and cache; a cache_grace_fn, user is the daemon. Any thread. */
int daemon_grace(void *user);

/* Attaches to an interface at run time; it need not be in the configuration. Sentence in err. */
int daemon_attach(struct daemon *d, const char *ifname, char *err, size_t err_cap);
/* Detaches the program, also one that was loaded by hand. -ENOENT: the daemon does not have this interface. */
int daemon_detach(struct daemon *d, const char *ifname, char *err, size_t err_cap);

/*
 * From now on AF_XDP serves the queues below n of an interface, 0: all of them. -ENOENT (the daemon does not
 * have it) or -EAGAIN (there are no workers yet), with a sentence in err.
 */
int daemon_set_queues(struct daemon *d, const char *ifname, uint32_t n, char *err, size_t err_cap);

/* Reads the state of the filter of names into d->names_care. O(lines) of it. With a filter only. */
void daemon_look_at_names(struct daemon *d);
/*
 * A new filter takes the place of the present one, with the names that are served; in control's thread, logged. is_asked: by a
 * person, and zones whose denials were stopped have them again. 0 or a negative code. With a filter only.
 */
int daemon_rebuild_names(struct daemon *d, bool is_asked) __attribute__((warn_unused_result));

/*
 * Reads the configuration again, puts the keys that a reload can change in place, and begins to
 * load its zones. Another cache.size resizes the cache; log and status list changed keys that need a new start
 * (control/new_start.h). 0: done() follows, as for zones_configure(). Else a negative code, with a
 * sentence in err.
 */
int daemon_reload(struct daemon *d, zones_done_fn *done, void *user, char *err, size_t err_cap);
/*
 * The same with the text of the file at `from` in place of the configuration's; the caller replaces the file of the configuration after this has returned
 * 0. The result of loading the zones is logged.
 */
int daemon_apply(struct daemon *d, const char *from, char *err, size_t err_cap);

/*
 * The result of a reload of the zone `name` (NULL: of all) that ended with `code`: the code, and
 * a sentence in err unless it is 0.
 */
int daemon_tell_reload(const struct daemon *d, const char *name, int code, char *err,
		       size_t err_cap);

#endif
