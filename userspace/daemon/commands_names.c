/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands_names.h"

#include <errno.h>
#include <stdio.h>

#include "daemon/daemon.h"
#include "report/names_report.h"

int commands_names(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct daemon *d = user;

	(void)args, (void)err, (void)err_cap;
	if (d->names)
		daemon_look_at_names(d);
	*result = names_report(daemon_view(d));
	return *result ? 0 : -ENOMEM;
}

int commands_names_rebuild(void *user, const json_t *args, json_t **result, char *err,
			   size_t err_cap)
{
	struct daemon *d = user;
	int code;

	if (!d->names) {
		snprintf(
			err, err_cap,
			"there is no filter of names: cache.names is not set, or BPF maps cannot be used");
		return -EOPNOTSUPP;
	}
	if (!d->is_ready) {
		snprintf(err, err_cap,
			 "volleyd is starting: try again when volleyctl status says ready");
		return -EAGAIN;
	}
	code = daemon_rebuild_names(d, true);
	return code ? code : commands_names(user, args, result, err, err_cap);
}
