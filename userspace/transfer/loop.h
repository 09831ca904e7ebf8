/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop of the transfer thread: libevent, and control's calls from the mailbox. Nothing in it
 * blocks: a module with much to do does a part of it, and the rest in a later turn.
 */
#ifndef VOLLEY_TRANSFER_LOOP_H
#define VOLLEY_TRANSFER_LOOP_H

struct transfer;

/* Opens everything except the thread. t->read_clock has to be set. loop_close() is needed after an
 * error, too. Control's thread, or a test that acts as the thread. */
int loop_open(struct transfer *t) __attribute__((warn_unused_result));
/* The thread's function: runs until t->is_stopping. */
void *loop_run(void *transfer);
/* To be called after the thread has ended. */
void loop_close(struct transfer *t);

#endif
