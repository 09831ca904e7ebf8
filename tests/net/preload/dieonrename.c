// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: a process that ends by SIGKILL some time after it has renamed a file to the path
 * $DIEONRENAME_PATH: when the file $DIEONRENAME_GO is there. test_zone_edit.py compiles it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *) =
		(int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
	const char *path = getenv("DIEONRENAME_PATH"), *go = getenv("DIEONRENAME_GO");
	int ret = real(from, to);

	if (!path || !go)
		abort(); /* a test that would prove nothing */
	if (ret || strcmp(to, path) != 0)
		return ret;
	while (access(go, F_OK))
		usleep(1000);
	raise(SIGKILL); /* a thread may signal only itself: base/sandbox.h */
	return ret;
}
