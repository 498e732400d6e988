/* SPDX-License-Identifier: BSD-3-Clause
 * xdmf.c: an XDMF 3 file beside a checkpoint. Fields on the same grid share one. */
#include "checkpoint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text {
    char *bytes;
    size_t length, capacity;
    bool has_failed;
};

static void __attribute__((format(printf, 2, 3))) put(struct text *text, const char *format, ...)
{
    for (int attempt = 0; attempt < 2 && !text->has_failed; attempt++) {
        va_list arguments;
        va_start(arguments, format);
        const size_t room = text->capacity - text->length;
        const int length = vsnprintf(text->bytes == NULL ? NULL : text->bytes + text->length, room,
                                     format, arguments);
        va_end(arguments);
        if (length < 0) {
            text->has_failed = true;
        } else if ((size_t)length < room) {
            text->length += (size_t)length;
            return;
        } else {
            const size_t capacity = 2 * text->capacity + (size_t)length + 1;
            char *const larger = realloc(text->bytes, capacity);
            text->has_failed = larger == NULL;
            text->bytes = larger == NULL ? text->bytes : larger;
            text->capacity = larger == NULL ? text->capacity : capacity;
        }
    }
}

/* Names are any UTF-8; in XML these five mean something. */
static void
put_name(struct text *text, const char *name)
{
    for (; *name != '\0'; name++) {
        switch (*name) {
        case '&':
            put(text, "&amp;");
            break;
        case '<':
            put(text, "&lt;");
            break;
        case '>':
            put(text, "&gt;");
            break;
        case '"':
            put(text, "&quot;");
            break;
        default:
            put(text, "%c", *name);
        }
    }
}

/* Whatever the locale's decimal point is. */
static void
put_number(struct text *text, double number)
{
    char digits[64];
    snprintf(digits, sizeof digits, "%.17g", number);
    bool has_point = false;
    for (const char *at = digits; *at != '\0'; at++) {
        if (strchr("0123456789+-einfa", *at) != NULL) {
            put(text, "%c", *at);
        } else if (!has_point) {
            put(text, ".");
            has_point = true;
        }
    }
}

/* Three extents: ParaView knows no grids of fewer. */
static void
three_dims(const struct draft_field *field, uint64_t dims[3])
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        dims[axis] = axis + field->rank < 3 ? 1 : field->dims[axis + field->rank - 3];
    }
}

static void
put_three(struct text *text, const struct draft_field *field, const double *numbers, double missing)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        put(text, "%s", axis == 0 ? "" : " ");
        put_number(text, axis + field->rank < 3 ? missing : numbers[axis + field->rank - 3]);
    }
}

static bool
is_drawn(const struct draft_field *field)
{
    bool is_empty = false;
    for (uint32_t axis = 0; axis < field->rank; axis++) {
        is_empty |= field->dims[axis] == 0;
    }
    return field->rank >= 1 && field->rank <= 3 && !is_empty;
}

static bool
has_same_grid(const struct draft_field *a, const struct draft_field *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, sizeof a->dims) == 0 &&
           memcmp(a->origin, b->origin, sizeof a->origin) == 0 &&
           memcmp(a->spacing, b->spacing, sizeof a->spacing) == 0;
}

static void
put_field(struct text *text, const struct draft_field *field, const char *file)
{
    const bool is_float =
        field->type == H5TWIN_CHECKPOINT_F32 || field->type == H5TWIN_CHECKPOINT_F64;
    const hid_t type = h5twin_checkpoint_type(field->type);
    const bool is_signed = is_float || H5Tget_sign(type) == H5T_SGN_2;
    uint64_t dims[3];
    three_dims(field, dims);
    put(text, "        <Attribute Name=\"");
    put_name(text, field->name);
    put(text, "\" AttributeType=\"Scalar\" Center=\"Node\">\n          <DataItem Dimensions=\"");
    put(text, "%llu %llu %llu", (unsigned long long)dims[0], (unsigned long long)dims[1],
        (unsigned long long)dims[2]);
    put(text, "\" NumberType=\"%s\" Precision=\"%zu\" Format=\"HDF\">",
        is_float    ? "Float"
        : is_signed ? "Int"
                    : "UInt",
        H5Tget_size(type));
    put_name(text, file);
    put(text, ":/");
    put_name(text, field->name);
    put(text, "</DataItem>\n        </Attribute>\n");
}

static void
put_grid(struct text *text, const struct draft *draft, size_t first, const char *file)
{
    const struct draft_field *const field = &draft->fields[first];
    uint64_t dims[3];
    three_dims(field, dims);
    put(text,
        "      <Grid Name=\"grid%zu\" GridType=\"Uniform\">\n"
        "        <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%llu %llu %llu\"/>\n"
        "        <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
        "          <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">",
        first, (unsigned long long)dims[0], (unsigned long long)dims[1],
        (unsigned long long)dims[2]);
    put_three(text, field, field->origin, 0);
    put(text, "</DataItem>\n"
              "          <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" "
              "Format=\"XML\">");
    put_three(text, field, field->spacing, 1);
    put(text, "</DataItem>\n        </Geometry>\n");
    for (size_t i = first; i < draft->field_count; i++) {
        if (is_drawn(&draft->fields[i]) && has_same_grid(field, &draft->fields[i])) {
            put_field(text, &draft->fields[i], file);
        }
    }
    put(text, "      </Grid>\n");
}

char *
h5twin_checkpoint_xdmf(const struct draft *draft, const char *file)
{
    struct text text = {.bytes = NULL};
    put(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<Xdmf Version=\"3.0\">\n"
               "  <Domain>\n"
               "    <Grid Name=\"checkpoint\" GridType=\"Collection\" CollectionType=\"Spatial\">\n"
               "      <Time Value=\"");
    put_number(&text, draft->time);
    put(&text, "\"/>\n");
    for (size_t i = 0; i < draft->field_count; i++) {
        bool is_first = is_drawn(&draft->fields[i]);
        for (size_t k = 0; k < i && is_first; k++) {
            is_first = !(is_drawn(&draft->fields[k]) &&
                         has_same_grid(&draft->fields[k], &draft->fields[i]));
        }
        if (is_first) {
            put_grid(&text, draft, i, file);
        }
    }
    put(&text, "    </Grid>\n  </Domain>\n</Xdmf>\n");
    if (text.has_failed) {
        free(text.bytes);
        return NULL;
    }
    return text.bytes;
}
