# SPDX-FileCopyrightText: The Volley authors
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Volley: one Makefile for everything. `make help` lists the targets.
#
#   $(O)/bin/                what is installed: volleyd, volleyctl, volley.bpf.o (whatever the profile)
#   $(O)/<profile>[-<san>]/  objects, archives, generated headers (gen/), tests (tests/)
#
# Every list of files is a wildcard. Each floor of userspace/ is an archive of its own, and a unit
# test links its floor and those below it, nothing above: an include or a call that goes up does not
# link. pkg-config is asked only when the first recipe needs it, so that `make deps` can run before.

VERSION := 0.1.0

# make separates names by spaces.
ifneq ($(words $(CURDIR)),1)
$(error the path of this folder has a space, which make cannot build with: $(CURDIR))
endif

PROFILE ?= release
SAN     ?=
PREFIX  ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR ?=
CONFIG  ?=
# For another architecture: the prefix of its tools (aarch64-linux-gnu-), and what runs its programs here
# (qemu-aarch64): docs/testing.md.
CROSS   ?=
RUN     ?=
O       ?= build$(if $(CROSS),/$(CROSS:%-=%))
V       ?= 0
FUZZ_SECS ?= 60
# The same in a Debian of its own, which has what that needs (scripts/cross.sh).
ARCH    ?=
CROSS_arm64 := CROSS=aarch64-linux-gnu- RUN=qemu-aarch64 DPDK=0
in_cross = scripts/cross.sh $(ARCH) make $(CROSS_$(ARCH)) $(filter-out ARCH=%,$(MAKEOVERRIDES))

CC         ?= gcc
ifeq ($(origin CC),default)
CC         := $(CROSS)gcc
endif
# Sizes and costs of the XDP program are measured with clang 14; the row of deps.sh has the order of the others.
CLANG_ORDER := $(subst clang-,,$(subst /, ,$(lastword $(shell grep '^core.*| clang-' scripts/deps.sh))))
CLANG      ?= clang-$(or $(firstword $(foreach n,$(CLANG_ORDER),$(if $(wildcard /usr/bin/clang-$(n)),$(n)))),14)
# Whose objects `make verify` shows to the kernels, beside that of CLANG: those of these that are installed.
CLANGS     ?= clang-14 clang-16 clang-19
KERNELS    ?= 6.1 6.12 newest
VERIFY_MAX ?= 200000
# Asked once: an object that another clang compiles is stripped by the same program. That of another LLVM will do.
ifeq ($(origin LLVM_STRIP),undefined)
LLVM_STRIP := $(subst clang,llvm-strip,$(CLANG))
ifneq ($(filter clang-%,$(CLANG)),)
LLVM_STRIP := $(or $(notdir $(firstword $(wildcard $(addprefix /usr/bin/llvm-strip-,$(CLANG:clang-%=%) $(CLANG_ORDER))))),$(LLVM_STRIP))
endif
endif
BPFTOOL    ?= PATH="$$PATH:/usr/sbin:/sbin" bpftool
PYTHON     ?= /usr/bin/python3
FLOOR      ?=
AGAIN      ?=
PKG_CONFIG ?= $(if $(CROSS),PKG_CONFIG_LIBDIR=/usr/lib/$(CROSS:%-=%)/pkgconfig:/usr/share/pkgconfig )pkg-config

# With DPDK where it is installed; DPDK=0 leaves it out. Builds for the sanitizers are without: the EAL's
# memory is not theirs, and its threads know nothing of them.
ifeq ($(origin DPDK),undefined)
DPDK := $(if $(SAN),0,$(shell $(PKG_CONFIG) --exists libdpdk 2>/dev/null && echo 1 || echo 0))
endif

ifeq ($(filter $(PROFILE),debug release),)
$(error PROFILE is $(PROFILE): must be debug or release)
endif
ifeq ($(filter $(DPDK),0 1),)
$(error DPDK is $(DPDK): must be 0 or 1)
endif

comma := ,
SANS  := $(subst $(comma), ,$(SAN))
ifneq ($(filter-out address undefined thread fuzzer,$(SANS)),)
$(error SAN is $(SAN): must be of address, undefined, thread, fuzzer, with commas between)
endif
B := $(O)/$(PROFILE)$(patsubst %,-%,$(subst $(comma),-,$(SAN)))
ifneq ($(origin DPDK),file)
B := $(B)$(if $(filter 1,$(DPDK)),-dpdk,-nodpdk)
endif

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# A job for each core, unless the command line says -j; a make below takes over what the first one has.
N_CORES := $(shell nproc)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(N_CORES)
endif
# As many tests at a time, and one more, in a recipe: that is where MAKEFLAGS is complete. Some tests wait most of
# their time. Network tests all do: two for each core, up to 16.
JOBS     = $(or $(patsubst -j%,%,$(firstword $(filter -j%,$(MAKEFLAGS)))),$(N_CORES))
TEST_JOBS = $(if $(filter 1,$(JOBS)),1,$(shell echo $$(($(JOBS) + 1))))
NET_JOBS ?= $(if $(filter 1,$(JOBS)),1,$(shell n=$$(($(JOBS) * 2)); echo $$((n > 16 ? 16 : n))))

ifeq ($(V),1)
Q   :=
say  = @:
else
Q   := @
say  = @printf '  %-9s %s\n'
endif

# --- Flags ------------------------------------------------------------------------------------------

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
# A BPF program is entered by the kernel, so it has no prototype, and its parameter is given.
BPF_WARN := $(filter-out -Wmissing-prototypes,$(WARN)) -Wno-unused-parameter

# Asked once, and not before a recipe expands it.
once = $(eval $(1) := $(shell $(2)))$($(1))
PKGS = libxdp libbpf ldns libunbound libevent_core lmdb liburcu-qsbr yaml-0.1 jansson libsystemd libcap-ng libssl libcrypto \
       libmicrohttpd libmnl libfstrm libprotobuf-c libseccomp
PKG_CFLAGS = $(call once,PKG_CFLAGS,$(PKG_CONFIG) --cflags $(PKGS))
PKG_LIBS   = $(call once,PKG_LIBS,$(PKG_CONFIG) --libs $(PKGS))
# Of some fifty libraries those that we call; they load the drivers. Their headers are not written to our warnings.
DPDK_CFLAGS = $(call once,DPDK_CFLAGS,$(PKG_CONFIG) --cflags libdpdk | sed 's/-I/-isystem /g')
# Since DPDK 24.03 rte_log() is in a library of its own.
DPDK_CALLED := ethdev mbuf mempool ring eal log
DPDK_LIBS   = $(if $(filter 1,$(DPDK)),$(call once,DPDK_FOUND,$(PKG_CONFIG) --libs libdpdk | tr ' ' '\n' | grep -xF $(DPDK_CALLED:%=-e -lrte_%)))
MULTIARCH  = $(call once,MULTIARCH,$(CROSS)gcc -print-multiarch)

CPPFLAGS_ALL := -I. -Iuserspace -I$(B)/gen -D_GNU_SOURCE= -DVOLLEY_VERSION='"$(VERSION)"'
CFLAGS_ALL   := -std=gnu17 -pthread $(WARN) -fno-strict-aliasing
LDFLAGS_ALL  := -pthread -Wl,--as-needed

# AddressSanitizer without the fuzzer: twice as long to compile at -O2 -g, and the programs run no faster for
# it. -g1 is enough for the file and the line of a report.
OPTIMISE := $(if $(filter debug,$(PROFILE)),-Og -g,$(if $(filter fuzzer,$(SANS)),-O2 -g,$(if $(filter address,$(SANS)),-O1 -g1,-O2 -g)))
ifeq ($(PROFILE),debug)
CFLAGS_ALL   += $(OPTIMISE) -fno-omit-frame-pointer
else
CFLAGS_ALL   += $(OPTIMISE) -fPIE -fstack-protector-strong
LDFLAGS_ALL  += -pie -Wl,-z,relro,-z,now
ifeq ($(SAN),)
CPPFLAGS_ALL += -D_FORTIFY_SOURCE=2
endif
endif

ifneq ($(SAN),)
SAN_LINK     := -fsanitize=$(subst fuzzer,fuzzer-no-link,$(SAN))
CFLAGS_ALL   += $(SAN_LINK) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS_ALL  += $(SAN_LINK)
endif
# gcc warns of each fence, which ThreadSanitizer does not see. The data behind our fences is read and written by
# atomics, so no fence that is not seen makes a report.
ifneq ($(filter thread,$(SANS)),)
CFLAGS_ALL   += -Wno-tsan
endif
ifneq ($(filter fuzzer,$(SANS)),)
override CC  := $(CLANG)
endif

# What was compiled before, in this tree or another, is taken from ccache where that is installed; CCACHE= is without.
# The tree's own path is in no object, else another tree's would not be the same.
ifeq ($(origin CCACHE),undefined)
CCACHE := $(shell command -v ccache)
endif
CFLAGS_ALL += -ffile-prefix-map=$(CURDIR)=.

COMPILE = $(CCACHE) $(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS_ALL) $(CFLAGS) -MMD -MP
LINK    = $(CC) $(CFLAGS_ALL) $(CFLAGS) $(LDFLAGS_ALL) $(LDFLAGS)
BPF_CC  = $(CCACHE) $(CLANG) -target bpf -mcpu=v3 -std=gnu17 -O2 -g $(BPF_WARN) -fno-stack-protector \
          -I. -idirafter /usr/include/$(MULTIARCH) -MMD -MP

export VOLLEY_BIN    := $(abspath $(O)/bin)
export VOLLEY_TESTS  := $(abspath $(B)/tests)
export ASAN_OPTIONS  ?= detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS ?= print_stacktrace=1:halt_on_error=1
export PYTHONDONTWRITEBYTECODE := 1

# --- What there is ----------------------------------------------------------------------------------

# Each floor after those that it may include: a line for each subject.
FLOORS   := base dns link \
            port tap \
            cache zone store xfr sign \
            resolver querier limits shield rpz engine invalidate census worker \
            config bpf broker iface \
            transfer zonemgr \
            control abuse recursion report daemon \
            client doctor cmd
OF_THE_DAEMON := transfer zonemgr control abuse recursion report daemon
# They are started by volleyd or by systemd, not by people.
HELPERS  := volley-resolver volley-broker volley-runner
PROGRAMS := volleyd volleyctl $(HELPERS)

# iface/dpdk_iface_none.c stands in for iface/dpdk_iface.c.
NOT_BUILT  := $(if $(filter 1,$(DPDK)),userspace/iface/dpdk_iface_none.c,userspace/port/dpdk% userspace/iface/dpdk_iface.c tests/unit/port/test_dpdk%)
skip_dpdk  = $(filter-out $(NOT_BUILT),$(1))
floor_srcs = $(filter-out $(PROGRAMS:%=userspace/cmd/%.c),$(call skip_dpdk,$(wildcard userspace/$(1)/*.c)))
objs       = $(patsubst %.c,$(B)/obj/%.o,$(1))

FLOORS_HERE := $(foreach f,$(FLOORS),$(if $(call floor_srcs,$(f)),$(f)))
LIB_SRCS    := $(foreach f,$(filter-out cmd,$(FLOORS_HERE)),$(call floor_srcs,$(f)))
LIBVOLLEY   := $(B)/libvolley.a
LIBCMD      := $(if $(filter cmd,$(FLOORS_HERE)),$(B)/floor/cmd.a)

PROGRAMS_HERE := $(foreach p,$(PROGRAMS),$(if $(wildcard userspace/cmd/$(p).c),$(p)))

BPF_MAIN    := $(if $(wildcard xdp/volley.bpf.c),$(O)/bin/volley.bpf.o)
BPF_OTHERS  := $(patsubst xdp/%.bpf.c,$(O)/bin/%.bpf.o,$(filter-out xdp/volley.bpf.c,$(wildcard xdp/*.bpf.c)))
BPF_BY_CLANGS := $(foreach c,$(filter-out $(CLANG),$(CLANGS)),$(if $(wildcard /usr/bin/$(c)),$(O)/verify/volley-$(c).bpf.o))
BPF_TESTS   := $(foreach d,bpf perf net,$(patsubst tests/$(d)/%.bpf.c,$(B)/tests/%.bpf.o,$(wildcard tests/$(d)/*.bpf.c)))
SKELS       := $(patsubst %.bpf.c,$(B)/gen/%.skel.h,$(notdir $(wildcard xdp/*.bpf.c tests/bpf/*.bpf.c tests/perf/*.bpf.c tests/net/*.bpf.c)))

TEST_LIB_SRCS := $(wildcard tests/lib/*.c)
LIBTESTS      := $(if $(TEST_LIB_SRCS),$(B)/tests/libtests.a)

programs   = $(patsubst %.c,$(B)/%,$(1))
# FLOOR=cache: the tests of one floor only; FLOOR=xdp: those of the XDP program.
# TESTS=cache/test_threads: these alone.
UNIT_TESTS := $(call programs,$(call skip_dpdk,$(wildcard $(if $(TESTS),$(TESTS:%=tests/unit/%.c),\
	$(addsuffix /test_*.c,tests/unit/$(or $(FLOOR),*) $(if $(FLOOR),,tests/unit))))))
PROG_TESTS := $(call programs,$(wildcard tests/bpf/test_*.c))
CHECKED_UNIT := $(UNIT_TESTS)
CHECKED_BPF  := $(if $(filter-out xdp,$(FLOOR)),,$(PROG_TESTS))
CHECKED      := $(CHECKED_UNIT) $(if $(CHECKED_BPF),$(CHECKED_BPF) $(BPF_TESTS))
ifneq ($(FLOOR),)
ifeq ($(strip $(CHECKED)),)
$(error FLOOR is $(FLOOR): must be xdp or a folder of tests/unit)
endif
endif
FUZZERS    := $(call programs,$(wildcard tests/fuzz/fuzz_*.c))
# Programs that the network tests, the comparisons and the benchmarks call.
TOOLS      := $(call programs,$(filter-out %.bpf.c,$(wildcard tests/net/*.c tests/diff/*.c tests/perf/*.c)))
VERIFY     := $(call programs,$(wildcard tests/bpf/verify.c))

# Filled from the words that --help prints too.
MANS := $(if $(filter volleyctl,$(PROGRAMS_HERE)),$(patsubst docs/man/%.in,$(O)/man/%,$(wildcard docs/man/*.in)))

# What the shell completes, made from the same words as the man pages.
COMPLETIONS := $(if $(filter volleyctl,$(PROGRAMS_HERE)),$(patsubst scripts/completion/%.in,$(O)/completion/%,$(wildcard scripts/completion/*.in)))
# For editors of volley.yaml.
SCHEMA := $(if $(filter volleyd,$(PROGRAMS_HERE)),$(O)/volley.schema.json)
# volleyctl import, which looks for it beside bin/.
IMPORT := $(patsubst scripts/%,$(O)/%,$(wildcard scripts/import/volley-import scripts/import/*.py scripts/import/*.options))
ALL := $(BPF_MAIN) $(BPF_OTHERS) $(PROGRAMS_HERE:%=$(O)/bin/%) $(MANS) $(COMPLETIONS) $(SCHEMA) $(IMPORT)

# --- Main targets -----------------------------------------------------------------------------------

.PHONY: all
all: $(ALL) ## build the programs and the XDP objects (default)

.PHONY: deps deps-run deps-build deps-deb deps-test deps-demo
deps: ## install what building, tests, demo and benchmarks need (Debian, root); deps-demo, deps-build, deps-deb, deps-run, deps-test: parts of it
	@scripts/deps.sh

deps-run deps-build deps-deb:
	@scripts/deps.sh $(@:deps-%=%)

deps-test:
	@scripts/deps.sh lab unit net test package

deps-demo:
	@scripts/deps.sh core lab

# Each stage of `make test` is timed; a test that passed before is run again.
TIMES := $(abspath $(O))/times
timed  = VOLLEY_DURATIONS=$(TIMES)/tests scripts/times.sh --stage $(TIMES)/stages $(1)
stage  = +@$(call timed,$(1)) $(MAKE) AGAIN=1 $(1)
# beside: targets, one after the other, on what other targets leave idle of the processors.
beside       = scripts/beside.sh $(TIMES)/$(firstword $(1)).log '$(foreach t,$(1),$(MAKE) $(t);)'
stage_beside = +@$(call timed,$(1)) $(call beside,$(2)) $(MAKE) AGAIN=1 $(1)

# A mirror gives the kernels and the packages of the other release, which takes minutes but little time of processors: so this
# is done while this release is compiled and tested. The network tests that run side by side leave a part of the processors
# idle: there the programs of later stages are compiled. The tests that run alone begin when that has ended.
.PHONY: test test-host
test: ## everything that must hold: installs deps, builds, runs all tests; ends with what took how long
	@$(MAKE) deps
	@rm -rf $(TIMES) && mkdir -p $(TIMES)
	+@$(call beside,kernels other-base-packages) $(MAKE) test-host
	$(call stage_beside,test-net-together,sanitized other-base)
	$(call stage,test-net-alone)
	$(call stage,test-asan)
	$(call stage,test-tsan-cache)
	$(call stage,test-fuzz)
	$(call stage,test-other-base)
	@scripts/times.sh --show $(TIMES)

test-host:
	$(call stage,all)
	$(call stage,test-clang)
	$(call stage,test-read)
	$(call stage,test-unit)
	$(call stage,test-bpf)
	$(call stage,test-litmus)
	$(call stage,verify)

# `make verify` needs them, from a mirror.
.PHONY: kernels
kernels:
	@$(if $(KERNELS),$(PYTHON) tests/vm/fetch.py $(KERNELS))

# Each stage runs whatever became of the one before: a line that is too long hides no test that fails.
.PHONY: check
check: $(ALL) $(CHECKED) $(O)/read.stamp ## what a change needs first: build, unit and BPF tests, lint, of what changed (root); FLOOR=cache
	@failed=0; \
	$(if $(CHECKED_UNIT),$(run_tests) unit $(CHECKED_UNIT) || failed=1;) \
	$(if $(CHECKED_BPF),$(run_tests) bpf $(CHECKED_BPF) || failed=1;) \
	scripts/lint.sh --changed $(O)/lint.stamp || failed=1; \
	exit $$failed

run_tests = RUN="$(RUN)" TEST_JOBS=$(TEST_JOBS) AGAIN=$(AGAIN) scripts/run-tests.sh

.PHONY: test-unit
test-unit: $(UNIT_TESTS) ## unit tests of userspace/ that have not passed as they are; FLOOR=cache AGAIN=1
	@$(run_tests) unit$(SAN:%=-%) $(UNIT_TESTS)

# gcc compiles the programs; the newest clang, which knows other warnings, reads the same files and makes no objects. A
# char has no sign there, as on arm64.
CLANG_READS = $(or $(lastword $(foreach c,$(CLANGS),$(wildcard /usr/bin/$(c)))),$(CLANG)) -fsyntax-only $(CPPFLAGS_ALL) $(CPPFLAGS) $(PKG_CFLAGS) $(if $(filter 1,$(DPDK)),$(DPDK_CFLAGS)) $(CFLAGS_ALL) \
	-DVOLLEY_SHARE='""' -DVOLLEY_LIBEXEC='""' -DVOLLEY_CONFIG='""' -funsigned-char -Wtautological-unsigned-char-zero-compare

.PHONY: test-clang
test-clang: $(ALL) ## clang compiles userspace without a warning, too (CC=clang)
	@printf '%s\n' $(LIB_SRCS) $(wildcard userspace/cmd/*.c) | xargs -n 16 -P $(JOBS) $(CLANG_READS)

.PHONY: test-asan
test-asan: ## the unit tests under AddressSanitizer and UBSan
	@$(MAKE) SAN=address,undefined test-unit

# Some of these start the resolver's process, which has no sanitizer.
test-asan test-tsan: | $(O)/bin/volley-resolver

# What test-asan, test-tsan-cache and test-fuzz run, compiled.
.PHONY: sanitized checked unit-programs fuzz-programs
sanitized:
	@$(MAKE) SAN=address,undefined unit-programs fuzz-programs
	@$(MAKE) SAN=thread TESTS="$(TSAN_TESTS)" unit-programs

checked: $(CHECKED)
unit-programs: $(UNIT_TESTS)
fuzz-programs: $(FUZZERS)

# The programs that a guest of another architecture runs (make test-vm).
.PHONY: guest-programs
guest-programs: tools $(PROG_TESTS) $(VERIFY)

# The corpora are replayed without the sanitizers: a build with them takes as long as all the rest.
.PHONY: cross test-cross
cross: ## all for another architecture, in a Debian of its own: ARCH=arm64 (root; asks a Debian mirror)
	@$(in_cross) guest-programs

test-cross: ## unit tests, fuzz corpora and volleyd for ARCH=arm64, by an emulator (root; asks a Debian mirror)
	@$(in_cross) all
	@$(in_cross) test-unit
	@$(in_cross) fuzz-replay
	@$(in_cross) test-sockets

.PHONY: test-tsan
test-tsan: ## the unit tests under ThreadSanitizer
	@$(MAKE) SAN=thread test-unit

# Where threads share most, and without a lock in the fast path: what a lock too few does is rarely seen without this.
# These are the three protocols that driver and userspace share (xdp/memory_order.h).
TSAN_TESTS := cache/test_threads shield/test_interval_regions limits/test_limiter
.PHONY: test-tsan-cache
test-tsan-cache: ## cache, intervals and list of limited prefixes, each with all its users, under ThreadSanitizer
	@$(MAKE) SAN=thread TESTS="$(TSAN_TESTS)" test-unit

.PHONY: test-bpf
test-bpf: $(PROG_TESTS) $(BPF_MAIN) $(BPF_OTHERS) $(BPF_TESTS) ## the XDP program by test run (root)
	@$(run_tests) bpf $(PROG_TESTS)

.PHONY: test-litmus
test-litmus: ## the rules of xdp/memory_order.h, on a processor that orders as little as arm64
	@$(PYTHON) -m pytest -q -p no:cacheprovider tests/litmus

.PHONY: test-sockets
test-sockets: $(ALL) ## volleyd with kernel sockets alone, by the emulator RUN if there is one (root)
	@RUN="$(RUN)" PYTHONPATH=tests/net $(PYTHON) -m pytest -q -p no:cacheprovider tests/emulated

.PHONY: test-fuzz
test-fuzz: ## replay the fuzz corpora under the sanitizers, without a fuzzer
	@$(MAKE) SAN=address,undefined fuzz-replay

# $(call pytest,DIRECTORIES): those that hold tests, or the FILES that the command line names
pytest_dirs = $(sort $(dir $(foreach d,$(1),$(wildcard $(d)/test_*.py))))
pytest = $(if $(call pytest_dirs,$(1)),NET_JOBS=$(NET_JOBS) PYTHON=$(PYTHON) scripts/run-pytest.sh $(PYTEST_ARGS) \
         $(or $(FILES),$(call pytest_dirs,$(1))),echo '$(1): no tests here')

# pytest reads the tests before any of them runs: a file that imports what is not there is found at once.
$(O)/read.stamp: $(wildcard tests/*.py tests/*/*.py) | $(ALL)
	@$(PYTHON) -m pytest -q -p no:cacheprovider --collect-only tests/net tests/diff >$@.out 2>&1 || \
		{ grep -v :: $@.out; false; }
	@touch $@

.PHONY: test-read
test-read: $(O)/read.stamp ## pytest can read all network and comparison tests

.PHONY: test-net
test-net: $(ALL) $(TOOLS) $(BPF_TESTS) ## tests in network namespaces (root); FILES=tests/net/test_x.py PYTEST_ARGS="-k name"
	@$(call pytest,tests/net)

.PHONY: test-diff
test-diff: $(ALL) $(TOOLS) $(BPF_TESTS) ## Volley's answers against those of knotd, nsd and named (root); FULL=1
	@$(call pytest,tests/diff)

.PHONY: tools
tools: $(ALL) $(TOOLS) $(BPF_TESTS) ## what scripts/loadtest, the benchmarks and the network tests call

# The same in two parts: the tests without the mark `alone`, and those with it.
.PHONY: test-net-diff test-net-together test-net-alone
test-net-diff test-net-together test-net-alone: $(ALL) $(TOOLS) $(BPF_TESTS)
	@NET_PART=$(filter together alone,$(@:test-net-%=%)) $(call pytest,tests/net tests/diff)

.PHONY: fuzz
fuzz: ## fuzz each parser with libFuzzer for FUZZ_SECS seconds (60)
	@$(MAKE) SAN=fuzzer,address,undefined fuzz-run

.PHONY: bench
bench: $(ALL) $(TOOLS) $(BPF_TESTS) ## benchmarks: ratios against a peer in the same run (root)
	@$(if $(wildcard tests/perf/bench.py),$(PYTHON) tests/perf/bench.py $(BENCH_ARGS),echo 'tests/perf: no benchmarks here')

.PHONY: verify
verify: $(BPF_MAIN) $(BPF_OTHERS) $(BPF_BY_CLANGS) $(VERIFY) ## show the XDP programs to the verifiers of this kernel and of KERNELS (root)
	@$(VERIFY) --max $(VERIFY_MAX) $(BPF_MAIN) $(BPF_OTHERS) $(BPF_BY_CLANGS)
	@$(PYTHON) tests/bpf/stores.py $(VERIFY) $(BPF_MAIN)
	@$(if $(KERNELS),$(PYTHON) tests/vm/verify.py --max $(VERIFY_MAX) --kernels "$(KERNELS)" \
		$(VERIFY) $(BPF_MAIN) $(BPF_OTHERS) $(BPF_BY_CLANGS))

.PHONY: test-vm
test-vm: $(ALL) $(TOOLS) $(if $(filter %driver_tests,$(STEPS)),$(PROG_TESTS),$(B)/tests/bpf/test_xdp_names) ## machines with other kernels and cards (root): VM_ARGS='--cells "6.1:igb"'; the table
	@$(PYTHON) tests/vm/cells.py $(VM_ARGS)

.PHONY: lint
lint: ## format, floors, lengths, shell and Python checks (of FILES)
	@scripts/lint.sh $(FILES)

.PHONY: format
format: ## reformat the C files (or FILES)
	$(Q)scripts/lint.sh --fix $(FILES)

.PHONY: demo
demo: ## two-namespace lab: real queries, and who answered them (root; installs what it needs)
	@$(MAKE) deps-demo
	@$(MAKE) all
	@scripts/demo.sh

.PHONY: run
run: all ## run the daemon in the foreground: make run CONFIG=FILE
	@test -n "$(CONFIG)" || { echo 'make run: say which configuration: make run CONFIG=FILE' >&2; exit 2; }
	$(O)/bin/volleyd -c $(CONFIG)

# The user of volleyd where its processes have units of their own.
UNITS_USER ?= volley
IN_UNITS = s,@PREFIX@,$(PREFIX),g;s,@SYSCONFDIR@,$(SYSCONFDIR),g;s,@USER@,$(UNITS_USER),g
# $(call fill,FROM,TO): the mode is that of the other files, whatever the umask is.
fill = { install -m 644 /dev/null $(2) && sed '$(IN_UNITS)' $(1) >$(2); }

.PHONY: install
install: all ## install below $(DESTDIR)$(PREFIX)
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/lib/volley $(DESTDIR)$(SYSCONFDIR)/volley
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system $(DESTDIR)$(PREFIX)/share/volley
	install -m 755 $(O)/bin/volleyd $(O)/bin/volleyctl $(DESTDIR)$(PREFIX)/sbin/
	install -d $(DESTDIR)$(PREFIX)/libexec/volley
	install -m 755 $(HELPERS:%=$(O)/bin/%) $(DESTDIR)$(PREFIX)/libexec/volley/
	install -m 644 $(BPF_MAIN) $(BPF_OTHERS) $(DESTDIR)$(PREFIX)/lib/volley/
	for u in volleyd.service $(HELPERS:%=%.socket) $(HELPERS:%=%@.service); do \
		$(call fill,scripts/$$u,$(DESTDIR)$(PREFIX)/lib/systemd/system/$$u) || exit 1; \
	done
	$(call fill,scripts/volleyd-units.conf,$(DESTDIR)$(PREFIX)/share/volley/volleyd-units.conf)
	install -m 644 zones/root.hints $(SCHEMA) $(DESTDIR)$(PREFIX)/share/volley/
	install -m 755 scripts/anycast-health $(DESTDIR)$(PREFIX)/lib/volley/
	install -d $(DESTDIR)$(PREFIX)/lib/volley/import
	install -m 644 $(filter %.py %.options,$(IMPORT)) $(DESTDIR)$(PREFIX)/lib/volley/import/
	install -m 755 $(filter %/volley-import,$(IMPORT)) $(DESTDIR)$(PREFIX)/lib/volley/import/
	install -d $(DESTDIR)$(PREFIX)/share/volley/anycast
	install -m 644 scripts/anycast/*.conf $(DESTDIR)$(PREFIX)/share/volley/anycast/
	install -d $(DESTDIR)$(PREFIX)/share/volley/monitoring
	install -m 644 scripts/monitoring/alerts.yml scripts/monitoring/grafana-dashboard.json $(DESTDIR)$(PREFIX)/share/volley/monitoring/
	$(call fill,scripts/anycast/volley-anycast.service,$(DESTDIR)$(PREFIX)/lib/systemd/system/volley-anycast.service)
	test -e $(DESTDIR)$(SYSCONFDIR)/volley/volley.yaml || \
		install -m 644 zones/volley.yaml.example $(DESTDIR)$(SYSCONFDIR)/volley/volley.yaml
	for m in $(MANS); do \
		install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$${m##*/} || exit 1; \
	done
	install -D -m 644 $(O)/completion/volleyctl.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/volleyctl
	install -D -m 644 $(O)/completion/volleyctl.zsh $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_volleyctl

.PHONY: deb
deb: ## Debian packages of what is committed, in build/deb (needs no root; what it needs: scripts/debian/control); ARCH=arm64, in build/deb/arm64 (root)
	@scripts/deb.sh $(VERSION) $(O)/deb$(ARCH:%=/%) $(ARCH)

# test-made-deb: those that the last `make deb` has made.
.PHONY: test-deb test-made-deb
deb_tests = PYTHONPATH=tests/net VOLLEY_DEBS=$(abspath $(O)/deb$(ARCH:%=/%)) unshare --mount --propagation private \
	$(PYTHON) -m pytest -q -ra -p no:cacheprovider \
	$(or $(FILES),$(if $(ARCH),tests/deb/test_cross.py,--ignore=tests/deb/test_cross.py tests/deb))

test-deb: $(ALL) deb ## the packages installed, upgraded and purged in a bare Debian (root; asks a Debian mirror); ARCH=arm64
	@$(deb_tests)

test-made-deb: $(ALL)
	@$(deb_tests)

.PHONY: test-suite
SUITE ?= trixie
test-suite: ## build, test and package what is committed in a bare Debian of SUITE, trixie (root): STEPS="build unit"
	@scripts/suite.sh $(SUITE) $(STEPS)

# A part of it that is short enough for CI, on the other supported release (OTHER_BASE= leaves it out): without the packages
# of some tests, and with the network tests whose result most depends on libraries and servers of the release.
OTHER_BASE ?= $(if $(shell grep -sx VERSION_CODENAME=trixie /etc/os-release),bookworm,trixie)
BASE_TESTS := $(addprefix tests/net/test_,ways_in.py resolver.py resolver_attacks.py forward_tls.py dot.py transfer_ways.py \
	signing_clock.py snapshot.py dnstap.py cookies.py unit_file.py doctor.py dot_resumption.py)
other_base = $(if $(OTHER_BASE),SUITE_KEEP=1 SUITE_GROUPS="build lab deb unit net package" FILES="$(BASE_TESTS)" \
	scripts/suite.sh $(OTHER_BASE),echo 'OTHER_BASE is empty: nothing of:')

# Steps of test-other-base that `make test` does earlier, beside other stages.
.PHONY: other-base-packages other-base test-other-base
other-base-packages:
	@$(other_base) deps

other-base:
	@$(other_base) deps build deb

test-other-base: ## the build, unit, BPF and some network tests, and the package in a bare Debian of the other release (root)
	@$(other_base) deps build deb unit bpf net package across

.PHONY: image
image: deb ## an OCI image of the package, in build/image (root; asks a Debian mirror)
	@scripts/image.sh $(VERSION) $(O)/deb $(O)/image

.PHONY: test-image
test-image: $(ALL) image ## the image started as a container of its own in a lab (root)
	@PYTHONPATH=tests/net VOLLEY_IMAGE=$(O)/image/volley-$(VERSION).oci.tar $(PYTHON) -m pytest -q -ra -p no:cacheprovider tests/image

.PHONY: clean
clean: ## remove all that was built
	rm -rf $(O)

.PHONY: help
help: ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | expand -t 14
	@echo 'tests:     FLOOR=NAME (of tests/unit, or xdp) AGAIN=1 (passed ones, too) FILES= NET_JOBS=N CCACHE='
	@echo 'variables: PROFILE=debug|release SAN=address,undefined|thread DPDK=0|1 PREFIX= SYSCONFDIR= DESTDIR= V=1'
	@echo '           O=DIR (build somewhere else) CONFIG=FILE FUZZ_SECS=N VERIFY_MAX=N KERNELS= VM_ARGS= PYTEST_ARGS= BENCH_ARGS='

# --- C ----------------------------------------------------------------------------------------------

# Sources that include a skeleton wait for it the first time; later the .d files know.
SKEL_IN_C := $(shell grep -slE '^\#include "[a-z_]+\.skel\.h"' $(LIB_SRCS) $(wildcard userspace/cmd/*.c tests/*/*.c tests/unit/*/*.c))
SKEL_IN_H := $(shell grep -slE '^\#include "[a-z_]+\.skel\.h"' $(wildcard userspace/*/*.h tests/*/*.h))
$(call objs,$(SKEL_IN_C)) $(if $(SKEL_IN_H),$(call objs,$(wildcard $(addsuffix *.c,$(dir $(SKEL_IN_H)))))): | $(SKELS)

# The messages of dnstap, from their schema. Its code is not written to our warnings.
PROTOS := $(addprefix $(B)/gen/,$(patsubst %.proto,%.pb-c.h,$(notdir $(wildcard userspace/*/*.proto))))
$(call objs,$(shell grep -slE '^\#include "[a-z_]+\.pb-c\.[ch]"' $(LIB_SRCS) $(wildcard tests/unit/*/*.c))): | $(PROTOS)

$(B)/gen/%.pb-c.h: userspace/tap/%.proto
	$(say) PROTO $@
	@mkdir -p $(@D)
	$(Q)protoc-c -I$(<D) --c_out=$(@D) $<
	$(Q)sed -i '1i #pragma GCC system_header' $(@:.h=.c) $@

$(B)/obj/%.o: %.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MF $(@:.o=.d) -c -o $@ $<

# cmocka.h of cmocka 1 and 2.
$(call objs,$(wildcard tests/*/*.c tests/unit/*/*.c)): CPPFLAGS_ALL += -Itests/lib/wrapped

# DPDK's inline functions need a processor that its packages say; the rest of the program does not.
$(call objs,$(wildcard userspace/port/dpdk*.c tests/unit/port/test_dpdk*.c)): CFLAGS_ALL += $(DPDK_CFLAGS)

# Where what is installed is looked for. Another PREFIX makes this object anew, and no other.
PREFIX_OBJ := $(call objs,userspace/recursion/recursion_settings.c userspace/base/executable.c)
$(PREFIX_OBJ): CPPFLAGS_ALL += -DVOLLEY_SHARE='"$(PREFIX)/share/volley"' -DVOLLEY_LIBEXEC='"$(PREFIX)/libexec/volley"'
$(PREFIX_OBJ): $(B)/gen/prefix

# The configuration that volleyd reads without -c: the program opens this path, doctor too, and the text of the option names it.
CONFIG_OBJ := $(call objs,userspace/cmd/volleyd.c userspace/config/words.c userspace/doctor/doctor.c)
$(CONFIG_OBJ): CPPFLAGS_ALL += -DVOLLEY_CONFIG='"$(SYSCONFDIR)/volley/volley.yaml"'
$(CONFIG_OBJ): $(B)/gen/sysconfdir

# Written only when the value has changed.
$(B)/gen/prefix: VALUE = $(PREFIX)
$(B)/gen/sysconfdir: VALUE = $(SYSCONFDIR)
$(B)/gen/prefix $(B)/gen/sysconfdir: FORCE
	@mkdir -p $(@D)
	@echo '$(VALUE)' | cmp -s - $@ || echo '$(VALUE)' >$@

# What pkg-config says of each library at the build. Some of its versions put the name before the number.
$(call objs,userspace/daemon/libraries.c): $(B)/gen/libraries_built.h
$(B)/gen/libraries_built.h: PACKAGES = $(PKGS) $(if $(filter 1,$(DPDK)),libdpdk)
$(B)/gen/libraries_built.h: FORCE
	@mkdir -p $(@D)
	@set -- $(PACKAGES); $(PKG_CONFIG) --modversion "$$@" | sed 's/.*[: ]//' | \
		while read -r v; do echo "LIBRARY(\"$$1\", \"$$v\")"; shift; done >$@.tmp
	@cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@

# Made whole, and anew when a file was removed from the folder, so that no old member lingers. By q,
# since r keeps only one of two files of the same name on two floors.
define archive
	$(say) AR $@
	@mkdir -p $(@D) && rm -f $@
	$(Q)$(CROSS)ar qcs $@ $(filter %.o,$^)
endef

# UPTO_<floor>: the floor and all below it, in the order the linker wants.
STACK :=
$(foreach f,$(FLOORS),$(eval STACK := $(f) $(STACK))$(eval UPTO_$(f) := $(STACK)))
# client and doctor stand above the daemon, and cannot call it.
floor_libs = $(patsubst %,$(B)/floor/%.a,$(filter-out $(if $(filter client doctor,$(1)),$(OF_THE_DAEMON)),$(filter $(FLOORS_HERE),$(UPTO_$(1)))))

define floor_rule
$(B)/floor/$(1).a: $$(call objs,$$(call floor_srcs,$(1))) userspace/$(1)
	$$(archive)
$$(call programs,$$(call skip_dpdk,$$(wildcard tests/unit/$(1)/test_*.c))): $$(call floor_libs,$(1))
endef
$(foreach f,$(FLOORS_HERE),$(eval $(call floor_rule,$(f))))

$(LIBVOLLEY): $(call objs,$(LIB_SRCS)) $(patsubst %,userspace/%,$(filter-out cmd,$(FLOORS_HERE)))
	$(archive)

$(LIBTESTS): $(call objs,$(TEST_LIB_SRCS)) tests/lib
	$(archive)

define link
	$(say) LINK $@
	@mkdir -p $(@D)
	$(Q)$(LINK) $(1) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(2) $(PKG_LIBS) $(DPDK_LIBS) -lm
endef

# volleyctl links nothing of the daemon.
$(B)/bin/volleyd: $(LIBVOLLEY)
$(B)/bin/volleyctl: $(call floor_libs,doctor)
# The resolver's process links nothing of the server, and the server nothing of libunbound.
$(B)/bin/volley-resolver: $(call floor_libs,resolver)
$(B)/bin/volley-broker: $(call floor_libs,broker)
$(B)/bin/volley-runner: $(call floor_libs,config)
$(filter-out %/volley-resolver %/volley-broker %/volley-runner,$(PROGRAMS_HERE:%=$(B)/bin/%)): $(LIBCMD)
$(PROGRAMS_HERE:%=$(B)/bin/%): $(B)/bin/%: $(B)/obj/userspace/cmd/%.o
	$(call link)

# The profile built last is the one in bin/; renamed into place, since it may be running.
$(PROGRAMS_HERE:%=$(O)/bin/%): $(O)/bin/%: $(B)/bin/% FORCE
	@mkdir -p $(@D)
	@cmp -s $< $@ || { cp $< $@.new.$$$$ && mv $@.new.$$$$ $@; }

.PHONY: FORCE
FORCE:

$(O)/man/%: docs/man/%.in $(B)/bin/volleyctl
	$(say) MAN $@
	@mkdir -p $(@D)
	$(Q)$(RUN) $(B)/bin/volleyctl --man $< >$@.tmp && sed 's,@SYSCONFDIR@,$(SYSCONFDIR),g' $@.tmp >$@ && rm $@.tmp

$(O)/completion/%: scripts/completion/%.in $(B)/bin/volleyctl
	$(say) WORDS $@
	@mkdir -p $(@D)
	$(Q)$(RUN) $(B)/bin/volleyctl --man $< >$@

$(O)/volley.schema.json: $(B)/bin/volleyd
	$(say) SCHEMA $@
	@mkdir -p $(@D)
	$(Q)$(RUN) $< --schema >$@

$(O)/import/%: scripts/import/%
	@mkdir -p $(@D)
	@cp -p $< $@

# --- Tests ------------------------------------------------------------------------------------------

# Test programs are linked by gold where it is installed: zonemgr/test_signing takes 0.11 s of processor instead of 0.27.
# Unit tests have no code that must be fast: at -O1 -g1, 21 of them compile in 2.6 s of processor instead of 4.5.
TEST_LD := $(if $(filter fuzzer,$(SANS)),,$(if $(shell command -v ld.gold),-fuse-ld=gold))
$(UNIT_TESTS) $(PROG_TESTS) $(TOOLS) $(FUZZERS): LDFLAGS_ALL += $(TEST_LD)
ifeq ($(PROFILE)-$(SAN),release-)
$(call objs,$(wildcard tests/unit/*/*.c)): CFLAGS_ALL += -O1 -g1
endif

$(UNIT_TESTS): $(B)/%: $(B)/obj/%.o $(LIBTESTS)
	$(call link,,-lcmocka)

# They start the resolver's process. Under a sanitizer they start the one that is in bin/ already.
ifeq ($(SAN),)
$(filter $(B)/tests/unit/recursion/% $(B)/tests/unit/querier/%,$(UNIT_TESTS)): | $(O)/bin/volley-resolver
endif

# Its programs are not the broker's.
$(B)/tests/unit/iface/test_iface_settle: LDFLAGS_ALL += -Wl,--wrap=program_mode,--wrap=program_set_answers,--wrap=program_open,--wrap=program_take_place
$(B)/tests/unit/base/test_parent: LDFLAGS_ALL += -Wl,--wrap=clock_ns
# A wait for a process that has stopped is short.
$(B)/tests/unit/base/test_starter: LDFLAGS_ALL += -Wl,--wrap=poll
$(B)/tests/unit/config/test_runner: LDFLAGS_ALL += -Wl,--wrap=poll
$(B)/tests/unit/base/test_sentence: LDFLAGS_ALL += -Wl,--wrap=vasprintf
# It has a Landlock of its own.
$(B)/tests/unit/daemon/test_confine: LDFLAGS_ALL += -Wl,--wrap=landlock_open,--wrap=landlock_allow,--wrap=landlock_enforce,--wrap=landlock_is_too_wide
$(B)/tests/unit/zonemgr/test_publish: LDFLAGS_ALL += -Wl,--wrap=zone_set_put
# Its memory ends where it says.
$(B)/tests/unit/zone/test_edit_memory: LDFLAGS_ALL += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray,--wrap=aligned_alloc,--wrap=free

$(PROG_TESTS): $(B)/%: $(B)/obj/%.o $(LIBTESTS) $(LIBVOLLEY)
	$(call link,,-lcmocka)

$(VERIFY): $(B)/%: $(B)/obj/%.o
	$(call link)

$(TOOLS): $(B)/%: $(B)/obj/%.o $(LIBTESTS) $(LIBVOLLEY)
	$(call link,,-lcmocka)

# Its faults are where questions are submitted.
$(B)/tests/net/poisoned: LDFLAGS_ALL += -Wl,--wrap=resolver_submit

# A fuzzer brings its own main; a replay gets that of replay.c.
FUZZ_MAIN := $(if $(filter fuzzer,$(SANS)),,$(B)/obj/tests/fuzz/replay.o)
$(FUZZERS): $(B)/%: $(B)/obj/%.o $(FUZZ_MAIN) $(LIBTESTS) $(LIBVOLLEY)
	$(call link,$(if $(filter fuzzer,$(SANS)),-fsanitize=fuzzer))

REPLAYS   := $(FUZZERS:$(B)/tests/fuzz/%=replay-%)
FUZZ_RUNS := $(FUZZERS:$(B)/tests/fuzz/%=fuzz-run-%)

.PHONY: fuzz-replay fuzz-run $(REPLAYS) $(FUZZ_RUNS)
fuzz-replay: $(REPLAYS)
	@echo 'test-fuzz: $(words $(REPLAYS)) passed, 0 failed'

$(REPLAYS): replay-%: $(B)/tests/fuzz/%
	@$(RUN) $< $(wildcard tests/fuzz/corpus/$*)

fuzz-run: $(FUZZ_RUNS)

$(FUZZ_RUNS): fuzz-run-%: $(B)/tests/fuzz/%
	@mkdir -p $(O)/fuzz/$*/new
	@echo '  FUZZ      $* for $(FUZZ_SECS) s, log in $(O)/fuzz/$*/log'
	@$< -max_total_time=$(FUZZ_SECS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix=$(O)/fuzz/$*/ $(patsubst %,-dict=%,$(wildcard tests/fuzz/$*.dict)) \
		$(O)/fuzz/$*/new $(wildcard tests/fuzz/corpus/$*) >$(O)/fuzz/$*/log 2>&1 || \
		{ tail -n 60 $(O)/fuzz/$*/log; echo 'fuzz: $* FAILED: the input is in $(O)/fuzz/$*/'; exit 1; }
	@grep -E 'number_of_executed|new_units_added' $(O)/fuzz/$*/log

# --- BPF --------------------------------------------------------------------------------------------

# DWARF goes, BTF stays: libbpf needs it. The dependencies lie where every profile finds them, for
# the objects in bin/ are of all profiles.
define bpf_object
	$(say) BPF $@
	@mkdir -p $(@D) $(O)/deps
	$(Q)$(BPF_CC) -MF $(O)/deps/$(subst /,_,$(@:.o=.d)) -MT $@ -c -o $@.tmp.o $<
	$(Q)$(LLVM_STRIP) -g $@.tmp.o && mv $@.tmp.o $@
endef

$(O)/bin/%.bpf.o: xdp/%.bpf.c Makefile
	$(bpf_object)

$(O)/verify/volley-%.bpf.o: CLANG = $*
$(O)/verify/volley-%.bpf.o: xdp/volley.bpf.c Makefile
	$(bpf_object)

$(B)/tests/%.bpf.o: tests/bpf/%.bpf.c Makefile
	$(bpf_object)

$(B)/tests/%.bpf.o: tests/perf/%.bpf.c Makefile
	$(bpf_object)

$(B)/tests/%.bpf.o: tests/net/%.bpf.c Makefile
	$(bpf_object)

# bpftool's code is not written to our warnings.
define skeleton
	$(say) SKEL $@
	@mkdir -p $(@D)
	$(Q){ echo '#pragma GCC system_header'; $(BPFTOOL) gen skeleton $< name $(*F)_bpf; } >$@
endef

$(B)/gen/%.skel.h: $(O)/bin/%.bpf.o
	$(skeleton)

$(B)/gen/%.skel.h: $(B)/tests/%.bpf.o
	$(skeleton)

-include $(shell find $(B)/obj $(O)/deps -name '*.d' 2>/dev/null)
