/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/block_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD     "volley blocks 1\n"
#define NAME     "blocks"
#define TMP      ".volley-tmp"
#define LINE_CAP 2048

/* Reads a line without its newline. A line of another form is ignored. */
static void read_line(char *line, block_journal_fn *fn, void *user)
{
	char *at = line + 2, *action, *what, *why;
	uint64_t until;

	if (line[0] == '-' && line[1] == ' ') {
		fn(user, '-', 0, "", at, "");
		return;
	}
	if (line[0] != '+' || line[1] != ' ')
		return;
	errno = 0;
	until = strtoull(at, &action, 10);
	if (errno || action == at || *action++ != ' ')
		return;
	what = strchr(action, ' ');
	if (!what)
		return;
	*what++ = 0;
	why = strchr(what, ' ');
	if (why)
		*why++ = 0;
	fn(user, '+', until, action, what, why ? why : "");
}

static int read_all(struct block_journal *j, block_journal_fn *fn, void *user)
{
	FILE *f = fopen(j->path, "re");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int err;

	if (!f)
		return errno == ENOENT ? 0 : -errno;
	while ((n = getline(&line, &cap, f)) > 0 && line[n - 1] == '\n') {
		line[n - 1] = 0;
		j->n_lines++;
		read_line(line, fn, user);
	}
	err = ferror(f) ? -EIO : 0;
	free(line);
	fclose(f);
	return err;
}

int block_journal_open(struct block_journal *j, const char *folder, block_journal_fn *fn,
		       void *user)
{
	*j = (struct block_journal){ .fd = -1 };
	if (!folder)
		return 0;
	if (asprintf(&j->path, "%s/" NAME, folder) < 0) {
		j->path = NULL;
		return -ENOMEM;
	}
	return read_all(j, fn, user);
}

void block_journal_close(struct block_journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	free(j->path);
	*j = (struct block_journal){ .fd = -1 };
}

/* One write, so that the file has the whole line, or a line that is cut. */
static int append(struct block_journal *j, const char *line, size_t n)
{
	ssize_t put;

	if (!j->path)
		return 0;
	if (j->fd < 0)
		return -EBADF;
	put = write(j->fd, line, n);
	if (put < 0)
		return -errno;
	j->n_lines++;
	return (size_t)put == n ? 0 : -ENOSPC;
}

int block_journal_add(struct block_journal *j, uint64_t wall_expires_s, const char *action,
		      const char *what, const char *why)
{
	char line[LINE_CAP];
	int n = snprintf(line, sizeof(line), "+ %" PRIu64 " %s %s %s\n", wall_expires_s, action,
			 what, why);

	return n < (int)sizeof(line) ? append(j, line, (size_t)n) : -EMSGSIZE;
}

int block_journal_remove(struct block_journal *j, const char *what)
{
	char line[LINE_CAP];
	int n = snprintf(line, sizeof(line), "- %s\n", what);

	return n < (int)sizeof(line) ? append(j, line, (size_t)n) : -EMSGSIZE;
}

FILE *block_journal_begin(struct block_journal *j)
{
	char *path;
	FILE *f;

	if (asprintf(&path, "%s" TMP, j->path) < 0)
		return NULL;
	f = fopen(path, "we");
	free(path);
	if (f)
		fputs(HEAD, f);
	return f;
}

void block_journal_put(FILE *f, uint64_t wall_expires_s, const char *action, const char *what,
		       const char *why)
{
	fprintf(f, "+ %" PRIu64 " %s %s %s\n", wall_expires_s, action, what, why);
}

int block_journal_end(struct block_journal *j, FILE *f, size_t n_lines)
{
	int err = fflush(f) || fsync(fileno(f)) ? -errno : 0;
	char *path;

	if (fclose(f) && !err)
		err = -errno;
	if (asprintf(&path, "%s" TMP, j->path) < 0)
		return -ENOMEM;
	if (!err && rename(path, j->path))
		err = -errno;
	if (err)
		unlink(path);
	free(path);
	if (err)
		return err;
	if (j->fd >= 0)
		close(j->fd);
	j->n_lines = n_lines;
	j->fd = open(j->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	return j->fd < 0 ? -errno : 0;
}
