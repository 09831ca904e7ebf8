/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/daemon_audit.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/audit.h"
#include "base/clock.h"
#include "base/err.h"

#define N_OF(fields) (sizeof(fields) / sizeof((fields)[0]))

void daemon_audit_start(const struct config *config)
{
	const struct log_field fields[] = {
		{ "version", VOLLEY_VERSION },
		{ "configuration", config->path },
	};

	audit(AUDIT_START, clock_ns(), fields, N_OF(fields));
}

void daemon_audit_stop(uint64_t started_ns, bool keep)
{
	char uptime[24];
	const struct log_field fields[] = {
		{ "uptime_s", uptime },
		{ "programs", keep ? "kept" : "detached" },
	};
	uint64_t now_ns = clock_ns();

	snprintf(uptime, sizeof(uptime), "%" PRIu64,
		 (uint64_t)((now_ns - started_ns) / CLOCK_NS_PER_S));
	audit_tick(now_ns + AUDIT_PERIOD_NS); /* the last time to report suppressed events */
	audit(AUDIT_STOP, now_ns, fields, N_OF(fields));
}

void daemon_audit_signal(const struct signalfd_siginfo *info)
{
	const char *name = sigabbrev_np((int)info->ssi_signo);
	char uid[16], pid[16];
	const struct log_field fields[] = {
		{ "signal", name ? name : "?" },
		{ "uid", uid },
		{ "peer_pid", pid },
	};

	snprintf(uid, sizeof(uid), "%u", info->ssi_uid);
	snprintf(pid, sizeof(pid), "%u", info->ssi_pid);
	audit(AUDIT_SIGNAL, clock_ns(), fields, N_OF(fields));
}

void daemon_audit_reload(int code)
{
	const char *name = code ? err_name(code) : "ok";
	const struct log_field field = { "result", name ? name : "error" };

	audit(AUDIT_RELOAD, clock_ns(), &field, 1);
}

void daemon_configure_log(struct config *running, const struct config *config)
{
	log_set_format(config->log_format);
	if (config->log_level != running->log_level)
		log_set_level(config->log_level);
	running->log_level = config->log_level;
}

int daemon_audit_log_level(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap)
{
	const char *word = json_string_value(json_array_get(args, 0));
	int level = word ? log_level_from_text(word) : 0;

	(void)user;
	if (level < 0) {
		snprintf(err, err_cap,
			 "\"%s\" is no level: give error, warning, notice, info or debug", word);
		return -EINVAL;
	}
	if (word)
		log_set_level((enum log_level)level);
	*result = json_pack("{s:s, s:s}", "level", log_level_text(log_get_level()), "format",
			    log_get_format() == LOG_JSON ? "json" : "text");
	return *result ? 0 : -ENOMEM;
}
