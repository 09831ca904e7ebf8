/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/given_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"

static const size_t rows[GIVEN_FILES_MAX] = {
	offsetof(struct resolver_config, root_hints),
	offsetof(struct resolver_config, trust_anchor_file),
	offsetof(struct resolver_config, tls_bundle),
};

static struct {
	const char *path;
	int fd;
} given[GIVEN_FILES_MAX];

static const char *path_of(const struct resolver_config *config, unsigned int row)
{
	return *(const char *const *)(const void *)((const char *)config + rows[row]);
}

/* --- The server ------------------------------------------------------------------------------- */

static int copy_given(int from, int to)
{
	char octets[16384];
	uint64_t n_bytes = 0;
	ssize_t n;

	while ((n = read(from, octets, sizeof(octets))) > 0) {
		n_bytes += (uint64_t)n;
		if (n_bytes > GIVEN_BYTES_MAX)
			return -EFBIG;
		if (write(to, octets, (size_t)n) != n)
			return -EIO;
	}
	return n < 0 ? -errno : 0;
}

/* A copy in memory, or a negative code. */
static int open_given(const char *path)
{
	int from = regular_open(path, NULL), copy, err;

	if (from < 0)
		return from;
	copy = memory_file_open("volley-given", 0);
	err = copy < 0 ? copy : copy_given(from, copy);
	close(from);
	if (err && copy >= 0)
		close(copy);
	return err ? err : copy;
}

unsigned int given_files_open(const struct resolver_config *config, int fds[GIVEN_FILES_MAX],
			      uint32_t *which)
{
	unsigned int n = 0;

	*which = 0;
	for (unsigned int i = 0; i < GIVEN_FILES_MAX; i++) {
		const char *path = path_of(config, i);
		int fd = path ? open_given(path) : -ENOENT;

		if (fd < 0)
			continue;
		fds[n++] = fd;
		*which |= 1u << i;
	}
	return n;
}

unsigned int given_files_n(uint32_t which)
{
	return (unsigned int)__builtin_popcount(which & ((1u << GIVEN_FILES_MAX) - 1));
}

/* --- The process ------------------------------------------------------------------------------ */

static int find_given_file(const char *path)
{
	for (unsigned int i = 0; i < GIVEN_FILES_MAX; i++)
		if (given[i].path && !strcmp(given[i].path, path))
			return given[i].fd;
	return -EACCES;
}

static int open_given_copy(void *user, const char *path, const struct regular_chain *from,
			   bool is_folder)
{
	int fd = from || is_folder ? -EACCES : find_given_file(path);
	char room[GIVEN_PATH_CAP];

	(void)user;
	if (fd < 0)
		return fd;
	snprintf(room, sizeof(room), "/proc/self/fd/%d", fd); /* with a position of its own */
	fd = open(room, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void given_files_take(const struct resolver_config *config, const int *fds, uint32_t which)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < GIVEN_FILES_MAX; i++)
		if (which >> i & 1) {
			given[i].path = path_of(config, i);
			given[i].fd = fds[n++];
		}
	regular_set_helper(open_given_copy, NULL);
}

const char *given_files_path(const char *path, char room[GIVEN_PATH_CAP])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), copy;

	if (fd >= 0) {
		close(fd);
		return path;
	}
	copy = errno == EACCES ? find_given_file(path) : -EACCES;
	if (copy < 0)
		return path;
	snprintf(room, GIVEN_PATH_CAP, "/proc/self/fd/%d", copy);
	return room;
}
