/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A grace_open() in a test, which has the capabilities that volleyd leaves to its broker. */
#ifndef VOLLEY_TESTS_LIB_GRACEMAPS_H
#define VOLLEY_TESTS_LIB_GRACEMAPS_H

#include "cache/keeper.h"

static inline int open_grace(struct grace **out)
{
	int fds[2];

	(void)!grace_make_maps(fds); /* without maps, grace_open() tries membarrier() */
	return grace_open(out, fds);
}

#endif
