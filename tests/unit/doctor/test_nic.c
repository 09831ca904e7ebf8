/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doctor's checks of interfaces and their queues, on made-up cards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "doctorworld.h"

#define DRIVER(its_name) strcpy(w->nic.driver, its_name)
#define KERNEL(a, b, its_c) \
	(w->host.kernel[0] = a, w->host.kernel[1] = b, w->host.kernel[2] = its_c)
/* A kernel before 6.3 does not report XDP features. */
#define SILENT w->nic.xdp_features = -EOPNOTSUPP

/* A driver that gives a program only frames in one buffer. */
#define ONE_BUFFER w->nic.xdp_features = 7

#define VLAN strcpy(w->nic.vlan, "eth0.5")

/* clang-format off */
#define NIC_ROWS(X) \
	X(link_up, "link", , DOCTOR_OK, "MTU 1500") \
	X(link_gone, "link", w->nic.ifindex = -ENODEV, DOCTOR_FAIL, "no such interface") \
	X(link_down, "link", w->nic.is_up = false, DOCTOR_FAIL, "ip link set dev eth0 up") \
	X(link_carrier, "link", w->nic.has_carrier = false, DOCTOR_FAIL, "no carrier") \
	X(kind_hardware, "kind", , DOCTOR_NOTHING, "") \
	X(kind_vlan, "kind", strcpy(w->nic.kind, "vlan"); strcpy(w->nic.lower, "eth9"), \
	  DOCTOR_WARN, "ethtool -K eth9 rxvlan off") \
	X(kind_bond, "kind", strcpy(w->nic.kind, "bond"), DOCTOR_WARN, "lower_") \
	X(kind_bridge, "kind", strcpy(w->nic.kind, "bridge"), DOCTOR_WARN, "generic XDP only") \
	X(driver_named, "driver", strcpy(w->nic.version, "1.2"); strcpy(w->nic.firmware, "4.4"), \
	  DOCTOR_OK, "ice 1.2, firmware 4.4") \
	X(driver_silent, "driver", DRIVER(""), DOCTOR_NOTHING, "") \
	X(known_ice_good, "driver-known", , DOCTOR_OK, "") \
	X(known_ice_6103, "driver-known", KERNEL(6, 10, 3), DOCTOR_FAIL, "6.10.4") \
	X(known_ice_6104, "driver-known", KERNEL(6, 10, 4), DOCTOR_OK, "") \
	X(known_ice_copies, "driver-known", KERNEL(6, 1, 0); \
	  w->want.zero_copy = CONFIG_ZERO_COPY_OFF, \
	  DOCTOR_OK, "") \
	X(known_ice_no_xsk, "driver-known", KERNEL(6, 1, 0); w->want.port = CONFIG_PORT_SOCKET, \
	  DOCTOR_OK, "") \
	X(known_ice_tailroom, "driver-known", KERNEL(6, 18, 2), DOCTOR_WARN, "corrupt") \
	X(known_ice_71, "driver-known", KERNEL(7, 1, 0), DOCTOR_OK, "") \
	X(known_ixgbe, "driver-known", DRIVER("ixgbe"), DOCTOR_WARN, "unstable") \
	X(known_mlx5_64, "driver-known", DRIVER("mlx5_core"); KERNEL(6, 4, 9), DOCTOR_WARN, "6.5") \
	X(known_mlx5_65, "driver-known", DRIVER("mlx5_core"); KERNEL(6, 5, 0), DOCTOR_OK, "") \
	X(known_i40e_518, "driver-known", DRIVER("i40e"); KERNEL(5, 18, 1), DOCTOR_WARN, "5.19") \
	X(known_bnxt_61845, "driver-known", DRIVER("bnxt_en"); KERNEL(6, 18, 45), \
	  DOCTOR_FAIL, "6.18.45") \
	X(known_bnxt_61846, "driver-known", DRIVER("bnxt_en"); KERNEL(6, 18, 46), DOCTOR_OK, "") \
	X(known_stranger, "driver-known", DRIVER("e1000e"), DOCTOR_NOTHING, "") \
	X(known_xdp_off, "driver-known", KERNEL(6, 1, 0); w->want.xdp = CONFIG_XDP_OFF, \
	  DOCTOR_NOTHING, "") \
	X(native_told, "native-xdp", , DOCTOR_OK, "") \
	X(native_none, "native-xdp", w->nic.xdp_features = 0, DOCTOR_WARN, "XDP is generic") \
	X(native_wanted, "native-xdp", w->nic.xdp_features = 0; w->want.xdp = CONFIG_XDP_NATIVE, \
	  DOCTOR_FAIL, "xdp: auto") \
	X(native_by_table, "native-xdp", SILENT; KERNEL(5, 19, 0), DOCTOR_OK, "") \
	X(native_too_early, "native-xdp", SILENT; DRIVER("vmxnet3"); KERNEL(6, 1, 0), \
	  DOCTOR_WARN, "vmxnet3") \
	X(native_stranger, "native-xdp", SILENT; DRIVER("e1000e"), \
	  DOCTOR_UNKNOWN, "table of drivers") \
	X(native_but_generic, "native-xdp", w->nic.xdp_program = DOCTOR_VOLLEY; \
	  w->nic.xdp_generic = 1, \
	  DOCTOR_WARN, "is generic") \
	X(native_no_program, "native-xdp", w->host.load.err = -EACCES, \
	  DOCTOR_WARN, "does not load") \
	X(native_untried, "native-xdp", w->host.load.is_tried = false; w->host.load.err = -EACCES, \
	  DOCTOR_OK, "") \
	X(native_not_wanted, "native-xdp", w->nic.xdp_features = 0; \
	  w->want.xdp = CONFIG_XDP_GENERIC, \
	  DOCTOR_NOTHING, "") \
	X(redirect_can, "redirect", , DOCTOR_NOTHING, "") \
	X(redirect_cannot, "redirect", w->nic.xdp_features = 1, DOCTOR_WARN, "port: socket") \
	X(zero_told, "zero-copy", , DOCTOR_OK, "without copies") \
	X(zero_none, "zero-copy", w->nic.xdp_features = 7, DOCTOR_OK, "copied once") \
	X(zero_wanted, "zero-copy", w->nic.xdp_features = 7; \
	  w->want.zero_copy = CONFIG_ZERO_COPY_ON, \
	  DOCTOR_FAIL, "zero-copy: auto") \
	X(zero_virtio, "zero-copy", DRIVER("virtio_net"), \
	  DOCTOR_OK, "not used, because virtio_net loses") \
	X(zero_virtio_wanted, "zero-copy", DRIVER("virtio_net"); \
	  w->want.zero_copy = CONFIG_ZERO_COPY_ON, \
	  DOCTOR_WARN, "zero-copy: auto") \
	X(zero_by_table, "zero-copy", SILENT, DOCTOR_OK, "without copies") \
	X(zero_too_early, "zero-copy", SILENT; DRIVER("igb"), DOCTOR_OK, "copied once") \
	X(zero_off, "zero-copy", w->nic.xdp_features = 7; \
	  w->want.zero_copy = CONFIG_ZERO_COPY_OFF, \
	  DOCTOR_NOTHING, "") \
	X(program_none, "xdp-program", , DOCTOR_OK, "will load") \
	X(program_lost, "xdp-program", w->daemon.err = 0, DOCTOR_WARN, "volleyctl attach eth0") \
	X(program_unloadable, "xdp-program", w->daemon.err = 0; w->host.load.err = -EACCES, \
	  DOCTOR_WARN, "see program-load of the host") \
	X(program_unloadable_yet, "xdp-program", w->host.load.err = -EACCES, \
	  DOCTOR_WARN, "does not load") \
	X(program_ours, "xdp-program", w->nic.xdp_program = DOCTOR_VOLLEY; w->nic.xdp_id = 77, \
	  DOCTOR_OK, "id 77, native") \
	X(program_earlier, "xdp-program", w->nic.xdp_program = DOCTOR_EARLIER, \
	  DOCTOR_OK, "the next volleyd replaces it") \
	X(program_old, "xdp-program", w->nic.xdp_program = DOCTOR_OTHER_ABI, \
	  DOCTOR_FAIL, "another version") \
	X(program_foreign, "xdp-program", w->nic.xdp_program = DOCTOR_FOREIGN; \
	  strcpy(w->nic.xdp_name, "fw"), \
	  DOCTOR_FAIL, "(id 0, fw)") \
	X(program_unseen, "xdp-program", w->nic.xdp_program = -EPERM, DOCTOR_UNKNOWN, "only root") \
	X(mtu_fits, "mtu", , DOCTOR_OK, "1500") \
	X(mtu_jumbo, "mtu", ONE_BUFFER; w->nic.mtu = 9000, DOCTOR_WARN, "mtu 1500") \
	X(mtu_frags, "mtu", w->nic.mtu = 9000, DOCTOR_OK, "several buffers") \
	X(mtu_silent, "mtu", SILENT; w->nic.mtu = 9000, DOCTOR_WARN, "mtu 1500") \
	X(mtu_peer_frags, "mtu", world_make_veth(w); w->nic.xdp_features = 39; \
	  w->nic.peer.mtu = 9000, \
	  DOCTOR_OK, "1500") \
	X(mtu_ena, "mtu", ONE_BUFFER; DRIVER("ena"); w->nic.mtu = 3499, DOCTOR_WARN, "3498") \
	X(mtu_ena_fits, "mtu", DRIVER("ena"); w->nic.mtu = 3498, DOCTOR_OK, "") \
	X(mtu_igc, "mtu", ONE_BUFFER; DRIVER("igc"); w->nic.mtu = 1501, DOCTOR_WARN, "1500") \
	X(mtu_peer, "mtu", world_make_veth(w); w->nic.peer.mtu = 9000, DOCTOR_WARN, "other end") \
	X(mtu_native, "mtu", ONE_BUFFER; w->nic.mtu = 9000; w->want.xdp = CONFIG_XDP_NATIVE, \
	  DOCTOR_FAIL, "mtu 1500") \
	X(mtu_auto, "mtu", ONE_BUFFER; w->nic.mtu = 9000, DOCTOR_WARN, "XDP is generic instead") \
	X(mtu_not_native, "mtu", w->nic.mtu = 9000; w->nic.xdp_features = 0, DOCTOR_NOTHING, "") \
	X(mtu_generic, "mtu", w->nic.mtu = 9000; w->want.xdp = CONFIG_XDP_GENERIC, \
	  DOCTOR_NOTHING, "") \
	X(lro_off, "lro", , DOCTOR_OK, "off") \
	X(lro_on, "lro", w->nic.features.lro = 1, DOCTOR_WARN, "LRO is on") \
	X(lro_refused, "lro", DRIVER("mlx5_core"); w->nic.features.lro = 1, \
	  DOCTOR_WARN, "mlx5_core accepts no") \
	X(lro_native, "lro", DRIVER("mlx5_core"); w->nic.features.lro = 1; \
	  w->want.xdp = CONFIG_XDP_NATIVE, \
	  DOCTOR_FAIL, "lro off") \
	X(lro_hardware, "lro", w->nic.features.gro_hw = 1, DOCTOR_WARN, "hardware GRO") \
	X(lro_virtio, "lro", DRIVER("virtio_net"); w->nic.features.gro_hw = 1, \
	  DOCTOR_OK, "switches it off") \
	X(lro_virtio_fixed, "lro", DRIVER("virtio_net"); \
	  w->nic.features.gro_hw = w->nic.features.gro_hw_fixed = 1, \
	  DOCTOR_WARN, "guest_tso4=off") \
	X(lro_none, "lro", w->nic.features.lro = w->nic.features.gro_hw = -ENOENT, \
	  DOCTOR_NOTHING, "") \
	X(vlan_in_frame, "vlan-offload", , DOCTOR_OK, "") \
	X(vlan_taken, "vlan-offload", w->nic.features.rx_vlan = 1; VLAN, \
	  DOCTOR_WARN, "ethtool -K eth0 rxvlan off") \
	X(vlan_taken_all, "vlan-offload", w->nic.features.rx_vlan = 1; VLAN, \
	  DOCTOR_WARN, "eth0.5 is a VLAN of eth0: kernel sockets answer all") \
	X(vlan_taken_none, "vlan-offload", w->nic.features.rx_vlan = 1, \
	  DOCTOR_OK, "eth0 has no VLAN interface") \
	X(vlan_fixed, "vlan-offload", w->nic.features.rx_vlan = w->nic.features.rx_vlan_fixed = 1; \
	  VLAN, \
	  DOCTOR_WARN, "xdp: generic and port: socket") \
	X(vlan_generic, "vlan-offload", w->nic.features.rx_vlan = 1; \
	  w->want.xdp = CONFIG_XDP_GENERIC; VLAN, \
	  DOCTOR_WARN, "all that the program does not") \
	X(vlan_generic_only, "vlan-offload", w->nic.features.rx_vlan = 1; w->nic.xdp_features = 0; \
	  VLAN; w->want.port = CONFIG_PORT_SOCKET, \
	  DOCTOR_OK, "puts the tag") \
	X(vlan_generic_there, "vlan-offload", w->nic.features.rx_vlan = 1; \
	  w->nic.xdp_program = DOCTOR_VOLLEY; w->nic.xdp_generic = 1; VLAN; \
	  w->want.port = CONFIG_PORT_SOCKET, \
	  DOCTOR_OK, "puts the tag") \
	X(vlan_veth, "vlan-offload", world_make_veth(w); w->nic.features.rx_vlan = 1, \
	  DOCTOR_NOTHING, "") \
	X(gro_card, "veth-gro", w->nic.features.gro = 0, DOCTOR_NOTHING, "") \
	X(gro_on, "veth-gro", world_make_veth(w), DOCTOR_OK, "") \
	X(gro_off, "veth-gro", world_make_veth(w); w->nic.features.gro = 0, \
	  DOCTOR_WARN, "ethtool -K eth0 gro on") \
	X(peer_runs, "veth-peer", world_make_veth(w), DOCTOR_OK, "") \
	X(peer_sleeps, "veth-peer", world_make_veth(w); w->nic.peer.has_xdp = false, \
	  DOCTOR_WARN, "PEER xdpdrv obj xdp_pass.bpf.o") \
	X(peer_generic, "veth-peer", world_make_veth(w); w->nic.peer.has_xdp = false; \
	  w->want.xdp = CONFIG_XDP_GENERIC, \
	  DOCTOR_OK, "") \
	X(peer_native, "veth-peer", world_make_veth(w); w->nic.peer.has_xdp = false; \
	  w->want.xdp = CONFIG_XDP_NATIVE, \
	  DOCTOR_WARN, "or xdp: auto") \
	X(peer_unseen, "veth-peer", world_make_veth(w); w->nic.peer.mtu = -EPERM, \
	  DOCTOR_UNKNOWN, "only root") \
	X(threaded_on, "threaded-napi", world_make_veth(w), DOCTOR_OK, "bind it to one") \
	X(threaded_off, "threaded-napi", world_make_veth(w); w->nic.threaded = 0, \
	  DOCTOR_WARN, "/sys/class/net/eth0/threaded") \
	X(threaded_unseen, "threaded-napi", world_make_veth(w); w->nic.threaded = -EXDEV, \
	  DOCTOR_UNKNOWN, "network namespace") \
	X(threaded_card, "threaded-napi", w->nic.threaded = 0, DOCTOR_NOTHING, "") \
	X(busy_not_wanted, "busy-poll", , DOCTOR_NOTHING, "") \
	X(busy_irqs, "busy-poll", w->want.busy_poll_budget = 64, \
	  DOCTOR_WARN, "napi_defer_hard_irqs") \
	X(busy_half, "busy-poll", w->want.busy_poll_budget = 64; w->nic.defer_hard_irqs = 2, \
	  DOCTOR_WARN, "gro_flush_timeout") \
	X(busy_right, "busy-poll", w->want.busy_poll_budget = 64; w->nic.defer_hard_irqs = 2; \
	  w->nic.gro_flush_ns = 200000, \
	  DOCTOR_OK, "") \
	X(pause_off, "flow-control", , DOCTOR_OK, "") \
	X(pause_on, "flow-control", w->nic.pause_tx = 1, DOCTOR_WARN, "ethtool -A eth0") \
	X(return_swap, "return-path", , DOCTOR_NOTHING, "") \
	X(return_fib, "return-path", w->want.return_path = CONFIG_RETURN_FIB; \
	  w->host.forwarding4 = w->host.forwarding6 = 1, \
	  DOCTOR_OK, "") \
	X(return_fib4, "return-path", w->want.return_path = CONFIG_RETURN_FIB; \
	  w->host.forwarding4 = 1, \
	  DOCTOR_FAIL, "net.ipv6.conf.lo.forwarding is 0") \
	X(return_fib6, "return-path", w->want.return_path = CONFIG_RETURN_FIB; \
	  w->host.forwarding6 = -ENOENT, \
	  DOCTOR_FAIL, "net.ipv4.conf.lo.forwarding is 0") \
	X(pause_none, "flow-control", w->nic.pause_tx = -EOPNOTSUPP, DOCTOR_NOTHING, "")

#define QUEUE_ROWS(X) \
	X(queues_match, "queues", , DOCTOR_OK, "4 queue(s), 4 worker(s)") \
	X(queues_few, "queues", w->nic.n_queues = 2, DOCTOR_WARN, "ethtool -L eth0 combined 4") \
	X(queues_few_max, "queues", w->nic.n_queues = 1; w->nic.max_queues = 1, \
	  DOCTOR_WARN, "workers: 1") \
	X(queues_few_less, "queues", w->nic.n_queues = 2; w->nic.max_queues = 3, \
	  DOCTOR_WARN, "combined 3") \
	X(queues_asked, "queues", w->want.n_queues = 6, DOCTOR_WARN, "queues: 6") \
	X(queues_many, "queues", w->nic.n_queues = 96, DOCTOR_WARN, "serves 64") \
	X(queues_i40e, "queues", DRIVER("i40e"); w->nic.n_queues = 64, DOCTOR_OK, "") \
	X(queues_ena, "queues", DRIVER("ena"); w->nic.n_queues = 5, DOCTOR_WARN, "combined 4") \
	X(queues_ena_native, "queues", DRIVER("ena"); w->nic.n_queues = 5; \
	  w->want.xdp = CONFIG_XDP_NATIVE, \
	  DOCTOR_FAIL, "combined 4") \
	X(queues_ena_half, "queues", DRIVER("ena"), DOCTOR_OK, "") \
	X(queues_unknown, "queues", w->nic.n_queues = -EPERM, DOCTOR_UNKNOWN, "queues") \
	X(tx_card, "tx-queues", , DOCTOR_NOTHING, "") \
	X(tx_virtio, "tx-queues", DRIVER("virtio_net"), DOCTOR_WARN, "12 queues") \
	X(tx_virtio_use, "tx-queues", DRIVER("virtio_net"), \
	  DOCTOR_WARN, "ethtool -L eth0 combined 4; or leave it") \
	X(tx_virtio_room, "tx-queues", DRIVER("virtio_net"); w->nic.max_queues = 12, \
	  DOCTOR_OK, "queues 0 to 3") \
	X(tx_virtio_fewer, "tx-queues", DRIVER("virtio_net"); w->nic.max_queues = 10, \
	  DOCTOR_WARN, "combined 2") \
	X(tx_virtio_attached, "tx-queues", DRIVER("virtio_net"); w->nic.max_queues = 12; \
	  w->nic.n_queues = 12; w->nic.n_tx_queues = 4, \
	  DOCTOR_OK, "queues 0 to 3") \
	X(tx_virtio_untold, "tx-queues", DRIVER("virtio_net"); \
	  w->nic.max_queues = w->nic.n_queues = 12; w->nic.xdp_program = DOCTOR_VOLLEY, \
	  DOCTOR_UNKNOWN, "network namespace") \
	X(tx_virtio_fatal, "tx-queues", DRIVER("virtio_net"); \
	  w->nic.max_queues = w->nic.n_queues = 12, \
	  DOCTOR_WARN, "would crash") \
	X(tx_virtio_fatal_fix, "tx-queues", DRIVER("virtio_net"); \
	  w->nic.max_queues = w->nic.n_queues = 12, \
	  DOCTOR_WARN, "combined 8") \
	X(queues_virtio, "queues", DRIVER("virtio_net"); w->host.n_workers = 16; \
	  w->nic.max_queues = 12, \
	  DOCTOR_WARN, "combined 8") \
	X(hash_ports, "rss-hash", , DOCTOR_OK, "") \
	X(hash_udp4, "rss-hash", w->nic.hash_udp4 = RXH_IP_SRC | RXH_IP_DST, \
	  DOCTOR_WARN, "IPv4 is spread by \"sd\"") \
	X(hash_udp6, "rss-hash", w->nic.hash_udp6 = RXH_IP_SRC | RXH_IP_DST, \
	  DOCTOR_WARN, "ethtool -N eth0 rx-flow-hash udp6 sdfn") \
	X(hash_both, "rss-hash", w->nic.hash_udp4 = w->nic.hash_udp6 = 0, \
	  DOCTOR_WARN, "udp4 sdfn; ethtool -N eth0 rx-flow-hash udp6 sdfn") \
	X(hash_one_queue, "rss-hash", w->nic.n_queues = 1; w->nic.hash_udp4 = 0, \
	  DOCTOR_NOTHING, "") \
	X(table_all, "rss-table", , DOCTOR_OK, "") \
	X(table_half, "rss-table", w->nic.rss_queues = 2, DOCTOR_WARN, "2 of 4") \
	X(table_outside, "rss-table", w->nic.rss_outside = 1; w->nic.serves = 2, \
	  DOCTOR_WARN, "ethtool -X eth0 equal 2") \
	X(table_none, "rss-table", w->nic.rss_queues = -EOPNOTSUPP, DOCTOR_NOTHING, "") \
	X(rings_large, "rings", , DOCTOR_OK, "2048 of 4096") \
	X(rings_small, "rings", w->nic.rx_ring = 512; w->nic.rx_ring_max = 4096, \
	  DOCTOR_WARN, "ethtool -G eth0 rx 2048") \
	X(rings_larger, "rings", w->nic.rx_ring = 4096, DOCTOR_WARN, "ring-size: 4096") \
	X(rings_no_xsk, "rings", w->nic.rx_ring = 4096; w->want.port = CONFIG_PORT_SOCKET, \
	  DOCTOR_OK, "") \
	X(rings_none, "rings", w->nic.rx_ring_max = -EOPNOTSUPP, DOCTOR_NOTHING, "") \
	X(irqs_right, "irq-affinity", , DOCTOR_OK, "") \
	X(irqs_wide, "irq-affinity", CPU_SET(5, &w->nic.irqs[2].cpus), \
	  DOCTOR_WARN, "/proc/irq/102/smp_affinity_list") \
	X(irqs_crossed, "irq-affinity", w->nic.queue_cpus[0] = 1; w->nic.queue_cpus[1] = 0, \
	  DOCTOR_WARN, "2 queue(s)") \
	X(irqs_first, "irq-affinity", w->nic.queue_cpus[0] = 1; w->nic.queue_cpus[1] = 0, \
	  DOCTOR_WARN, "the first is queue 0") \
	X(irqs_unknown, "irq-affinity", w->nic.irqs[1].number = 0; w->nic.queue_cpus[2] = -1, \
	  DOCTOR_OK, "") \
	X(irqs_none, "irq-affinity", w->nic.n_irqs = 0, DOCTOR_NOTHING, "") \
	X(rps_off, "rps", , DOCTOR_OK, "") \
	X(rps_on, "rps", w->nic.rps = 2, DOCTOR_WARN, "rps_cpus") \
	X(rps_unseen, "rps", w->nic.rps = -EXDEV, DOCTOR_UNKNOWN, "network namespace") \
	X(rules_none, "flow-rules", , DOCTOR_OK, "") \
	X(rules_steer, "flow-rules", w->nic.n_steered = 1; w->nic.steered[0].location = 9; \
	  w->nic.steered[0].queue = 3, \
	  DOCTOR_WARN, "ethtool -N eth0 delete 9") \
	X(rules_drop, "flow-rules", w->nic.n_steered = 1; w->nic.steered[0].queue = -1, \
	  DOCTOR_FAIL, "drops") \
	X(rules_unsupported, "flow-rules", w->nic.n_steered = -EOPNOTSUPP, DOCTOR_NOTHING, "") \
	X(numa_near, "numa", , DOCTOR_OK, "") \
	X(numa_far, "numa", w->nic.numa_node = 1; CPU_SET(9, &w->host.cpus.nodes[1]), \
	  DOCTOR_WARN, "choose cores from 9") \
	X(numa_none, "numa", w->nic.numa_node = -ENOENT, DOCTOR_NOTHING, "") \
	X(rp_loose, "rp-filter", w->nic.rp_filter = 2; w->nic.is_default_route = 0, \
	  DOCTOR_OK, "not strict") \
	X(rp_strict_here, "rp-filter", w->nic.rp_filter = 1, DOCTOR_OK, "leave by this interface") \
	X(rp_strict_away, "rp-filter", w->nic.rp_filter = 1; w->nic.is_default_route = 0, \
	  DOCTOR_WARN, "rp_filter=2")
/* clang-format on */

NIC_ROWS(WORLD_FUNCTION)
QUEUE_ROWS(WORLD_FUNCTION)
static const struct world_row nic_rows[] = { NIC_ROWS(WORLD_ROW) };
static const struct world_row queue_rows[] = { QUEUE_ROWS(WORLD_ROW) };

static void test_nic(void **state)
{
	(void)state;
	world_test(doctor_nic_checks, nic_rows, sizeof(nic_rows) / sizeof(nic_rows[0]));
}

static void test_queues(void **state)
{
	(void)state;
	world_test(doctor_queue_checks, queue_rows, sizeof(queue_rows) / sizeof(queue_rows[0]));
}

static void test_healthy(void **state)
{
	(void)state;
	world_test_healthy(doctor_nic_checks);
	world_test_healthy(doctor_queue_checks);
}

/* For a missing interface, only the check link finds something. */
static void test_gone(void **state)
{
	struct world *w = malloc(sizeof(*w));
	const struct doctor_check *check;

	(void)state;
	assert_non_null(w);
	world_make(w);
	memset(&w->nic, 0, sizeof(w->nic));
	w->nic.ifindex = -ENODEV;
	for (check = doctor_nic_checks + 1; check->name; check++) {
		struct doctor_finding f = { .level = DOCTOR_NOTHING };

		check->run(&w->c, &f);
		assert_int_equal(f.level, DOCTOR_NOTHING);
	}
	for (check = doctor_queue_checks; check->name; check++) {
		struct doctor_finding f = { .level = DOCTOR_NOTHING };

		check->run(&w->c, &f);
		assert_int_equal(f.level, DOCTOR_NOTHING);
	}
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nic),
		cmocka_unit_test(test_queues),
		cmocka_unit_test(test_healthy),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
