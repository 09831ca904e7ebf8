/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sentence.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char no_memory[] = "no memory is left, also not for what is to be said here";

void sentence_set(struct sentence *s, const char *format, ...)
{
	char *bytes;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&bytes, format, args);
	va_end(args);
	sentence_clear(s);
	if (n < 0)
		s->bytes = no_memory;
	else if (!n)
		free(bytes);
	else
		s->bytes = bytes;
}

void sentence_clear(struct sentence *s)
{
	if (s->bytes != no_memory)
		free(s->bytes);
	s->bytes = NULL;
}
