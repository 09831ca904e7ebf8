/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interfaces that the daemon answers on: attached at the start, by a command, by a reload, or
 * when they come back. Control's thread calls all of these.
 */
#ifndef VOLLEY_DAEMON_INTERFACES_H
#define VOLLEY_DAEMON_INTERFACES_H

#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "daemon/answer_cache.h"
#include "daemon/heartbeat.h"
#include "iface/workers.h"
#include "iface/iface.h"
#include "report/report_view.h"

struct interfaces {
	struct iface at[CONFIG_INTERFACES_MAX];
	size_t n;
	struct workers *workers;    /* NULL until the zones of the start are loaded */
	struct answer_cache *cache; /* the programs get its maps */
	struct heartbeat *heartbeat;
	struct report_services services; /* service_addresses.h */
};

void interfaces_init(struct interfaces *all, const struct config *config,
		     struct answer_cache *cache, struct heartbeat *heartbeat);

/*
 * Attaches to all interfaces of the configuration, first to those that have a program, since its
 * maps have the answers. -EPROTO or ERR_RUNNING, logged, if such a program would go on answering
 * beside us.
 */
int interfaces_attach_all(struct interfaces *all) __attribute__((warn_unused_result));
/* Opens the sockets of all queues, once there are workers. */
void interfaces_open_ports(struct interfaces *all);
/*
 * Replaces the programs of earlier daemons by ours. The sockets are open, and
 * heartbeat_let_old_go() was called.
 */
void interfaces_take_places(struct interfaces *all);
/* Silences XDP programs that an earlier daemon has left on interfaces where this one has none. */
void interfaces_clean_others(struct interfaces *all);
/* Closes all of them. keep: their programs stay attached. */
void interfaces_close(struct interfaces *all, bool keep);

/*
 * Once a second, while there are workers: notices interfaces that came, went or lost the program.
 */
void interfaces_check(struct interfaces *all);
/* Several times a second, while there are workers: checks that the driver's answers can leave. */
void interfaces_guard(struct interfaces *all);
/* Once a second: reads how much the driver has dropped since the last call. */
void interfaces_look_at_load(struct interfaces *all);
/* A change of links or addresses was reported: reads each link again. */
void interfaces_update_links(struct interfaces *all);

/* True if volleyd has attached all programs. A program that was loaded by hand keeps its cache. */
bool interfaces_have_own_programs(const struct interfaces *all);

/* Attaches to an interface, configured or not. 0, or a negative code with a sentence in err. */
int interfaces_attach(struct interfaces *all, const char *ifname, char *err, size_t err_cap);
/* Detaches the program, also one loaded by hand. -ENOENT: the interface has no program of ours. */
int interfaces_detach(struct interfaces *all, const char *ifname, char *err, size_t err_cap);
/*
 * From now on AF_XDP serves the queues below n of an interface; 0: all queues. -ENOENT (the daemon
 * does not serve this interface) or -EAGAIN (there are no workers yet), with a sentence in err.
 */
int interfaces_set_queues(struct interfaces *all, const char *ifname, uint32_t n, char *err,
			  size_t err_cap);

/*
 * First step of a reload: attaches to the interfaces of `config` that the daemon does not have. 0,
 * or a negative code with a sentence in err: a program that is there would go on answering
 * (-EPROTO, ERR_RUNNING), or there are too many interfaces. interfaces_settle() follows in any
 * case.
 */
int interfaces_add(struct interfaces *all, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/*
 * Last step of a reload: detaches from interfaces that are not in `after`, unless a command has
 * attached them. Interfaces whose keys differ between `before`, which is still in force, and
 * `after` are attached anew. `after` stays valid until the next call.
 */
void interfaces_settle(struct interfaces *all, const struct config *before,
		       const struct config *after);
/*
 * interfaces_add() and interfaces_settle() do nothing until there are workers. This function then
 * does the work of reloads that came earlier; `running` is the configuration of the start. Failures
 * are logged.
 */
void interfaces_catch_up(struct interfaces *all, const struct config *running,
			 const struct config *wanted);

#endif
