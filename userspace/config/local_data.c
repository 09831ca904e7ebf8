/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the records to a file in memory, since zone_load() reads files. */
#include "config/local_data.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"

#define PATH_CAP 32

/* The lines before the first record: a zone needs them. */
#define APEX                                                               \
	". 300 IN SOA localhost. nobody.invalid. 1 3600 1200 604800 300\n" \
	". 300 IN NS localhost.\n"
#define N_APEX_LINES 2u

/* A descriptor, or -errno. */
static int write_local_records(char *const *records)
{
	int fd = memory_file_open("volley-local-data", 0), copy, err = 0;
	FILE *out;

	if (fd < 0)
		return fd;
	copy = dup(fd);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		close(fd);
		return err;
	}
	fputs(APEX, out);
	for (; *records; records++)
		fprintf(out, "%s\n", *records);
	if (fclose(out))
		err = -errno;
	if (err)
		close(fd);
	return err ? err : fd;
}

static unsigned int count_lines(const char *record)
{
	unsigned int n = 1;

	for (; *record; record++)
		n += *record == '\n';
	return n;
}

/* The record with this line of the file; -1: none. */
static int find_record(char *const *records, unsigned int line)
{
	unsigned int last = N_APEX_LINES;

	if (line <= last)
		return -1;
	for (int i = 0; records[i]; i++) {
		last += count_lines(records[i]);
		if (line <= last)
			return i;
	}
	return -1;
}

static void tell_local(struct local_data_error *why, const struct zone_error *err, const char *path,
		       char *const *records)
{
	bool is_included = err->line && strcmp(err->file, path) != 0;

	why->at = is_included ? -1 : find_record(records, err->line);
	if (is_included)
		snprintf(why->sentence, sizeof(why->sentence), "%s:%u: %s", err->file, err->line,
			 err->sentence);
	else
		snprintf(why->sentence, sizeof(why->sentence), "%s", err->sentence);
}

int local_data_load(struct zone **out, char *const *records, struct local_data_error *why)
{
	int fd = write_local_records(records), code;
	struct zone_error err;
	char path[PATH_CAP];

	*out = NULL;
	*why = (struct local_data_error){ .at = -1 };
	if (fd < 0) {
		snprintf(why->sentence, sizeof(why->sentence), "%s", err_text(fd));
		return fd;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	code = zone_load(out, ".", path, NULL, &err);
	close(fd);
	if (code)
		tell_local(why, &err, path, records);
	return code;
}
