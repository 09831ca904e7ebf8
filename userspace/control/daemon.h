/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon: all parts put together, in the order in which one needs the other.
 *
 *   start   lock ─► programs and maps ─► cache ─► zones ─► workers, sockets ─► AF_XDP ─► services
 *   life    one thread in epoll: signals, control socket, address and link changes, a tick a second
 *   stop    the same backwards
 *
 * Beside that thread: the workers, the keeper of the cache, and the heartbeat by which the driver
 * knows that somebody is there (cache.orphan-serve).
 */
#ifndef VOLLEY_CONTROL_DAEMON_H
#define VOLLEY_CONTROL_DAEMON_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/grace.h"
#include "cache/keeper.h"
#include "control/crew.h"
#include "control/ctl.h"
#include "control/iface.h"
#include "control/program.h"
#include "control/zones.h"

#define DAEMON_IFACES_CAP 64

/* Commands (control/commands.c) and reports (control/report.c) read these. */
struct daemon {
	struct config *config;
	struct engine_config engine_config;
	uint64_t started_ns;
	bool keep;     /* leave programs attached at the end */
	bool stopping; /* set by a signal or a command */
	bool is_ready;

	struct object_maps maps;
	struct cache_memory memory; /* maps.memory, or anonymous */
	bool is_anonymous;
	bool is_adopted; /* the cache had another daemon before */
	struct cache_sizes sizes;
	struct cache *cache;
	struct cache_keeper *keeper;
	struct grace *grace;

	struct engine_zones published;
	struct zones *zones;
	struct crew *crew;
	struct iface ifaces[DAEMON_IFACES_CAP];
	size_t n_ifaces;
	uint32_t n_services;
	bool services_overflow;

	struct ctl *ctl;
	int lock_fd;
	int epoll_fd;
	int signal_fd;
	int route_fd;
	int tick_fd;

	pthread_t heartbeat;
	bool has_heartbeat;
	bool heartbeat_stops;
};

/*
 * Runs until it is told to stop. 0, or -errno or an own code after a failed start: what was wrong
 * has been logged. The caller's thread is the control thread. `config` becomes the daemon's.
 */
int daemon_run(struct config *config, bool keep) __attribute__((warn_unused_result));

/* Waits for all readers of zones and cache; a cache_grace_fn, user is the daemon. Any thread. */
int daemon_grace(void *user);

/* Attaches to an interface at run time; it need not be in the configuration. Sentence in err. */
int daemon_attach(struct daemon *d, const char *ifname, char *err, size_t err_cap);
/* Takes the program off, whoever attached it. -ENOENT: we have nothing to do with it. */
int daemon_detach(struct daemon *d, const char *ifname, char *err, size_t err_cap);

/* Reads the configuration again and applies its zones; the rest needs a restart. */
int daemon_reload(struct daemon *d, char *err, size_t err_cap);

#endif
