# Assay: build, check, install. `make help` lists the targets.

ifeq ($(origin CC),default)
CC       := gcc
endif
PREFIX   ?= /usr/local
DESTDIR  ?=
BUILD    ?= build
VERSION  := 0.1.0

bindir     := $(PREFIX)/bin
libexecdir := $(PREFIX)/libexec/assay
mandir     := $(PREFIX)/share/man/man1
docdir     := $(PREFIX)/share/doc/assay

WARNINGS  := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
             -Wformat=2 -Wno-format-truncation -Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough -Wundef
ifneq ($(findstring clang,$(CC)),)
WARNINGS  += -Wno-unknown-warning-option
endif
HARDENING := -fPIE -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=2 \
             -fcf-protection
OPTIMIZE  ?= -O2
CFLAGS    ?= -g

# `make SANITIZE=1` builds dynamic programs under ASan and UBSan that keep their rights, because
# the sanitizers' runtime needs them. For tests of the programs themselves, never for use.
ifdef SANITIZE
BUILD        := build/asan
OPTIMIZE     := -O1
HARDENING    := -fPIE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
UNCONFINED   := -DASSAY_UNCONFINED
STATIC       := -pie
else
STATIC       := -static-pie
endif

ALL_CPPFLAGS := -D_GNU_SOURCE -DASSAY_VERSION='"$(VERSION)"' -I. -Isandbox/base -Irunner -I$(BUILD)/gen \
                -include sandbox/base/banned.h $(UNCONFINED) $(CPPFLAGS)
ALL_CFLAGS   := -std=c17 $(WARNINGS) $(OPTIMIZE) $(HARDENING) $(CFLAGS)
ALL_LDFLAGS  := -Wl,-z,relro,-z,now,-z,noexecstack,--as-needed $(LDFLAGS)

# What starts for each evaluation is linked with musl: it is there in a twentieth of a millisecond, with
# a static glibc ten times as late, and has a fraction of the code. The helpers' libraries are built for
# glibc: what they call and musl lacks is in glibc_src. The sanitizers want glibc itself.
MUSL         ?= /usr/lib/$(shell uname -m)-linux-musl
MUSL_CC      := musl-gcc -idirafter /usr/include -idirafter /usr/include/$(shell uname -m)-linux-gnu
MUSL_STATIC  := -nostartfiles -Wl,-static,-pie,--no-dynamic-linker,-z,text
gcc_file      = $(shell gcc -print-file-name=$(1))
musl_start    = $(MUSL)/rcrt1.o $(MUSL)/crti.o $(call gcc_file,crtbeginS.o)
musl_end      = $(call gcc_file,crtendS.o) $(MUSL)/crtn.o

glibc_src  := sandbox/base/musl/glibc.c
base_src   := $(filter-out %/filter_gen.c,$(wildcard sandbox/base/*.c))
cell_src   := $(wildcard sandbox/*.c)
exec_src   := $(wildcard sandbox/exec/*.c)
json_src   := $(addprefix evaluators/,json.c json_scan.c decimal.c)
unpack_src := $(wildcard images/*.c) $(json_src)
score_src  := $(filter-out evaluators/judge/%,$(wildcard evaluators/*.c evaluators/*/*.c)) runner/report/json.c
judge_src  := $(wildcard evaluators/judge/*.c) $(json_src) \
              $(addprefix evaluators/,answer.c field_types.c fields.c number.c reading.c suggest.c) \
              runner/report/json.c runner/options.c images/digest.c
store_src  := $(wildcard runner/store/*.c) images/digest.c evaluators/rating.c
runner_src := $(filter-out runner/store/%,$(wildcard runner/*.c runner/*/*.c)) $(addprefix images/,digest.c folder.c listing.c tar_write.c) \
              $(addprefix evaluators/,contract.c rating.c)
unit_src   := $(wildcard tests/unit/*.c)
tools_src  := $(wildcard tests/programs/*.c)

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

programs := $(addprefix $(BUILD)/,assay assay-cell assay-exec assay-unpack assay-score assay-judge assay-store)
tools    := $(patsubst tests/programs/%.c,$(BUILD)/tests/%,$(tools_src))
attacks  := $(patsubst tests/escape/%.c,$(BUILD)/tests/escape/%,$(wildcard tests/escape/*.c))
takeover := $(addprefix $(BUILD)/tests/takeover-,unpack score) # with a hook after they locked themselves in

cell_libs   := -lcap
unpack_libs := -larchive -lz -llzma -lzstd -lbz2 -lnettle -lutf8proc -ljansson -lcap
score_libs  := -ljansson -lgmp -lexpat -lutf8proc -lcap
runner_libs := -l:libnettle.a
judge_libs  := -lcurl -ljansson -lgmp -lnettle
store_libs  := -lsqlite3 -lnettle -lcap
filters     := $(patsubst %,$(BUILD)/gen/filter_%.h,sandbox images images_layer evaluators)

.PHONY: all
all: $(programs)

$(BUILD)/libbase.a: $(call objects,$(base_src))
	@rm -f $@
	$(QUIET)$(AR) rcs $@ $^

ifndef V
QUIET = @
endif

link = $(QUIET)$(CC) $(ALL_CFLAGS) $(1) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(2)

ifeq ($(CC)$(SANITIZE),gcc)
with_musl     = $(patsubst %.c,$(BUILD)/musl/%.o,$(1))
musl_link     = $(QUIET)$(MUSL_CC) $(ALL_CFLAGS) $(MUSL_STATIC) $(ALL_LDFLAGS) -o $@ $(musl_start) \
                    $(filter %.o %.a,$^) $(foreach l,$(1),$(call gcc_file,$(l))) $(musl_end)
musl_objects := $(call with_musl,$(base_src) $(glibc_src) $(cell_src) $(exec_src) $(runner_src) \
                    $(unpack_src) $(score_src) tests/takeover/hook.c)

$(BUILD)/musl/libbase.a: $(call with_musl,$(base_src))
	@rm -f $@
	$(QUIET)$(AR) rcs $@ $^
$(BUILD)/assay-cell: $(call with_musl,$(cell_src)) $(BUILD)/musl/libbase.a
	$(call musl_link,libcap.a)
$(BUILD)/assay-exec: $(call with_musl,$(exec_src)) $(BUILD)/musl/libbase.a
	$(call musl_link,)
	$(QUIET)strip $@
$(BUILD)/assay: $(call with_musl,$(runner_src) $(glibc_src)) $(BUILD)/musl/libbase.a
	$(call musl_link,libnettle.a libcap.a)
$(BUILD)/assay-unpack $(BUILD)/tests/takeover-unpack: $(call with_musl,$(unpack_src) $(glibc_src)) $(BUILD)/musl/libbase.a
	$(call musl_link,$(patsubst -l%,lib%.a,$(unpack_libs)))
$(BUILD)/assay-score $(BUILD)/tests/takeover-score: $(call with_musl,$(score_src) $(glibc_src)) $(BUILD)/musl/libbase.a
	$(call musl_link,$(patsubst -l%,lib%.a,$(score_libs)))
$(takeover): $(BUILD)/musl/tests/takeover/hook.o
$(BUILD)/musl/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(if $(QUIET),@echo '  cc   $<')
	$(QUIET)$(MUSL_CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -U_FORTIFY_SOURCE -MMD -MP -c -o $@ $<
$(musl_objects): | $(filters)
$(BUILD)/musl/sandbox/confine_cell.o $(BUILD)/musl/sandbox/trace.o: $(BUILD)/gen/filter_sandbox.h
$(BUILD)/musl/images/main.o: $(BUILD)/gen/filter_images.h $(BUILD)/gen/filter_images_layer.h
$(BUILD)/musl/evaluators/main.o: $(BUILD)/gen/filter_evaluators.h
else
$(BUILD)/assay-cell: $(call objects,$(cell_src)) $(BUILD)/libbase.a
	$(call link,$(STATIC),$(cell_libs))
$(BUILD)/assay-exec: $(call objects,$(exec_src)) $(BUILD)/libbase.a
	$(call link,$(STATIC),)
$(BUILD)/assay: $(call objects,$(runner_src)) $(BUILD)/libbase.a
	$(call link,$(STATIC),$(runner_libs) -lcap)
$(BUILD)/assay-unpack $(BUILD)/tests/takeover-unpack: $(call objects,$(unpack_src)) $(BUILD)/libbase.a
	$(call link,$(STATIC),$(unpack_libs))
$(BUILD)/assay-score $(BUILD)/tests/takeover-score: $(call objects,$(score_src)) $(BUILD)/libbase.a
	$(call link,$(STATIC),$(score_libs))
$(takeover): $(BUILD)/obj/tests/takeover/hook.o
endif
$(takeover): | $(BUILD)/tests
$(BUILD)/tests:
	@mkdir -p $@
# The only one that speaks HTTP. It starts seldom, and the libraries below libcurl get their mends from
# the system: so it is dynamic.
$(BUILD)/assay-judge: $(call objects,$(judge_src)) $(BUILD)/libbase.a
	$(call link,-pie,$(judge_libs))
# Dynamic, too: for the database's mends, and for the client of another one, which is loaded when it is
# used.
$(BUILD)/assay-store: $(call objects,$(store_src)) $(BUILD)/libbase.a
	$(call link,-pie,$(store_libs))
$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(if $(QUIET),@echo '  cc   $<')
	$(QUIET)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# System call tables: libseccomp compiles each into an array, at build time.
filter_gen = $(QUIET)$(CC) -D_GNU_SOURCE -I. -Isandbox/base -include sandbox/base/banned.h -std=c17 \
    $(WARNINGS) -DTABLE='"$<"' -o $@ sandbox/base/filter_gen.c -lseccomp
$(BUILD)/gen/filter_gen_%: %/filter_table.h sandbox/base/filter_gen.c sandbox/base/filter.h
	@mkdir -p $(@D)
	$(filter_gen)
$(BUILD)/gen/filter_gen_%_layer: %/filter_layer_table.h %/filter_table.h sandbox/base/filter_gen.c \
    sandbox/base/filter.h
	@mkdir -p $(@D)
	$(filter_gen)
$(BUILD)/gen/filter_%.h: $(BUILD)/gen/filter_gen_%
	$(QUIET)$< $* > $@.new && mv $@.new $@
.PRECIOUS: $(BUILD)/gen/filter_gen_% $(BUILD)/gen/filter_gen_%_layer

$(call objects,$(cell_src) $(unpack_src) $(score_src)): | $(filters)
$(call objects,sandbox/confine_cell.c sandbox/trace.c): $(BUILD)/gen/filter_sandbox.h
$(call objects,images/main.c): $(BUILD)/gen/filter_images.h $(BUILD)/gen/filter_images_layer.h
$(call objects,evaluators/main.c): $(BUILD)/gen/filter_evaluators.h

# --- tests ---------------------------------------------------------------------------------

# Small programs that run inside cells: static, like the attacker's. A driver runs outside and
# speaks the frames of one of our programs, with the library that is built like that program.
tool_link := -static
ifdef SANITIZE
tools     := $(filter %-driver,$(tools))
tool_link := -fsanitize=address,undefined
endif
$(BUILD)/tests/list-tree: tool_libs := -l:libnettle.a
$(BUILD)/tests/%: tests/programs/%.c $(BUILD)/libbase.a Makefile
	@mkdir -p $(@D)
	$(QUIET)$(CC) -D_GNU_SOURCE -I. -Isandbox/base -std=c17 $(WARNINGS) -O1 -g $(tool_link) -pthread \
	    -MMD -MP -MF $@.d -o $@ $< $(BUILD)/libbase.a -lcap $(tool_libs)

# The keys of the documents that assay-score reads: with its tables.
$(BUILD)/tests/list-keys: tests/programs/list-keys.c $(filter-out %/main.o,$(call objects,$(score_src))) \
    $(BUILD)/libbase.a Makefile
	@mkdir -p $(@D)
	$(QUIET)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -pie -o $@ \
	    $(filter %.c %.o %.a,$^) $(score_libs)

# The engines of the store, without what the store does with them.
$(BUILD)/tests/engine-driver: tests/programs/engine-driver.c $(filter-out %/main.o,$(call objects,$(store_src))) \
    $(BUILD)/libbase.a Makefile
	@mkdir -p $(@D)
	$(QUIET)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -pie -o $@ \
	    $(filter %.c %.o %.a,$^) $(store_libs)

# Benchmarks: programs that run in cells, and two that measure from outside.
bench_tools := $(addprefix $(BUILD)/bench/,nop floor stubborn syscalls interleave calls static-nop) $(BUILD)/bench-cells $(BUILD)/bench-score
$(BUILD)/bench/%: tests/bench/%.c tests/bench/measure.h Makefile
	@mkdir -p $(@D)
	$(QUIET)$(CC) -D_GNU_SOURCE -Isandbox/base -std=c17 $(WARNINGS) -O2 -static -o $@ $<
# As small as a static program gets: with musl.
$(BUILD)/bench/static-nop: tests/bench/nop.c Makefile
	@mkdir -p $(@D)
	$(QUIET)musl-gcc -std=c17 $(WARNINGS) -O2 -static -o $@ $<
$(BUILD)/bench-cells: tests/bench/cells.c tests/bench/measure.h $(BUILD)/obj/runner/channel.o $(BUILD)/libbase.a
	$(QUIET)$(CC) $(ALL_CPPFLAGS) -std=c17 $(WARNINGS) -O2 -o $@ $< $(filter %.o %.a,$^) -lcap

# Scoring, timed in one process; more values are read than assay-score would.
$(BUILD)/bench-score: tests/bench/score.c tests/bench/measure.h $(score_src) $(BUILD)/libbase.a Makefile
	$(QUIET)$(CC) $(ALL_CPPFLAGS) -std=c17 $(WARNINGS) -O2 -DJSON_MAX_VALUES=4000000 -o $@ $< \
	    $(filter-out %/main.c,$(score_src)) $(BUILD)/libbase.a $(score_libs)

# What attacks its cell from inside: without the library.
$(BUILD)/tests/escape/%: tests/escape/%.c Makefile
	@mkdir -p $(@D)
	$(QUIET)$(CC) -D_GNU_SOURCE -std=c17 $(WARNINGS) -O1 -g -static -pthread -MMD -MP -MF $@.d -o $@ $<

# What scores the cases of the second implementation (tests/reference).
$(BUILD)/tests/score-driver: tests/reference/driver.c $(filter-out %/main.o,$(call objects,$(score_src))) \
    $(BUILD)/libbase.a
	@mkdir -p $(@D)
	$(QUIET)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -pie -o $@ $(filter %.c %.o %.a,$^) $(score_libs)

# Unit tests, one program for each of ours: it sees every object of that program but its main().
units := $(addprefix $(BUILD)/tests/unit-,base cell unpack score runner judge store)
unit_of = $(call objects,$(wildcard tests/unit/test_$(1)_*.c tests/unit/$(1)_*.c)) \
          $(filter-out %/main.o,$(call objects,$(2))) $(BUILD)/libbase.a

$(BUILD)/tests/unit-base:   $(call unit_of,base,)
$(BUILD)/tests/unit-cell:   $(call unit_of,cell,$(cell_src))
$(BUILD)/tests/unit-unpack: $(call unit_of,unpack,$(unpack_src))
$(BUILD)/tests/unit-score:  $(call unit_of,score,$(score_src))
$(BUILD)/tests/unit-runner: $(call unit_of,runner,$(runner_src))
$(BUILD)/tests/unit-judge:  $(call unit_of,judge,$(judge_src))
$(BUILD)/tests/unit-store:  $(call unit_of,store,$(store_src))
$(units):
	@mkdir -p $(@D)
	$(call link,-pie,-lcriterion -lseccomp $(unpack_libs) $(score_libs) $(runner_libs) $(judge_libs) \
	    $(store_libs))
$(call objects,$(unit_src)): | $(filters)

.PHONY: tests
tests: all $(tools) $(BUILD)/tests/score-driver $(if $(SANITIZE),,$(takeover) $(attacks)) $(units)

.PHONY: packages-build packages-check packages-lint
packages-build:
	@tests/packages build
packages-check:
	@tests/packages build check
packages-lint:
	@tests/packages build check lint

.PHONY: demo
demo: packages-build
	@$(MAKE) --no-print-directory -s -j2 all
	@docs/examples/demo $(abspath $(BUILD))

.PHONY: check
check: packages-check
	@$(MAKE) --no-print-directory -s -j2 tests
	@tests/check $(abspath $(BUILD))

.PHONY: check-asan
check-asan: packages-check
	@$(MAKE) --no-print-directory -s -j2 tests
	@$(MAKE) --no-print-directory -s -j2 SANITIZE=1 tests
	@tests/check-asan $(abspath build/asan) $(abspath $(BUILD))

.PHONY: check-vm
check-vm: packages-check
	@tests/packages vm
	@$(MAKE) --no-print-directory -s -j2 tests
	@tests/vm/run $(abspath $(BUILD))

.PHONY: check-languages
check-languages: packages-check
	@tests/packages languages
	@$(MAKE) --no-print-directory -s -j2 all
	@ASSAY_BUILD=$(abspath $(BUILD)) bats --tap tests/languages

# Scores: the same by each compiler and level, and by a second implementation, of so many random cases.
SCORE_CASES ?= 20000
score_drivers := $(foreach c,gcc clang,$(foreach o,O0 O2,$(BUILD)/same/$(c)-$(o)/tests/score-driver))
$(score_drivers): $(BUILD)/same/%/tests/score-driver: $(score_src) $(base_src) tests/reference/driver.c Makefile
	@$(MAKE) --no-print-directory -s CC=$(firstword $(subst -, ,$*)) BUILD=$(BUILD)/same/$* \
	    OPTIMIZE=-$(lastword $(subst -, ,$*)) HARDENING=-fPIE $@

.PHONY: check-scoring
check-scoring: packages-lint
	@tests/packages scoring
	@$(MAKE) --no-print-directory -s -j2 score-drivers
	@tests/reference/run $(abspath $(BUILD)/same) $(SCORE_CASES)

.PHONY: score-drivers
score-drivers: $(score_drivers)

# Fuzzing: what reads the bytes of outsiders, built whole by clang with its sanitizers.
fuzz_tools := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/*.c))
FUZZ_SECONDS ?= 30
fuzz_objects := $(patsubst %.c,$(BUILD)/fuzz/obj/%.o,$(filter-out %/main.c,$(sort $(unpack_src) $(score_src) runner/call.c)) $(base_src))
fuzz_cc := clang -D_GNU_SOURCE -I. -Isandbox/base -Irunner -I$(BUILD)/gen -include sandbox/base/banned.h -std=c17 -O1 -g \
    -fno-sanitize-recover=undefined
.SECONDARY: $(fuzz_objects)
$(BUILD)/fuzz/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(QUIET)$(fuzz_cc) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<
$(BUILD)/fuzz/%: tests/fuzz/%.c tests/fuzz/shared.h tests/programs/tar_text.h $(fuzz_objects)
	$(if $(QUIET),@echo '  fuzz $<')
	$(QUIET)$(fuzz_cc) -fsanitize=fuzzer,address,undefined -o $@ $< $(filter %.o,$^) $(unpack_libs) $(score_libs)

.PHONY: fuzz
fuzz: packages-lint
	@$(MAKE) --no-print-directory -s -j2 tests $(fuzz_tools)
	@tests/fuzz/run $(abspath $(BUILD)) $(FUZZ_SECONDS)

.PHONY: bench
bench: packages-check
	@tests/packages bench
	@$(MAKE) --no-print-directory -s -j2 tests $(bench_tools)
	@tests/bench/run $(abspath $(BUILD))
	@tests/bench/evaluation $(abspath $(BUILD))
	@tests/bench/unpack $(abspath $(BUILD))
	@tests/bench/images $(abspath $(BUILD))
	@tests/bench/score $(abspath $(BUILD))
	@tests/bench/queue $(abspath $(BUILD))

.PHONY: lint
lint: packages-lint compile_commands.json
	@$(MAKE) --no-print-directory -s -j2 $(filters)
	@tests/lint
	@$(MAKE) --no-print-directory -s -j2 CC=clang BUILD=build/clang tests

c_files := $(base_src) sandbox/base/filter_gen.c $(cell_src) $(sort $(unpack_src) $(score_src) \
           $(judge_src) $(store_src) $(runner_src)) $(unit_src) $(wildcard tests/takeover/*.c) $(wildcard tests/bench/*.c) \
           $(wildcard tests/fuzz/*.c tests/reference/*.c)
compile_commands.json: Makefile $(c_files)
	@{ echo '['; sep=''; for f in $(c_files); do \
	    printf '%s{"directory": "%s", "file": "%s", "arguments": ["cc", "-std=c17", "-D_GNU_SOURCE", "-DASSAY_VERSION=\\"%s\\"", "-DTABLE=\\"sandbox/filter_table.h\\"", "-I.", "-Isandbox/base", "-Irunner", "-I$(BUILD)/gen", "-include", "sandbox/base/banned.h", "-Wall", "-Wextra", "-c", "%s"]}' \
	        "$$sep" "$(CURDIR)" "$$f" "$(VERSION)" "$$f"; sep=",$$(printf '\nx')"; sep="$${sep%x}"; done; \
	    echo; echo ']'; } > $@

# --- images --------------------------------------------------------------------------------

recipes := $(notdir $(filter-out %/build %.md,$(wildcard images/recipes/*)))

.PHONY: images packages-images $(addprefix images/,$(recipes))
images: $(addprefix images/,$(recipes))
$(addprefix images/,$(recipes)): images/%: $(BUILD)/images/%.tar
packages-images:
	@tests/packages images
$(BUILD)/images/%.tar: images/recipes/% images/recipes/build | packages-images
	@mkdir -p $(@D)
	@echo '  image  $*'
	$(QUIET)images/recipes/build $< $@

.PHONY: check-images
check-images: packages-check packages-images
	@$(MAKE) --no-print-directory -s -j2 tests
	@tests/packages check-images
	@$(MAKE) --no-print-directory -s images
	@ASSAY_BUILD=$(abspath $(BUILD)) bats --tap tests/images

# --- install -------------------------------------------------------------------------------

.PHONY: install
install: all
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(libexecdir) $(DESTDIR)$(mandir) $(DESTDIR)$(docdir)
	install -m 755 $(BUILD)/assay $(DESTDIR)$(bindir)/assay
	install -m 755 $(filter-out %/assay,$(programs)) $(DESTDIR)$(libexecdir)/
	install -m 644 docs/assay.1 docs/assay-exec.1 docs/assay-judge.1 $(DESTDIR)$(mandir)/
	install -m 644 README.md docs/*.md docs/*.schema.json $(DESTDIR)$(docdir)/
	cp -R docs/examples docs/templates $(DESTDIR)$(docdir)/
	chmod -R u=rwX,go=rX $(DESTDIR)$(docdir)/examples $(DESTDIR)$(docdir)/templates

.PHONY: uninstall
uninstall:
	rm -f $(DESTDIR)$(bindir)/assay $(addprefix $(DESTDIR)$(mandir)/,assay.1 assay-exec.1 assay-judge.1)
	rm -rf $(DESTDIR)$(libexecdir) $(DESTDIR)$(docdir)

.PHONY: clean
clean:
	rm -rf build $(BUILD) compile_commands.json

.PHONY: help
help:
	@echo 'make             build assay and its helpers in build/'
	@echo 'make demo        install what is missing, build, grade a sample submission'
	@echo 'make check       install what is missing, build, run all tests'
	@echo 'make check-asan  the unit and program tests under ASan and UBSan'
	@echo 'make check-vm    whole runs on a stock kernel with cgroup v2 alone, in an emulated machine'
	@echo 'make check-languages  programs of C, Go, Java, Node and Python in cells'
	@echo 'make check-images  the images, as other tools see them, and programs in them'
	@echo 'make check-scoring  scores of random cases, by a second implementation and by each compiler'
	@echo 'make images      images of Debian packages, in build/images/; make images/python one of them'
	@echo 'make fuzz        what reads archives, images, results and specs, fed with nonsense for FUZZ_SECONDS (30) each'
	@echo 'make lint        format, clang-tidy, cppcheck, shellcheck, a build with clang'
	@echo 'make bench       timings beside bwrap, runc and podman where installed'
	@echo 'make install     to PREFIX (/usr/local), below DESTDIR; uninstall takes it away'
	@echo 'make clean       remove what was built'

-include $(patsubst %.o,%.d,$(fuzz_objects) $(musl_objects) $(call objects,$(base_src) $(cell_src) $(unpack_src) $(score_src) $(judge_src) $(store_src) $(runner_src) $(unit_src) tests/takeover/hook.c)) $(wildcard $(BUILD)/tests/*.d $(BUILD)/tests/escape/*.d)
