/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why the kernel refused a program, in a message that says what to do.
 *
 *      libbpf, libxdp ──► refusal_listen() ──► log_debug(), each line
 *                              │
 *                              └─► the kernel's message: of netlink ("Peer MTU is too large to
 *                                  set XDP"), or the verifier's last lines ──► refusal_words()
 *
 * Each thread keeps the message until its next refusal. Functions that load or attach call
 * refusal_forget() first, so that no older message is reported.
 */
#ifndef VOLLEY_BPF_REFUSAL_H
#define VOLLEY_BPF_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

#define REFUSAL_CAP 256 /* of a message */

/* Receives what libbpf and libxdp print from now on. May be called again. */
void refusal_listen(void);
void refusal_forget(void);

/* The kernel's last message on this thread; if there is none, the text of CODE. */
const char *refusal_words(int code);

/*
 * Writes a message for a failure with CODE to load or attach: the capabilities that this process
 * lacks, the BPF helper that this kernel lacks and the Linux that has it, the verifier's verdict,
 * or refusal_words().
 */
void refusal_explain(int code, char *text, size_t cap);

/* Finds the lines of the verifier's LOG that say why it refused a program: at most two, joined by
 * "; ". "": the log has none. */
void refusal_read_log(const char *log, char *words, size_t cap);

/* Finds what the XDP program needs and this kernel lacks. It asks the kernel and does not look at
 * the version: distributions backport features to older kernels. */

#define NEEDS_HELPER_CAP 96

/*
 * Finds a BPF helper that the program calls and that this kernel lacks for XDP programs. If there
 * are several, it is the newest: "bpf_xdp_store_bytes(): take Linux 5.18 or later". False: none is
 * missing. Needs CAP_BPF; without it, no helper is found missing.
 */
bool needs_find_missing(char *text, size_t cap);

#endif
