/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request to the runner, as a daemon that was broken into could send it: the first octet is the
 * number of descriptors, the second one chooses how the rest is laid out: as the whole struct, or
 * as a kind, a path and the path of the file that includes it. Paths that begin with '@' are in the
 * folder of the test. If the request is right, its file is opened by a configuration that names a
 * zone file, keys and a pattern: never the secret beside them, and never a file elsewhere.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/runner_files.h"
#include "config/runner_process.h"
#include "tests/lib/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = { "zone", "included", "keys/key", "members/a.zone" };

#define N_NAMES (sizeof(names) / sizeof(names[0]))

static char folder[] = "/tmp/volley-fuzz-runner-XXXXXX";
static struct runner_opener opener;
static struct runner_files files;
static ino_t allowed[N_NAMES], keys_folder;

static char *path_of(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static ino_t make_file(const char *name, const char *text)
{
	const int fd = open(path_of(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct stat st;

	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !fstat(fd, &st));
	close(fd);
	return st.st_ino;
}

static void remove_files(void)
{
	for (size_t i = 0; i < N_NAMES; i++)
		unlink(path_of(names[i]));
	unlink(path_of("secret"));
	rmdir(path_of("keys"));
	rmdir(path_of("members"));
	rmdir(folder);
}

static void make_world(void)
{
	struct config_zone zone = { 0 };
	struct config_zone template = { 0 };
	struct config_signing signing = { 0 };
	struct config config = { .zones = &zone,
				 .n_zones = 1,
				 .templates = &template,
				 .n_templates = 1,
				 .signing = &signing,
				 .n_signing = 1 };
	char file[PATH_MAX], pattern[PATH_MAX], keys[PATH_MAX];
	struct stat st;

	MUST(mkdtemp(folder) && !atexit(remove_files));
	MUST(!mkdir(path_of("keys"), 0700) && !mkdir(path_of("members"), 0700));
	for (size_t i = 0; i < N_NAMES; i++)
		allowed[i] = make_file(names[i], i ? "" :
						     "$INCLUDE included\n; $INCLUDE secret\n"
						     "$INCLUDEsecret\n a $INCLUDE secret\n");
	(void)make_file("secret", "secret");
	MUST(!stat(path_of("keys"), &st));
	keys_folder = st.st_ino;
	snprintf(file, sizeof(file), "%s/zone", folder);
	snprintf(pattern, sizeof(pattern), "%s/members/%%s.zone", folder);
	snprintf(keys, sizeof(keys), "%s/keys", folder);
	zone.file = file;
	signing.key_folder = keys;
	template.file = pattern;
	MUST(!runner_opener_init(&opener) && !runner_files_collect(&files, &opener, &config));
}

static bool is_allowed(int fd)
{
	struct stat st;
	bool is;

	MUST(!fstat(fd, &st));
	is = st.st_ino == keys_folder && S_ISDIR(st.st_mode);
	for (size_t i = 0; i < N_NAMES; i++)
		is |= st.st_ino == allowed[i];
	return is;
}

/* A text up to a zero octet or the end. How many octets it takes. */
static size_t take_path(char out[PATH_MAX], const uint8_t *data, size_t n)
{
	const size_t n_text = strnlen((const char *)data, n);

	if (n_text && *data == '@')
		snprintf(out, PATH_MAX, "%s/%.*s", folder, (int)n_text - 1, (const char *)data + 1);
	else
		snprintf(out, PATH_MAX, "%.*s", (int)n_text, (const char *)data);
	return n_text < n ? n_text + 1 : n;
}

static void lay_out(struct runner_request *r, const uint8_t *data, size_t n, bool is_whole)
{
	size_t at;

	if (is_whole) {
		memcpy(r, data, n < sizeof(*r) ? n : sizeof(*r));
		return;
	}
	r->kind = data[0] % (RUNNER_KINDS + 1u);
	at = 1 + take_path(r->file, data + 1, n - 1);
	(void)take_path(r->from, data + at, n - at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct runner_request request;
	int fd = -1;

	if (size < 3)
		return 0;
	if (!files.n)
		make_world();
	memset(&request, 0, sizeof(request));
	lay_out(&request, data + 2, size - 2, data[1] & 1);
	if (!runner_request_is_right(&request, data[0] % 5))
		return 0;
	MUST(memchr(request.file, 0, PATH_MAX) && memchr(request.from, 0, PATH_MAX) &&
	     memchr(request.zone, 0, RUNNER_NAME_CAP) && request.kind < RUNNER_KINDS);
	if (request.kind == RUNNER_OPEN)
		fd = runner_files_open(&opener, &files, 1, request.file, request.from);
	else if (request.kind == RUNNER_OPEN_FOLDER)
		fd = runner_files_open_folder(&opener, &files, 1, request.file);
	if (fd >= 0) {
		MUST(is_allowed(fd));
		close(fd);
	}
	return 0;
}
