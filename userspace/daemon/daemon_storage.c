/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The folder for what is kept of zones, server.storage: opened, or done without. */
#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "daemon/daemon_internal.h"

/* A disk that has to be seen to; zones of files need none. What a person has to decide ends the start. */
bool daemon_serves_without_store(int code)
{
	return code == -EROFS || code == -EACCES || code == -EPERM || code == -ENOSPC ||
	       code == -EDQUOT || code == -EIO;
}

int daemon_open_store(struct daemon *d)
{
	char err[384];
	int code;

	if (!d->config->storage)
		return 0;
	code = store_open(&d->store, d->config->storage, d->config->storage_bytes, err,
			  sizeof(err));
	if (!*err)
		return 0;
	log_error("%s", err);
	if (code && !daemon_serves_without_store(code))
		return code;
	snprintf(
		d->storage_error, sizeof(d->storage_error),
		"%s: zones are served, but nothing that changes is kept, and no changes are taken, "
		"until it can be written to and volleyd is restarted",
		err);
	return 0;
}
