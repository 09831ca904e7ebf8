/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/landlock.h"
#include "base/log.h"
#include "config/fields.h"

/* Facts about processors, links and threads; numbers of routing tables. */
static const char *const read_here[] = { "/proc", "/sys", "/etc/iproute2" };

/* Locks of interfaces, the control socket where it is usually, and names of threads. */
static const char *const written_here[] = { "/run/volley", "/dev/null", "/proc/self/task" };

static struct {
	char **written; /* folders with a rule, sorted */
	size_t n;
	bool is_on;
	bool has_pid_file; /* with a rule of its own */
	char problem[PATH_MAX + 256];
	char next[PATH_MAX + 256]; /* of a configuration that is not in force yet */
} confined;

/* --- Folders of a configuration --------------------------------------------------------------- */

struct folders {
	char **written, **read;
	size_t n_written, n_read;
	bool may_write_zones;
};

static int add_folder_text(char ***list, size_t *n, const char *path, size_t n_bytes)
{
	char *copy, **grown;

	while (n_bytes > 1 && path[n_bytes - 1] == '/')
		n_bytes--;
	copy = strndup(path, n_bytes);
	if (!copy)
		return -ENOMEM;
	/* Zones of one folder mostly stand together. */
	if (*n && !strcmp((*list)[*n - 1], copy)) {
		free(copy);
		return 0;
	}
	grown = *n & (*n - 1) ? *list : realloc(*list, (*n ? 2 * *n : 1) * sizeof(char *));
	if (!grown) {
		free(copy);
		return -ENOMEM;
	}
	*list = grown;
	(*list)[(*n)++] = copy;
	return 0;
}

/* The folder of the file at PATH. False: the name is too long. */
static bool read_folder(char folder[PATH_MAX], const char *path)
{
	const size_t n = landlock_folder_bytes(path);

	if (n >= PATH_MAX)
		return false;
	snprintf(folder, PATH_MAX, "%.*s", n ? (int)n : 1, n ? path : ".");
	return true;
}

static int add_written(struct folders *f, const char *path, size_t n)
{
	return add_folder_text(&f->written, &f->n_written, n ? path : ".", n ? n : 1);
}

/* A symbolic link leads to the file that is replaced, in another folder perhaps. */
static int add_zone_folder(struct folders *f, const char *path)
{
	char *real = f->may_write_zones ? realpath(path, NULL) : NULL;
	int err = 0;

	if (real && strcmp(real, path) != 0)
		err = add_written(f, real, landlock_folder_bytes(real));
	free(real);
	if (err)
		return err;
	if (f->may_write_zones)
		return add_written(f, path, landlock_folder_bytes(path));
	return add_folder_text(&f->read, &f->n_read, path, landlock_folder_bytes(path));
}

static int add_by_key(void *user, const struct words_key *key, const char *text)
{
	struct folders *f = user;

	if (key->type != WORDS_PATH && key->type != WORDS_SOCKET)
		return 0;
	if (!strcmp(key->path, "zones[].file") || !strcmp(key->path, "templates[].file"))
		return add_zone_folder(f, text);
	if (confined.has_pid_file && !strcmp(key->path, "server.pid-file"))
		return 0;
	if (!strcmp(key->path, "control.socket") || key->use == WORDS_WRITE)
		return add_written(f, text, landlock_folder_bytes(text));
	return key->use == WORDS_OWN || key->use == WORDS_FOLDER ?
		       add_written(f, text, strlen(text)) :
		       0;
}

/* Made by systemd for what volleyd writes (StateDirectory=, LogsDirectory= of the unit), so also
 * for what a reload names there. Each variable has paths with colons between them. */
static int add_unit_folders(struct folders *f)
{
	static const char *const of_unit[] = { "STATE_DIRECTORY", "LOGS_DIRECTORY" };
	int err = 0;

	for (size_t i = 0; i < sizeof(of_unit) / sizeof(of_unit[0]); i++) {
		const char *path = getenv(of_unit[i]);

		while (path && *path && !err) {
			const size_t n = strcspn(path, ":");

			err = n ? add_written(f, path, n) : 0;
			path += n + (path[n] == ':');
		}
	}
	return err;
}

/* A zone is written by zone flush, after a transfer, or after an edit: all but the last need
 * server.storage or primaries. */
static bool may_write_zone(const struct config *config)
{
	for (uint32_t i = 0; i < config->n_zones && !config->storage; i++)
		if (config->zones[i].primaries || config->zones[i].allow_update.n)
			return true;
	return config->storage;
}

static int compare_folders(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts them, and leaves each once. */
static void sort_folders(char **list, size_t *n)
{
	size_t kept = 0;

	if (*n)
		qsort(list, *n, sizeof(char *), compare_folders);
	for (size_t i = 0; i < *n; i++)
		if (kept && !strcmp(list[kept - 1], list[i]))
			free(list[i]);
		else
			list[kept++] = list[i];
	*n = kept;
}

/* free_folders() is needed after an error, too. */
static int collect_folders(struct folders *f, const struct config *config)
{
	struct config source = *config;
	struct words_level top;
	int err;

	*f = (struct folders){ .may_write_zones = may_write_zone(config) };
	words_level_top(&top);
	err = fields_each_text(&top, &source, add_by_key, f);
	if (!err)
		err = add_unit_folders(f);
	sort_folders(f->written, &f->n_written);
	sort_folders(f->read, &f->n_read);
	return err;
}

static void free_folders(struct folders *f)
{
	for (size_t i = 0; i < f->n_written; i++)
		free(f->written[i]);
	for (size_t i = 0; i < f->n_read; i++)
		free(f->read[i]);
	free(f->written);
	free(f->read);
}

/* --- Rules ------------------------------------------------------------------------------------ */

/* A folder that is not there yet is made later, in the folder above it. False: there is no rule. */
static bool allow_folder(int rules, const char *path, enum landlock_right right)
{
	char above[PATH_MAX];

	if (access(path, F_OK) && read_folder(above, path))
		path = above;
	return !landlock_is_too_wide(path) && !landlock_allow(rules, path, right);
}

/* These are made by their parts in any folder. */
static void make_own_folders(const struct config *config)
{
	const char *const files[] = { config->control_socket, config->pid_file };
	char folder[PATH_MAX];

	if (config->storage)
		(void)mkdir(config->storage, 0700);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] && read_folder(folder, files[i]))
			(void)mkdir(folder, 0755);
}

/* Leaves only those with a rule. */
static void allow_written(int rules, struct folders *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_written; i++)
		if (allow_folder(rules, f->written[i], LANDLOCK_WRITE))
			f->written[n++] = f->written[i];
		else
			free(f->written[i]);
	f->n_written = n;
}

static void allow_all(int rules, struct folders *f)
{
	landlock_allow_libraries(rules);
	/* What is not there needs no rule, and what has none is not opened. */
	for (size_t i = 0; i < sizeof(read_here) / sizeof(read_here[0]); i++)
		(void)!landlock_allow(rules, read_here[i], LANDLOCK_READ);
	for (size_t i = 0; i < sizeof(written_here) / sizeof(written_here[0]); i++)
		(void)!landlock_allow(rules, written_here[i], LANDLOCK_WRITE);
	for (size_t i = 0; i < f->n_read; i++)
		(void)allow_folder(rules, f->read[i], LANDLOCK_READ);
	allow_written(rules, f);
}

/* Logs of files that stand directly in a wide folder, and devices. */
static void allow_outputs(int rules, const struct config *config)
{
	const char *const files[] = { config->dnstap.file, config->query_log.file };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] && !access(files[i], F_OK))
			(void)!landlock_allow(rules, files[i], LANDLOCK_WRITE);
}

/* In a wide folder volleyd can neither make it later nor remove it; bpf/lock.h uses this one. */
static void allow_pid_file(int rules, const char *path)
{
	char folder[PATH_MAX];
	int fd;

	if (!path || !read_folder(folder, path) || !landlock_is_too_wide(folder))
		return;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd >= 0)
		close(fd);
	confined.has_pid_file = fd >= 0 && !landlock_allow(rules, path, LANDLOCK_WRITE);
}

/* --- What is not written ---------------------------------------------------------------------- */

/* True if the folder, or one above it, has a rule. */
static bool is_covered(const char *path)
{
	for (size_t i = 0; i < confined.n; i++) {
		const size_t n = strlen(confined.written[i]);

		if (!strncmp(confined.written[i], path, n) && (!path[n] || path[n] == '/'))
			return true;
	}
	return false;
}

static void tell_unwritten(const char *folder)
{
	if (landlock_is_too_wide(folder))
		snprintf(confined.next, sizeof(confined.next),
			 "%s: nothing is written in this folder, since it has the files of others: "
			 "give keys, logs, zone files that are written and the control socket "
			 "folders of their own",
			 folder);
	else
		snprintf(confined.next, sizeof(confined.next),
			 "%s: nothing can be written in this folder, which the configuration did "
			 "not name at the start: start volleyd again. A template whose file is "
			 "in a folder above allows all that comes there",
			 folder);
}

/* The resolver's process writes it, with the same rule for its folder (resolver/confinement.h). */
static void check_anchor(const char *path)
{
	char folder[PATH_MAX];

	if (!path || *confined.next || !read_folder(folder, path))
		return;
	if (landlock_is_too_wide(folder))
		snprintf(confined.next, sizeof(confined.next),
			 "recursion.auto-trust-anchor: %s: it is not written, since the folder has "
			 "the files of others: give it a folder of its own",
			 path);
}

void confine_look(const struct config *config)
{
	struct folders f;
	int err;

	*confined.next = '\0';
	if (!confined.is_on)
		return;
	err = collect_folders(&f, config);
	for (size_t i = 0; i < f.n_written && !err && !*confined.next; i++)
		if (!is_covered(f.written[i]))
			tell_unwritten(f.written[i]);
	free_folders(&f);
	check_anchor(config->recursion.auto_trust_anchor);
}

void confine_put(void)
{
	memcpy(confined.problem, confined.next, sizeof(confined.problem));
	if (*confined.problem)
		log_warn("%s", confined.problem);
}

void confine_start(const struct config *config)
{
	struct folders f;
	int rules = landlock_open(LANDLOCK_FILES);
	int err = rules < 0 ? rules : collect_folders(&f, config);

	if (rules >= 0 && !err) {
		make_own_folders(config);
		allow_all(rules, &f);
		allow_outputs(rules, config);
		allow_pid_file(rules, config->pid_file);
		err = landlock_enforce(rules);
	} else if (rules >= 0) {
		close(rules);
	}
	if (rules >= 0 && !err) {
		confined.is_on = true;
		confined.written = f.written;
		confined.n = f.n_written;
		f.n_written = 0;
		f.written = NULL;
	}
	if (rules >= 0)
		free_folders(&f);
	if (err)
		log_notice("Landlock: %s: volleyd opens all files that its user may open",
			   err == -EOPNOTSUPP ? "the kernel has it, but not enabled" :
						err_text(err));
	confine_look(config);
	confine_put();
}

const char *confine_problem(void)
{
	return confined.problem;
}
