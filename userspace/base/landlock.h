/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landlock (Linux 5.13): the calling thread, and the threads that it starts, open only files below
 * the folders that they have been given, whatever their user may.
 *
 *	landlock_open() ─► landlock_allow(folder), ... ─► landlock_enforce(): for good
 *
 * A rule belongs to a file or folder, not to its path. Files that are open stay usable. stat() and
 * sockets are not restricted. What a kernel cannot restrict yet stays as it was: to move a file to
 * another folder (until 5.19), to truncate one (until 6.2), TCP (until 6.7), ioctl() of devices
 * (until 6.10), signals and abstract sockets (until 6.12).
 */
#ifndef VOLLEY_BASE_LANDLOCK_H
#define VOLLEY_BASE_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Without a rule there is no right; nothing may be executed. */
enum landlock_right {
	LANDLOCK_READ,  /* files, and the names in folders */
	LANDLOCK_WRITE, /* the same; and make, write, move and remove files and folders */
};

/* What the rules are about, beside files. */
enum landlock_reach {
	LANDLOCK_FILES,
	/* Ports of TCP. Also no signal and no abstract socket of a process without these rules. */
	LANDLOCK_FILES_AND_TCP,
};

/* A set of rules: a descriptor. -ENOSYS or -EOPNOTSUPP: the kernel has no Landlock, or it is not
 * enabled; or -errno. */
int landlock_open(enum landlock_reach reach) __attribute__((warn_unused_result));

/* Adds a rule for the file or folder at PATH, where a symbolic link is followed. 0 or -errno. */
int landlock_allow(int rules, const char *path, enum landlock_right right)
	__attribute__((warn_unused_result));

/* Adds rules to read what libraries open late: other libraries, name services, time zones,
 * authorities of TLS. What is not there needs no rule. */
void landlock_allow_libraries(int rules);

/* Adds a rule for TCP: to connect to the port, or to bind to it. Port 0: to bind a socket before it
 * connects. 0, also if the kernel cannot restrict TCP, or -errno. */
int landlock_allow_connect(int rules, uint16_t port) __attribute__((warn_unused_result));
int landlock_allow_bind(int rules, uint16_t port) __attribute__((warn_unused_result));

/* How many octets of the path, or of its part before a '%', name its folder; 0: the working one. */
size_t landlock_folder_bytes(const char *path);

/* True if a rule for this folder would allow the host's files: "/", "/etc", "/var/lib", ... */
bool landlock_is_too_wide(const char *folder);

/* Restricts the calling thread, which has called prctl(PR_SET_NO_NEW_PRIVS), and closes the rules.
 * 0 or -errno. */
int landlock_enforce(int rules) __attribute__((warn_unused_result));

#endif
