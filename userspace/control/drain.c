/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/drain.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "control/ctl_command.h"

/* The reason becomes part of one line of a log or a terminal. */
static void set_why(struct drain *drain, const char *why)
{
	snprintf(drain->why, sizeof(drain->why), "%s", why ? why : "");
	for (char *c = drain->why; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
}

/* If the file exists but cannot be read, the host is drained. */
void drain_open(struct drain *drain, const char *socket)
{
	char why[DRAIN_WHY_CAP] = "";
	ssize_t got;
	int fd;

	snprintf(drain->path, sizeof(drain->path), "%s" DRAIN_SUFFIX, socket);
	fd = open(drain->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	drain->is_on = fd >= 0 || errno != ENOENT;
	if (fd >= 0) {
		got = read(fd, why, sizeof(why) - 1);
		why[got > 0 ? got : 0] = 0;
		close(fd);
	}
	why[strcspn(why, "\n")] = 0;
	set_why(drain, why);
}

static int write_drain_file(const struct drain *drain)
{
	int fd = open(drain->path,
		      O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	int err;

	if (fd < 0)
		return -errno;
	err = dprintf(fd, "%s\n", drain->why) < 0 ? -errno : 0;
	if (close(fd) && !err)
		err = -errno;
	return err;
}

int drain_set(struct drain *drain, bool is_on, const char *why)
{
	drain->is_on = is_on;
	set_why(drain, is_on ? why : NULL);
	if (is_on)
		return write_drain_file(drain);
	return unlink(drain->path) && errno != ENOENT ? -errno : 0;
}

const char *drain_text(const struct drain *drain, char *buf, size_t cap)
{
	snprintf(buf, cap, "%s%s%s", drain->is_on ? "drained" : "",
		 drain->is_on && *drain->why ? ": " : "", drain->is_on ? drain->why : "");
	return buf;
}

/* --- The command ------------------------------------------------------------------------------ */

static void log_change(const struct drain *drain, bool was_on)
{
	char text[DRAIN_WHY_CAP + 16];

	if (drain->is_on)
		log_notice("%s: volleyctl health says so until volleyctl drain off",
			   drain_text(drain, text, sizeof(text)));
	else if (was_on)
		log_notice("drain off: volleyctl health no longer says that this host is drained");
}

int drain_run(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const char *word = ctl_arg(args, 0);
	const char *why = ctl_arg(args, 1);
	struct drain *drain = user;
	bool was_on = drain->is_on, is_on = word && !strcmp(word, "on");
	int code = 0;

	if (word && ((!is_on && strcmp(word, "off") != 0) || (!is_on && why))) {
		snprintf(err, err_cap, "drain takes on, with a reason if you like, or off");
		return -EINVAL;
	}
	if (word) {
		code = drain_set(drain, is_on, why);
		log_change(drain, was_on);
	}
	if (code) {
		snprintf(err, err_cap,
			 "this holds only until volleyd ends, since %s cannot be changed: %s",
			 drain->path, err_text(code));
		return code;
	}
	*result = json_pack("{s:b, s:s}", "drained", drain->is_on, "why", drain->why);
	return *result ? 0 : -ENOMEM;
}
