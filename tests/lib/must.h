/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An assertion for threads, children and tools, where cmocka's do not work. Ends the program. */
#ifndef VOLLEY_TESTS_LIB_MUST_H
#define VOLLEY_TESTS_LIB_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define MUST(x)                                                                         \
	do {                                                                            \
		if (!(x)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x); \
			abort();                                                        \
		}                                                                       \
	} while (0)

#endif
