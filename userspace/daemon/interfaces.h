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
	struct answer_cache *cache; /* whose maps the programs get */
	struct heartbeat *heartbeat;
	struct report_services services; /* service_addresses.h */
};

void interfaces_init(struct interfaces *all, const struct config *config,
		     struct answer_cache *cache, struct heartbeat *heartbeat);

/*
 * Attaches to all interfaces of the configuration. Interfaces that have a program come first,
 * since its maps have the answers. -EPROTO or ERR_RUNNING, logged, if one of these programs would
 * go on answering beside us.
 */
int interfaces_attach_all(struct interfaces *all) __attribute__((warn_unused_result));
/* Opens the queues' sockets of all, once there are workers. */
void interfaces_open_ports(struct interfaces *all);
/*
 * Ours take the places of earlier daemons' programs. When sockets are open;
 * heartbeat_let_old_go() comes before.
 */
void interfaces_take_places(struct interfaces *all);
/* Silences XDP programs that an earlier daemon has left on interfaces where this one has none. */
void interfaces_clean_others(struct interfaces *all);
/* Closes all of them. keep: their programs stay attached. */
void interfaces_close(struct interfaces *all, bool keep);

/*
 * Once a second: notices interfaces that came, went, or lost their program. While there are
 * workers.
 */
void interfaces_check(struct interfaces *all);
/*
 * Several times a second: checks whether the driver's answers can leave. While there are workers.
 */
void interfaces_guard(struct interfaces *all);
/* Once a second: reads how much the driver has dropped since the last call. */
void interfaces_look_at_load(struct interfaces *all);
/* A change of links or addresses was reported: reads each link again. */
void interfaces_update_links(struct interfaces *all);

/* Whether volleyd has attached all programs: a program that was loaded by hand keeps its cache. */
bool interfaces_have_own_programs(const struct interfaces *all);

/* Attaches to an interface at run time; it need not be in the configuration. Sentence in err. */
int interfaces_attach(struct interfaces *all, const char *ifname, char *err, size_t err_cap);
/* Detaches the program, also one that was loaded by hand. -ENOENT: there is none of ours. */
int interfaces_detach(struct interfaces *all, const char *ifname, char *err, size_t err_cap);
/*
 * From now on AF_XDP serves the queues below n of an interface, 0: all of them. -ENOENT (the
 * daemon does not have it) or -EAGAIN (there are no workers yet), with a sentence in err.
 */
int interfaces_set_queues(struct interfaces *all, const char *ifname, uint32_t n, char *err,
			  size_t err_cap);

/*
 * When a reload changes `interfaces`. First those of `config` that the daemon does not have are
 * attached: 0, or a negative code with a sentence in err where that must not be (-EPROTO,
 * ERR_RUNNING) or there are too many; interfaces_settle() follows then, too.
 */
int interfaces_add(struct interfaces *all, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/*
 * At the end of a reload: interfaces that are not in `after` are let go of, unless a command has
 * attached them. Interfaces whose keys differ between `before`, which still holds, and `after`
 * are attached anew. `after` stays until the next call.
 */
void interfaces_settle(struct interfaces *all, const struct config *before,
		       const struct config *after);
/*
 * interfaces_add() and interfaces_settle() do nothing until there are workers. Then this one
 * makes up for reloads that came before: `running` is what the start has read. Failures are
 * logged.
 */
void interfaces_catch_up(struct interfaces *all, const struct config *running,
			 const struct config *wanted);

#endif
