/* SPDX-License-Identifier: BSD-3-Clause
 * qemu_counts.c: a plugin of qemu-user that counts instructions, for neon_counts.sh.
 *
 *   qemu-aarch64 -plugin qemu_counts.so,counts=FILE count_codecs
 *
 * Whenever the program enters a function whose name begins with "counted_", a line goes to FILE:
 * its name and how many instructions ran before. qemu's header is in no package of Debian, so what
 * is used of it is declared here, as version 1 of its interface has it. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;
typedef uint64_t qemu_plugin_id_t;
enum { QEMU_PLUGIN_INLINE_ADD_U64 = 0, QEMU_PLUGIN_CB_NO_REGS = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t id,
                                                            struct qemu_plugin_tb *block));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation,
                                              void *counter, uint64_t addend);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
                                            void (*callback)(unsigned cpu, void *user), int flags,
                                            void *user);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *instruction);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv);

#define PREFIX        "counted_"
#define MAX_FUNCTIONS 8u

static struct {
    char name[64];
    uint64_t address;
} functions[MAX_FUNCTIONS];
static size_t function_count;
static uint64_t instruction_count;
static FILE *counts;

static void
entered(unsigned cpu, void *user)
{
    (void)cpu;
    fprintf(counts, "%s %" PRIu64 "\n", (const char *)user, instruction_count);
    fflush(counts);
}

/* The name of the function that begins with this instruction, if it is one of those; NULL. A
 * function's first instruction is translated before its others. */
static char *
function_beginning_with(const struct qemu_plugin_insn *instruction)
{
    const char *const name = qemu_plugin_insn_symbol(instruction);
    const uint64_t address = qemu_plugin_insn_vaddr(instruction);
    if (name == NULL || strncmp(name, PREFIX, strlen(PREFIX)) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < function_count; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            return functions[i].address == address ? functions[i].name : NULL;
        }
    }
    if (function_count == MAX_FUNCTIONS || strlen(name) >= sizeof functions[0].name) {
        return NULL;
    }
    strcpy(functions[function_count].name, name);
    functions[function_count].address = address;
    return functions[function_count++].name;
}

static void
translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    struct qemu_plugin_insn *const first = qemu_plugin_tb_get_insn(block, 0);
    char *const name = function_beginning_with(first);
    if (name != NULL) {
        qemu_plugin_register_vcpu_insn_exec_cb(first, entered, QEMU_PLUGIN_CB_NO_REGS, name);
    }
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &instruction_count,
                                             qemu_plugin_tb_n_insns(block));
}

int
qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "counts=", strlen("counts=")) == 0) {
            counts = fopen(argv[i] + strlen("counts="), "w");
        }
    }
    if (counts == NULL) {
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
