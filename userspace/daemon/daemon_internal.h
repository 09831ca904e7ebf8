/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's parts, for the few files that put them together: daemon.c (the thread's loop),
 * daemon_open.c (start and stop), daemon_reload.c, daemon_view.c (for reports) and commands.c.
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_DAEMON_DAEMON_INTERNAL_H
#define VOLLEY_DAEMON_DAEMON_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/affinity.h"
#include "base/background.h"
#include "config/config.h"
#include "config/runner.h"
#include "control/ctl.h"
#include "control/drain.h"
#include "control/metrics.h"
#include "control/rights.h"
#include "daemon/answer_cache.h"
#include "daemon/cache_jobs.h"
#include "daemon/cache_queries.h"
#include "daemon/capture.h"
#include "daemon/descriptors.h"
#include "daemon/events.h"
#include "daemon/heartbeat.h"
#include "daemon/interfaces.h"
#include "daemon/live.h"
#include "daemon/names_filter.h"
#include "daemon/reply_options.h"
#include "daemon/daemon_recursion.h"
#include "daemon/taps.h"
#include "daemon/zone_places.h"
#include "daemon/zone_service.h"
#include "engine/engine.h"
#include "abuse/block_book.h"
#include "abuse/rate_limits.h"
#include "report/report_view.h"

/* Receivers of the events about answers. */
struct observers {
	struct taps taps;                /* dnstap and the query log */
	char taps_error[TAPS_ERROR_CAP]; /* of the view */
	struct live *live;
	struct capture *capture;
};

/* Counts and estimates of answers, for reports. */
struct statistics {
	struct answers *answers;
	struct top_names *top_names;
	struct zone_places *places;
};

/* As many clients as may wait for a reply (control/ctl.h). */
#define AWAITED_CAP CTL_WAITING_CAP

/* Reloads by signals and by `config apply`, and the clients that wait for their ends. */
struct awaited {
	unsigned int n_reloads; /* that run */
	unsigned int n_tickets;
	uint64_t tickets[AWAITED_CAP];
};

/* Each part has a header with its state and functions, and gets pointers to other parts. */
struct daemon {
	struct config *config; /* as the start has read it; zone_service_config() is in force */
	struct engine_config engine_config;
	uint64_t started_ns;
	bool keep;     /* leave programs attached at the end */
	bool stopping; /* set by a signal or a command */
	bool is_ready; /* it answers; false while the start loads zones, without workers */
	int lock_fd;
	struct runner *runner; /* starts commands of zones, and opens files */
	struct affinity affinity;
	struct descriptors descriptors;
	struct events events;

	struct answer_cache cache;
	struct heartbeat heartbeat;
	struct interfaces interfaces;
	struct names_filter names;
	struct engine_data published; /* read by workers and the transfer thread */

	struct rate_limits *rate_limits;
	struct block_book *blocks; /* NULL until server.storage is open */
	struct reply_options options;
	struct daemon_recursion recursion;
	struct zone_service zones;

	struct background *background;
	struct cache_jobs jobs;
	struct cache_queries queries;
	struct observers observers;
	struct statistics statistics;

	struct health_watch health;
	struct drain drain;
	struct ctl *ctl;
	struct rights rights; /* of the clients of ctl */
	struct awaited awaited;
	struct metrics *metrics; /* NULL: there is no metrics.listen */
	struct report_view view; /* daemon_view() fills it */
};

/* The daemon as it is now, for a report. Valid until the next call. */
const struct report_view *daemon_view(struct daemon *d);

/* True if an interface has `port: dpdk`: then this process has the capabilities of the broker. */
bool daemon_has_dpdk(const struct config *config);

/*
 * Reads the configuration again, puts the keys that a reload can change in place, and begins to
 * load its zones. Another cache.size resizes the cache; log and status list changed keys that need
 * a new start (report/new_start.h). 0: done() follows, as for zones_configure(). Otherwise a
 * negative code, with a sentence in err.
 */
int daemon_reload(struct daemon *d, zones_done_fn *done, void *user, char *err, size_t err_cap);
/*
 * The same, but reads the text from the open file `fd`, which is called `from`, and which
 * commands_config_examine() has made the runner read. The caller replaces the configuration's file
 * after this has returned 0. The result of loading the zones is logged.
 */
int daemon_apply(struct daemon *d, int fd, const char *from, char *err, size_t err_cap);

/*
 * The parts that are not in force, a sentence for each: zones, lists, local data, query log and
 * dnstap. Members of catalogs and zones of `zone add` are left out, since the configuration does
 * not name them: the log and their status report them. Of many zones the first are listed, and the
 * last sentence counts the others; *N, unless NULL, gets the number of all. A new reference.
 */
json_t *daemon_list_faults(const struct daemon *d, size_t *n);

/*
 * For the run() of a command: {"failed": [sentence...]} as above, when no reload by a signal or by
 * daemon_apply() runs any more. 0, CTL_LATER, or a negative code.
 */
int daemon_await_loads(struct daemon *d, json_t **result, char *err, size_t err_cap);

/*
 * A reload of the zone `name` (NULL: of all zones) ended with `code`. Returns `code`, or ERR_ZONE
 * if a part is not in force; then the sentence in err says that all else is.
 */
int daemon_tell_reload(const struct daemon *d, const char *name, int code, char *err,
		       size_t err_cap);

/*
 * Opens all but the workers and begins to load the zones. 0, or -errno or an own code: the fault
 * has been logged. daemon_close() follows in any case.
 */
int daemon_open(struct daemon *d) __attribute__((warn_unused_result));
/* After the zones are loaded: workers, ports, service addresses. 0 or a negative code, logged. */
int daemon_open_workers(struct daemon *d) __attribute__((warn_unused_result));
/*
 * Closes the open parts in reverse order. Unless d->keep is set, the driver first stops answering.
 */
void daemon_close(struct daemon *d);

/* Opens the query log and dnstap.file anew if they were renamed. 0 or -errno, logged. */
int daemon_reopen_logs(struct daemon *d);
/* A reload by a signal: logs failures, and tells systemd when it begins and ends. */
void daemon_reload_by_signal(struct daemon *d);

/* Puts rights in force for the control socket, and takes them. Logs names that are unknown. */
void daemon_put_rights(struct daemon *d, struct rights *rights);

/* Puts a configuration's rate limits in force for driver and workers. 0, or -errno, logged. */
int daemon_configure_rate_limits(struct daemon *d, const struct config *config)
	__attribute__((warn_unused_result));

#endif
