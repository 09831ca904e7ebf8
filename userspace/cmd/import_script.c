/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/volleyctl.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

#define SCRIPT "import/volley-import"

/* Writes the folder of this program's file. */
static int find_own_folder(char folder[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (n < 0)
		return -errno;
	folder[n] = 0;
	slash = strrchr(folder, '/');
	if (!slash)
		return -ENOENT;
	*slash = 0;
	return 0;
}

/* The script in build/ or, if there is none, the one that was installed. */
static int find_script(const char *folder, char script[PATH_MAX])
{
	static const char *const places[] = { "/../" SCRIPT, "/../lib/volley/" SCRIPT };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int n = snprintf(script, PATH_MAX, "%s%s", folder, places[i]);

		if (n > 0 && n < PATH_MAX && !access(script, X_OK))
			return 0;
	}
	return -ENOENT;
}

int import_script_run(FILE *errors, int n, char **words)
{
	char folder[PATH_MAX], script[PATH_MAX], volleyd[PATH_MAX + 16];
	char **args = calloc((size_t)n + 4, sizeof(*args));
	int ret = args ? find_own_folder(folder) : -ENOMEM;

	if (!ret)
		ret = find_script(folder, script);
	if (!ret) {
		snprintf(volleyd, sizeof(volleyd), "%s/volleyd", folder);
		args[0] = script;
		memcpy(args + 1, words, (size_t)n * sizeof(*args));
		args[n + 1] = (char *)"--volleyd";
		args[n + 2] = volleyd;
		fflush(NULL);
		execv(script, args);
		ret = -errno;
		fprintf(errors, "volleyctl: import: %s cannot be run: %s%s\n", script,
			err_text(ret),
			ret == -ENOENT ? ": it needs /usr/bin/python3, install python3" : "");
	} else {
		fprintf(errors, "volleyctl: import: " SCRIPT " is not beside volleyctl: %s\n",
			err_text(ret));
	}
	free(args);
	return ret;
}
