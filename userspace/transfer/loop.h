/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop of the transfer thread: libevent, and control's calls out of the mailbox. It waits for
 * nothing else: a module with much to do does a part of it and comes back.
 */
#ifndef VOLLEY_TRANSFER_LOOP_H
#define VOLLEY_TRANSFER_LOOP_H

struct transfer;

/*
 * All but the thread; t->read_clock is set. loop_close() also after an error. Control's thread, or
 * a test that is the thread.
 */
int loop_open(struct transfer *t) __attribute__((warn_unused_result));
/* The thread itself, until t->is_stopping. */
void *loop_run(void *transfer);
/* When the thread has ended. */
void loop_close(struct transfer *t);

#endif
