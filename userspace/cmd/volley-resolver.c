/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* volley-resolver: the process in which volleyd asks upstream (resolver/serving.h). volleyd starts
 * it; people only ask it for its version. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unbound.h>

#include "base/executable.h"
#include "base/sandbox.h"
#include "base/starter.h"
#include "base/activation.h"
#include "resolver/serving.h"

/* As a unit of its own: the starter of another process of this program. */
static int serve_unit(const char *user)
{
	struct starter_request request;
	struct executable self = { .fd = open("/proc/self/exe", O_PATH | O_CLOEXEC) };
	int socket = activation_socket(user);

	if (socket < 0 || starter_receive(socket, &request))
		return 1;
	sandbox_start_process(SANDBOX_PARENT);
	starter_run(&self, &request);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		printf("volley-resolver " VOLLEY_VERSION "\nlibunbound %s\n", ub_version());
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--serve"))
		return serve_run(EXECUTABLE_SERVE_FD);
	if (argc == 3 && !strcmp(argv[1], "--unit"))
		return serve_unit(argv[2]);
	fputs("volley-resolver: volleyd starts this program; --version tells its version\n",
	      stderr);
	return 2;
}
