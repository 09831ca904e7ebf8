/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "abuse/block_journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"

#define HEAD     "volley blocks 1\n"
#define NAME     "blocks"
#define TMP      ".volley-tmp"
#define LINE_CAP 2048

/* --- Reading ---------------------------------------------------------------------------------- */

/* Reads a line without its newline. */
static bool read_block_journal_line(char *line, block_journal_fn *fn, void *user)
{
	char *at = line + 2, *action, *what, *why;
	uint64_t until;

	if (line[0] == '-' && line[1] == ' ')
		return fn(user, '-', 0, "", at, "");
	if (line[0] != '+' || line[1] != ' ')
		return false;
	errno = 0;
	until = strtoull(at, &action, 10);
	if (errno || action == at || *action++ != ' ')
		return false;
	what = strchr(action, ' ');
	if (!what)
		return false;
	*what++ = 0;
	why = strchr(what, ' ');
	if (why)
		*why++ = 0;
	return fn(user, '+', until, action, what, why ? why : "");
}

/* A last line without an end was not written whole: the change was not reported as kept. */
static int read_block_journal_lines(struct block_journal *j, FILE *f, block_journal_fn *fn,
				    void *user)
{
	char *line = NULL;
	size_t cap = 0, n_read = 0;
	ssize_t n;
	int err = 0;

	while (!err && (n = getline(&line, &cap, f)) > 0 && (!n_read || line[n - 1] == '\n')) {
		bool is_head = !n_read++;

		if (is_head ? strcmp(line, HEAD) != 0 : strlen(line) != (size_t)n)
			err = ERR_FORMAT;
		line[n - 1] = 0;
		if (!is_head && !err && !read_block_journal_line(line, fn, user))
			err = ERR_FORMAT;
		j->n_lines += !is_head;
	}
	if (err)
		j->wrong_line = n_read;
	if (!err && ferror(f))
		err = -EIO;
	free(line);
	return err;
}

static int read_all_block_journal(struct block_journal *j, block_journal_fn *fn, void *user)
{
	FILE *f;
	int err = regular_fopen(&f, j->path, NULL);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = read_block_journal_lines(j, f, fn, user);
	fclose(f);
	return err;
}

int block_journal_open(struct block_journal *j, const char *folder, block_journal_fn *fn,
		       void *user)
{
	int err;

	*j = (struct block_journal){ .fd = -1 };
	if (!folder)
		return 0;
	j->state = BLOCK_JOURNAL_UNREAD;
	if (asprintf(&j->path, "%s/" NAME, folder) < 0) {
		j->path = NULL;
		return -ENOMEM;
	}
	err = read_all_block_journal(j, fn, user);
	if (!err)
		j->state = BLOCK_JOURNAL_BEHIND; /* nothing is open yet */
	return err;
}

void block_journal_close(struct block_journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	free(j->path);
	*j = (struct block_journal){ .fd = -1 };
}

/* --- Appending -------------------------------------------------------------------------------- */

/* One write, so that the file has the whole line, or a line that is cut. Nothing may follow a cut
 * line: it would become a part of it. */
static int append_block_journal(struct block_journal *j, const char *line, int n)
{
	ssize_t put;

	assert(j->state == BLOCK_JOURNAL_WHOLE && j->fd >= 0);
	if (n >= LINE_CAP) {
		j->state = BLOCK_JOURNAL_BEHIND;
		return -EMSGSIZE;
	}
	put = write(j->fd, line, (size_t)n);
	if (put == n) {
		j->n_lines++;
		return 0;
	}
	j->state = BLOCK_JOURNAL_BEHIND;
	return put < 0 ? -errno : -ENOSPC;
}

int block_journal_add(struct block_journal *j, uint64_t wall_expires_s, const char *action,
		      const char *what, const char *why)
{
	char line[LINE_CAP];

	return append_block_journal(j, line,
				    snprintf(line, sizeof(line), "+ %" PRIu64 " %s %s %s\n",
					     wall_expires_s, action, what, why));
}

int block_journal_remove(struct block_journal *j, const char *what)
{
	char line[LINE_CAP];

	return append_block_journal(j, line, snprintf(line, sizeof(line), "- %s\n", what));
}

/* --- Writing anew ----------------------------------------------------------------------------- */

int block_journal_begin(struct block_journal *j, FILE **f)
{
	int fd, err = replace_find(j->path, j->target, sizeof(j->target));

	assert(j->state != BLOCK_JOURNAL_UNREAD);
	*f = NULL;
	j->state = BLOCK_JOURNAL_BEHIND;
	if (err)
		return err;
	snprintf(j->tmp, sizeof(j->tmp), "%s" TMP, j->target);
	fd = replace_open(j->tmp);
	if (fd < 0)
		return fd;
	err = replace_clear(fd);
	*f = err ? NULL : fdopen(fd, "w");
	if (*f) {
		fputs(HEAD, *f);
		return 0;
	}
	replace_drop(fd, j->tmp);
	close(fd);
	return err ? err : -ENOMEM;
}

void block_journal_put(FILE *f, uint64_t wall_expires_s, const char *action, const char *what,
		       const char *why)
{
	fprintf(f, "+ %" PRIu64 " %s %s %s\n", wall_expires_s, action, what, why);
}

/* Lines that no buffer had room for are lost without an error of the last write. */
static int sync_file(FILE *f)
{
	errno = 0;
	if (fflush(f) || ferror(f) || fsync(fileno(f)))
		return errno ? -errno : -EIO;
	return 0;
}

int block_journal_end(struct block_journal *j, FILE *f, size_t n_lines)
{
	int err = sync_file(f), fd = err ? -1 : fcntl(fileno(f), F_DUPFD_CLOEXEC, 0);

	if (!err && fd < 0)
		err = -errno;
	if (!err)
		err = replace_finish(j->tmp, j->target);
	if (err)
		replace_drop(fileno(f), j->tmp);
	fclose(f); /* all of it is on the disk */
	if (err) {
		if (fd >= 0)
			close(fd);
		return err;
	}
	if (j->fd >= 0)
		close(j->fd);
	j->fd = fd; /* at the file's end */
	j->n_lines = n_lines;
	j->state = BLOCK_JOURNAL_WHOLE;
	return 0;
}
