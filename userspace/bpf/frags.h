/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames in several buffers: with an MTU above some 3,500 octets most drivers take a native program
 * only if it is loaded for such frames (BPF_F_XDP_HAS_FRAGS, Linux 5.18). Then a frame that fits
 * one buffer is answered as ever, and of a larger one the program sees the first buffer: it passes.
 *
 * Loaded so is what the driver refuses otherwise, and nothing else: with smaller frames drivers do
 * as they always did. Control's thread.
 */
#ifndef VOLLEY_BPF_FRAGS_H
#define VOLLEY_BPF_FRAGS_H

#include <stdbool.h>

struct bpf_program;

/* Whether the kernel knows such programs. Loads one of two instructions. */
bool frags_are_known(void);

/* Whether a program that is native on the interface must be one, since its frames may not fit one
 * buffer. */
bool frags_are_due(const char *ifname);

/* The program, not yet loaded, will be. 0 or -errno. */
int frags_want(struct bpf_program *program) __attribute__((warn_unused_result));

#endif
