/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* volley-broker: the broker of a volleyd (broker/broker.h), in a unit of its own. systemd starts it
 * for each connection to its socket. */
#include <stdio.h>
#include <string.h>

#include "base/kernel.h"
#include "base/log.h"
#include "base/activation.h"
#include "broker/broker.h"
#include "config/config.h"

int main(int argc, char **argv)
{
	struct config config = { 0 };
	struct broker_ends ends = { .config = &config };
	int socket, status;

	if (argc == 2 && !strcmp(argv[1], "--version")) {
		puts("volley-broker " VOLLEY_VERSION);
		return 0;
	}
	if (argc != 3) {
		fputs("volley-broker: systemd starts this program: volley-broker USER FILE\n",
		      stderr);
		return 2;
	}
	config.path = argv[2];
	socket = activation_socket(argv[1]);
	if (socket < 0 || activation_accept(socket, &ends.daemon, ends.fds, BROKER_N_CHANNELS))
		return 1;
	log_open("volley-broker", LOG_LEVEL_INFO);
	if (privilege_drop_broker())
		log_warn("capabilities that are not needed could not be given up");
	status = broker_run(&ends);
	if (!status)
		activation_tell_done(socket);
	log_close();
	return status;
}
