/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One daemon at a time: a file that the running daemon holds locked and that names its process.
 *
 * The lock is the kernel's (flock), so it ends with the process however that ends; the process id
 * in the file is only for the sentence that a second daemon prints. A file left by a dead daemon is
 * taken over, whatever process has its number by now.
 */
#ifndef VOLLEY_BPF_LOCK_H
#define VOLLEY_BPF_LOCK_H

#include <stddef.h>

/*
 * Takes the lock at PATH and writes our process id to it; its folder is made if only that is
 * missing. Returns the descriptor to hold, or ERR_RUNNING if another process holds it, or -errno;
 * ERR then has the sentence: "another volleyd (pid 17) holds /run/volley/control.sock.lock". A
 * child shares the lock until it executes something or ends.
 */
int lock_open(const char *path, char *err, size_t err_cap) __attribute__((warn_unused_result));

/* Removes the file and lets go of the lock, in this order. */
void lock_close(int fd, const char *path);

#endif
