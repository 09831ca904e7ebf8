/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main function of a fuzz target without a fuzzer: runs the target on the empty input, then on
 * each file, and each file of each folder, in the arguments. Each input lies in a block of exactly
 * its length, so a sanitizer sees the first read beyond it.
 */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static unsigned int n_inputs;

static void fail(const char *path)
{
	perror(path);
	exit(1);
}

static void replay_file(const char *path, size_t size)
{
	uint8_t *data = malloc(size);
	FILE *f = fopen(path, "rb");

	if (!f || (size && !data))
		fail(path);
	if (fread(data, 1, size, f) != size)
		fail(path);
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	n_inputs++;
}

static void replay_path(const char *path);

static void replay_folder(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);

	if (!dir)
		fail(path);
	while ((entry = readdir(dir))) {
		char inner[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		if (snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) < PATH_MAX)
			replay_path(inner);
	}
	closedir(dir);
}

static void replay_path(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		fail(path);
	if (S_ISDIR(st.st_mode))
		replay_folder(path);
	else
		replay_file(path, (size_t)st.st_size);
}

int main(int argc, char **argv)
{
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	replay_path("/dev/null");
	for (int i = 1; i < argc; i++)
		replay_path(argv[i]);
	printf("  REPLAY    %s: %u inputs\n", argv[0], n_inputs);
	return 0;
}
