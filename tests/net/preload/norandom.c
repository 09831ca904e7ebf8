// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: a kernel that has no random octets for a secret of DNS cookies, once: while the
 * file NORANDOM_FILE is there, which goes by that. test_reload.py compiles it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#define SECRET_BYTES 16

ssize_t getrandom(void *out, size_t n, unsigned int flags)
{
	ssize_t (*real)(void *, size_t, unsigned int) =
		(ssize_t(*)(void *, size_t, unsigned int))dlsym(RTLD_NEXT, "getrandom");

	if (n == SECRET_BYTES && !unlink(getenv("NORANDOM_FILE"))) {
		errno = EIO;
		return -1;
	}
	return real(out, n, flags);
}
