// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/* For LD_PRELOAD: a volleyd that takes 300 ms to remove a file. test_control.py compiles it. */
#include <unistd.h>
#include <sys/syscall.h>

int unlink(const char *path)
{
	usleep(300000);
	return (int)syscall(SYS_unlink, path);
}
