/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confines volleyd's threads to the folders that it needs, if the kernel has Landlock
 * (base/landlock.h): a thread that a stranger controls neither reads nor writes other files, also
 * if volleyd is root.
 *
 *	to write   server.storage, folders of keys, of logs, of the control socket, of the snapshot;
 *	           folders of zone files, if a zone may be written; those that systemd has made
 *	to read    folders of zone files, the system's libraries and facts about the host
 *	neither    what else the configuration names: the runner opens it (config/runner.h)
 *
 * A folder such as / or /etc gets no rule, since it has the files of others. Rules cannot be added
 * later. A reload that names another folder works for all that is read; what
 * is to be written there needs a start, and confine_problem() says so.
 */
#ifndef VOLLEY_DAEMON_CONFINE_H
#define VOLLEY_DAEMON_CONFINE_H

#include "config/config.h"

/*
 * Confines the calling thread, which must be the only one, and all that it starts. It has called
 * prctl(PR_SET_NO_NEW_PRIVS). Without Landlock it changes nothing, and the log says so.
 */
void confine_start(const struct config *config);

/* Notes the first folder of a configuration that is to be written and may not. It must be whole: a
 * reload moves parts of it to others. Control's thread. */
void confine_look(const struct config *config);
/* That configuration is in force. Control's thread. */
void confine_put(void);

/* A sentence for `degraded`, or "". Valid until the next confine_put(). */
const char *confine_problem(void);

#endif
