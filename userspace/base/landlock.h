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
 * another folder (until 5.19), to truncate one (until 6.2), ioctl() of devices (until 6.10).
 */
#ifndef VOLLEY_BASE_LANDLOCK_H
#define VOLLEY_BASE_LANDLOCK_H

/* Without a rule there is no right; nothing may be executed. */
enum landlock_right {
	LANDLOCK_READ,  /* files, and the names in folders */
	LANDLOCK_WRITE, /* the same; and make, write, move and remove files and folders */
};

/* A set of rules: a descriptor. -ENOSYS or -EOPNOTSUPP: the kernel has no Landlock, or it is not
 * enabled; or -errno. */
int landlock_open(void) __attribute__((warn_unused_result));

/* Adds a rule for the file or folder at PATH, where a symbolic link is followed. 0 or -errno. */
int landlock_allow(int rules, const char *path, enum landlock_right right)
	__attribute__((warn_unused_result));

/* Restricts the calling thread, which has called prctl(PR_SET_NO_NEW_PRIVS), and closes the rules.
 * 0 or -errno. */
int landlock_enforce(int rules) __attribute__((warn_unused_result));

#endif
