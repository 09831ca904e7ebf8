/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resolver's process: its start, its desks and its end.
 *
 *	socket ─► hello, memory, doors, bells ─► resolver_start() ─► no rights ─► "started"
 *	          end of file ─► resolver_stop(), and the process ends
 *
 * The process has no capability. Before it parses what strangers send, it is confined to few files
 * and system calls (resolver/confinement.h, base/sandbox.h).
 */
#ifndef VOLLEY_RESOLVER_SERVING_H
#define VOLLEY_RESOLVER_SERVING_H

/* Runs until the server closes the socket. Returns the exit status: 0, also if the start failed and
 * the server was told the reason; else the socket has brought nonsense. Before any thread. */
int serve_run(int socket_fd);

#endif
