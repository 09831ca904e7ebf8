/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why the kernel refused a program, in words that a person can act on.
 *
 *      libbpf, libxdp ──► refusal_listen() ──► log_debug(), each line
 *                              │
 *                              └─► the kernel's own words: of netlink ("Peer MTU is too large to set
 *                                  XDP"), or the verifier's last lines ──► refusal_words()
 *
 * The words are kept for each thread until the next refusal. The functions that load or attach call
 * refusal_forget() first, so that no older words are told.
 */
#ifndef VOLLEY_BPF_REFUSAL_H
#define VOLLEY_BPF_REFUSAL_H

#include <stddef.h>

#define REFUSAL_CAP 256 /* of a sentence */

/* From now on what libbpf and libxdp print is heard here. May be called again. */
void refusal_listen(void);
void refusal_forget(void);

/* What the kernel said last on this thread, or, where it said nothing, the text of CODE. */
const char *refusal_words(int code);

/*
 * A sentence for an attempt to load or attach that ended with CODE: the capabilities that this
 * process lacks, the BPF helper that this kernel lacks with the Linux that has it, what the
 * verifier said, or refusal_words().
 */
void refusal_explain(int code, char *text, size_t cap);

/*
 * Of the verifier's LOG of a program that it refused the lines that say why: at most two, "; "
 * between them. "" where the log says nothing.
 */
void refusal_read_log(const char *log, char *words, size_t cap);

#endif
