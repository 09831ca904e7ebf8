/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A parent for a test whose processes keep all rights, and that executes nothing. */
#ifndef TESTS_LIB_PARENTTEST_H
#define TESTS_LIB_PARENTTEST_H

#include <stdio.h>

#include "base/parent.h"

#define PARENTTEST_END_MS 20000

static inline int parenttest_drop_none(void)
{
	return 0;
}

/* The first child of a process, or 0. */
static inline pid_t parenttest_child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%d", &child) != 1)
		child = 0;
	if (file)
		fclose(file);
	return child;
}

static inline int parenttest_start(void)
{
	return parent_start(&(const struct executable){ .fd = -1 }, parenttest_drop_none);
}

static inline void parenttest_stop(void)
{
	parent_stop(PARENTTEST_END_MS);
}

#endif
