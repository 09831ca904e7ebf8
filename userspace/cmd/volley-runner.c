/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* volley-runner: the runner of a volleyd (config/runner.h), in a unit of its own. systemd starts it
 * for each connection to its socket. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/activation.h"
#include "config/config.h"
#include "config/runner_process.h"

int main(int argc, char **argv)
{
	struct config config = { 0 };
	int socket, fd, status;
	pid_t daemon;

	if (argc == 2 && !strcmp(argv[1], "--version")) {
		puts("volley-runner " VOLLEY_VERSION);
		return 0;
	}
	if (argc != 3) {
		fputs("volley-runner: systemd starts this program: volley-runner USER FILE\n",
		      stderr);
		return 2;
	}
	config.path = argv[2];
	socket = activation_socket(argv[1]);
	if (socket < 0 || activation_accept(socket, &daemon, &fd, 1))
		return 1;
	log_open("volley-runner", LOG_LEVEL_INFO);
	status = runner_serve(fd, &config, true);
	if (!status)
		activation_tell_done(socket);
	log_close();
	return status;
}
