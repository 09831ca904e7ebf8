/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames in several buffers. With an MTU above about 3,500 octets, most drivers accept a native
 * program only if it is loaded for frames in several buffers (BPF_F_XDP_HAS_FRAGS, Linux 5.18).
 * Such a program answers a frame that fits one buffer as before. Of a larger frame it sees only the
 * first buffer, and passes it.
 *
 * We load a program this way only if the driver refuses it otherwise: with smaller frames, drivers
 * work as before. Control's thread.
 */
#ifndef VOLLEY_BPF_FRAGS_H
#define VOLLEY_BPF_FRAGS_H

#include <stdbool.h>

struct bpf_program;

/* True if the kernel has BPF_F_XDP_HAS_FRAGS. Loads a program of two instructions to find out. */
bool frags_are_known(void);

/*
 * True if the interface's MTU does not fit one buffer, so a native program must be loaded this way.
 */
bool frags_are_due(const char *ifname);

/* Marks a program that is not yet loaded. 0 or -errno. */
int frags_want(struct bpf_program *program) __attribute__((warn_unused_result));

#endif
