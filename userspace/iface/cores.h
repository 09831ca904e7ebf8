/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processor for which worker, and which worker for which queue, on a machine whose memory has
 * several nodes (NUMA): a frame, its UMEM, its rings and its worker are best where its card is.
 *
 *      processors that workers may have   ─► those on a card's node first       (cores_order)
 *      queues 0, 1, 2 ... of an interface ─► workers on its node, in turn, then the others
 *                                            (cores_worker)
 *      memory that control asks for       ─► the node of the worker that will use it
 *                                            (cores_prefer_memory)
 *
 * With one node, or a card that says none (a veth, a tap), all of this leaves things in their
 * order.
 */
#ifndef VOLLEY_IFACE_CORES_H
#define VOLLEY_IFACE_CORES_H

#include <stddef.h>

#define CORES_NODE_ANY (-1)

/* The node of an interface's card, as /sys says. CORES_NODE_ANY: it says none, or not of this
 * one. */
int cores_link_node(const char *ifname);

/* The node of a processor; CORES_NODE_ANY likewise, and for a processor below 0. */
int cores_cpu_node(int cpu);

/* Puts those of n processors first that are on a node of `nodes`; otherwise their order stays. */
void cores_order(int *cpus, size_t n, const int *nodes, size_t n_nodes);

/* Which of n workers, each on the node `worker_nodes[i]`, has the queue of a card on `node`; n >
 * 0. */
unsigned int cores_worker(const int *worker_nodes, unsigned int n, unsigned int queue, int node);

/* Where the calling thread's new memory is to lie, if there is room; CORES_NODE_ANY: as usual. */
void cores_prefer_memory(int node);

#endif
