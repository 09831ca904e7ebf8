/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * volley-resolver with faults: the same process, in which some names do what a fault of the
 * resolver could do. The Makefile links it so that resolver_submit() is this one.
 *
 *	crash*. ...	abort()
 *	hang*. ...	the thread stops for ever
 *	lies*. ...	a reply that makes no sense
 *	grows*. ...	more memory, and an answer
 *
 * If a file "stuck" lies beside it, its start takes for ever.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/executable.h"
#include "resolver/resolver.h"
#include "resolver/serving.h"
#include "resolver/shared_memory.h"

#define GROWTH_BYTES (150u << 20)

void __real_resolver_submit(struct resolver *r, struct resolver_question *const *questions,
			    unsigned int n);
void __wrap_resolver_submit(struct resolver *r, struct resolver_question *const *questions,
			    unsigned int n);

static bool begins_with(const struct resolver_question *q, const char *word)
{
	return !strncasecmp((const char *)q->name + 1, word, strlen(word));
}

/* Some megabytes that are never given back. */
static void grow(void)
{
	char *more = malloc(GROWTH_BYTES);

	if (more)
		memset(more, 1, GROWTH_BYTES);
	__asm__ volatile("" : : "r"(more) : "memory"); /* it is not optimised away */
}

static void lie(struct resolver_question *q)
{
	struct inbox_chain chain = { 0 };

	q->rcode = 0xffff;
	inbox_chain_add(&chain, &q->link);
	inbox_put(q->inbox, &chain);
}

void __wrap_resolver_submit(struct resolver *r, struct resolver_question *const *questions,
			    unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (begins_with(questions[i], "crash"))
			abort();
		while (begins_with(questions[i], "hang"))
			pause();
		if (begins_with(questions[i], "grows"))
			grow();
		if (begins_with(questions[i], "lies"))
			lie(questions[i]);
		else
			__real_resolver_submit(r, &questions[i], 1);
	}
}

static bool is_stuck(void)
{
	char self[PATH_MAX - 16] = "", path[PATH_MAX];
	char *slash = readlink("/proc/self/exe", self, sizeof(self) - 1) > 0 ? strrchr(self, '/') :
									       NULL;

	if (!slash)
		return false;
	snprintf(path, sizeof(path), "%.*s/stuck", (int)(slash - self), self);
	return !access(path, F_OK);
}

int main(int argc, char **argv)
{
	while (is_stuck())
		pause();
	return argc == 2 && !strcmp(argv[1], "--serve") ? serve_run(EXECUTABLE_SERVE_FD) : 0;
}
