/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* volley-resolver: the process in which volleyd asks upstream (resolver/serving.h). volleyd starts
 * it; people only ask it for its version. */
#include <stdio.h>
#include <string.h>
#include <unbound.h>

#include "base/executable.h"
#include "resolver/serving.h"

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		printf("volley-resolver " VOLLEY_VERSION "\nlibunbound %s\n", ub_version());
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--serve"))
		return serve_run(EXECUTABLE_SERVE_FD);
	fputs("volley-resolver: volleyd starts this program; --version tells its version\n",
	      stderr);
	return 2;
}
