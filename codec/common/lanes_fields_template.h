/* SPDX-License-Identifier: BSD-3-Clause
 * lanes_fields_template.h: reading, for lanes_fields.h. */

/* A vector of fields up to two bits narrower than a lane, the first at *bit, which goes on to the
 * end of the last. Bits beyond src_size are 0. */
H5TWIN_LANES_INLINE VECTOR
V(read_fields)(const uint8_t *src, size_t src_size, size_t *bit, VECTOR widths)
{
#if H5TWIN_VECTOR_BYTES == 16 && WORD_BITS == 64
    struct h5twin_lsb_reader reader = {src, src_size, *bit}; /* two may need more than 16 bytes */
    VECTOR fields = {0};
    fields[0] = h5twin_lsb_get(&reader, (unsigned)widths[0]);
    fields[1] = h5twin_lsb_get(&reader, (unsigned)widths[1]);
    *bit = reader.bit;
    return fields;
#else
    const size_t byte = *bit / 8;
    const VECTOR window = __builtin_expect(byte + H5TWIN_VECTOR_BYTES <= src_size, 1)
                              ? V(load)(src + byte)
                              : V(load_within)(src + (byte < src_size ? byte : src_size),
                                               byte < src_size ? src_size - byte : 0);
    const VECTOR ends = V(scan)(widths);
    const VECTOR begins = ends - widths + (LANE_TYPE)(*bit % 8);
    const VECTOR word = begins >> (WORD_BITS == 32 ? 5 : 6);
    const VECTOR low = V(permute)(window, word), high = V(permute)(window, word + 1);
    const VECTOR fields = V(double_shift)(low, high, begins);
    *bit += (size_t)V(last)(ends);
    return fields & ~V(up)(V(set)((LANE_TYPE)-1), widths);
#endif
}
