/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allows only one daemon at a time: the running daemon locks a file and writes its process id to
 * it.
 *
 * The kernel holds the lock (flock), so it ends with the process in every case. The process id is
 * only for the message that a second daemon prints. The file of a dead daemon is taken over, even
 * if another process has that id now.
 */
#ifndef VOLLEY_BPF_LOCK_H
#define VOLLEY_BPF_LOCK_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Takes the lock at PATH and writes our process id to it. Makes the folder if only the folder is
 * missing. Returns the descriptor to hold, ERR_RUNNING if another process holds the lock, or
 * -errno. ERR then has the message: "another volleyd (pid 17) holds /run/volley/control.sock.lock".
 * A child process shares the lock until it executes a program or ends.
 */
int lock_open(const char *path, char *err, size_t err_cap) __attribute__((warn_unused_result));

/*
 * The same for another process: `owner` is the process id that is written; 0: ours. If the process
 * in the file is dead, a child of it may be about to end, and is waited for up to LOCK_WAIT_MS.
 */
#define LOCK_WAIT_MS 2000
int lock_open_for(const char *path, pid_t owner, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* Removes the file, then releases the lock. */
void lock_close(int fd, const char *path);

#endif
