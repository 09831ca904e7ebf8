/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers and completions. An answer is copied once from upstream, and shared by all who asked for
 * it; with the last release it goes home to the thread that made it, which frees it, so that
 * no worker enters the allocator. Completions are gathered by inbox and put there in bursts.
 */
#ifndef VOLLEY_RESOLVER_ANSWER_H
#define VOLLEY_RESOLVER_ANSWER_H

#include "resolver/resolver_question.h"

/* What a question is completed with. */
struct outcome {
	uint16_t rcode;
	int ede_code;
	enum resolver_security security;
	const char *text;
	const char *told; /* what the log gets in place of text; NULL: text. It is not kept */
	const uint8_t *msg;
	size_t msg_bytes;
	struct resolver_answer *answer; /* holds text and msg; NULL: text is static, msg NULL */
};

/*
 * Copies msg and text (NULL: none) into a new answer with one reference, which goes home when it
 * is not needed any more, and sets them in the outcome. -ENOMEM.
 */
int answer_new(struct outcome *o, const uint8_t *msg, size_t msg_bytes, const char *text,
	       struct inbox *home) __attribute__((warn_unused_result));

/* Gives a reference back. Any thread. */
void answer_put(struct resolver_answer *answer);

/* Frees those that came home; how many. The home's owner only. */
uint32_t answers_free_home(struct inbox *home);

/* Writes the outcome into the question, with a reference of its own to the answer. */
void question_set_outcome(struct resolver_question *q, const struct outcome *o);

#define COMPLETIONS_INBOXES 8

/* Questions on their way to their inboxes. */
struct completions {
	unsigned int n;
	struct {
		struct inbox *box;
		struct inbox_chain chain;
	} out[COMPLETIONS_INBOXES];
};

void completions_add(struct completions *c, struct resolver_question *q);
void completions_flush(struct completions *c);

#endif
