/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers and completions. The resolver thread copies each answer from upstream once, and all
 * questions that wait for it share the copy. After the last release the answer goes back to that
 * thread, its home, which frees it. So no worker calls the allocator. Completions are collected for
 * each inbox and put there in bursts.
 */
#ifndef VOLLEY_RESOLVER_ANSWER_H
#define VOLLEY_RESOLVER_ANSWER_H

#include "resolver/resolver_question.h"

/* The result of a question. */
struct outcome {
	uint16_t rcode;
	int ede_code;
	enum resolver_security security;
	const char *text;
	const char *told; /* for the log in place of text; not kept. NULL: the log gets text */
	const uint8_t *msg;
	size_t msg_bytes;
	size_t head_bytes;              /* struct resolver_question */
	struct resolver_answer *answer; /* holds text and msg; NULL: text is static, msg NULL */
};

/*
 * Copies msg and text (NULL: none) into a new answer with one reference, and sets them in the
 * outcome. After the last answer_put() the answer is put into the inbox home; without a home
 * (NULL), it is freed there. 0 or -ENOMEM.
 */
int answer_new(struct outcome *o, const uint8_t *msg, size_t msg_bytes, const char *text,
	       struct inbox *home) __attribute__((warn_unused_result));

/* Gives a reference back. Any thread. */
void answer_put(struct resolver_answer *answer);

/* Frees the answers in the inbox home and returns their number. Only the owner of the inbox calls
 * it. */
uint32_t answers_free_home(struct inbox *home);

/* Writes the outcome into the question, with a reference of its own to the answer. */
void question_set_outcome(struct resolver_question *q, const struct outcome *o);

#define COMPLETIONS_INBOXES 8

/* Completed questions, collected for each inbox. */
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
