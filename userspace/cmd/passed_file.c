/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/volleyctl.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"

/* A descriptor, or a negative code. */
static int copy_to_memory(const char *path)
{
	int in = regular_open(path, NULL), out, code;

	if (in < 0)
		return in;
	out = memory_file_open("volley.yaml", MFD_ALLOW_SEALING);
	code = out < 0 ? out : config_file_copy(in, out);
	/* a file in memory is open to all for writing, and the daemon gets this one */
	if (!code)
		code = memory_file_seal(out);
	close(in);
	if (!code)
		return out;
	if (out >= 0)
		close(out);
	return code;
}

static int open_dump(struct passed_file *file, char *err, size_t err_cap)
{
	file->is_dump = true;
	return snapshot_place_open(&file->place, file->path, err, err_cap);
}

static int open_snapshot(struct passed_file *file, char *err, size_t err_cap)
{
	(void)err, (void)err_cap;
	return regular_open(file->path, NULL);
}

static int open_config(struct passed_file *file, char *err, size_t err_cap)
{
	(void)err, (void)err_cap;
	return copy_to_memory(file->path);
}

/* A configuration that names this interface; it has no fewer keys than each must have. */
static int open_name(struct passed_file *file, char *err, size_t err_cap)
{
	static const char form[] = "server: { listen: [ 127.0.0.1 ] }\n"
				   "interfaces: [ { name: \"%s\" } ]\n";
	char text[sizeof(form) + 2 * IF_NAMESIZE];
	int n = snprintf(text, sizeof(text), form, file->path);
	int fd = memory_file_open("volley.yaml", MFD_ALLOW_SEALING);

	if (n >= (int)sizeof(text))
		snprintf(err, err_cap, "%s: no such interface", file->path);
	if (fd >= 0 && n < (int)sizeof(text) && write(fd, text, (size_t)n) == n &&
	    !memory_file_seal(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -ENODEV;
}

static const struct {
	const char *command;
	int (*open)(struct passed_file *file, char *err, size_t err_cap);
	bool is_path; /* its argument */
} ways[] = {
	{ "cache dump", open_dump, true },    { "cache load", open_snapshot, true },
	{ "config diff", open_config, true }, { "config apply", open_config, true },
	{ "attach", open_name, false },
};

bool passed_file_is_of(const char *command)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(command, ways[i].command))
			return ways[i].is_path;
	return false;
}

int passed_file_open(struct passed_file *file, const char *command, const char *path, char *err,
		     size_t err_cap)
{
	size_t i = 0;

	*file = (struct passed_file){ .fd = -1, .path = path };
	err[0] = '\0';
	while (i < sizeof(ways) / sizeof(ways[0]) && strcmp(command, ways[i].command) != 0)
		i++;
	if (i == sizeof(ways) / sizeof(ways[0]))
		return 0;
	file->fd = ways[i].open(file, err, err_cap);
	if (file->fd >= 0)
		return 0;
	if (!*err)
		snprintf(err, err_cap, "%s: cannot be read: %s", path, err_text(file->fd));
	return file->fd;
}

int passed_file_close(struct passed_file *file, bool is_done, char *err, size_t err_cap)
{
	int code = 0;

	if (file->is_dump && is_done)
		code = snapshot_place_finish(&file->place, file->fd, file->path, err, err_cap);
	else if (file->is_dump)
		replace_drop(file->fd, file->place.tmp);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct passed_file){ .fd = -1 };
	return code;
}
