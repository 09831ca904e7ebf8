/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the XDP program needs of a kernel, found by asking the kernel and not by its version:
 * distributions give their kernels features of later ones.
 */
#ifndef VOLLEY_BPF_NEEDS_H
#define VOLLEY_BPF_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

#define NEEDS_HELPER_CAP 96

/*
 * A BPF helper that the program calls and that the kernel does not have for XDP programs, the
 * newest of these: "bpf_xdp_store_bytes(): take Linux 5.18 or later". False: it has all. Needs
 * CAP_BPF; without it no helper is found missing.
 */
bool needs_find_missing(char *text, size_t cap);

#endif
