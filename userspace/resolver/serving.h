/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resolver's process: its start, its desks and its end.
 *
 *	socket ─► hello, memory, doors, bells ─► resolver_start() ─► no rights ─► "started"
 *	          end of file ─► resolver_stop(), and the process ends
 *
 * The process has no capability, except that it may read files of other owners until its start has
 * ended, if the server may: hints, anchors, certificates. After that it parses what strangers send.
 */
#ifndef VOLLEY_RESOLVER_SERVING_H
#define VOLLEY_RESOLVER_SERVING_H

/* Runs until the server closes the socket. Returns the exit status: 0, also if the start failed and
 * the server was told the reason; else the socket has brought nonsense. Before any thread. */
int serve_run(int socket_fd);

#endif
