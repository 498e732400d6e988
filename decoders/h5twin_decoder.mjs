// SPDX-License-Identifier: BSD-3-Clause
// h5twin_decoder.mjs: chunks of the HDF5 filters cascade (485) and lattice (486) in JavaScript, by the
// WebAssembly that build_wasm.sh makes. For browsers and Node.
//
//     import { Decoder } from "./h5twin_decoder.mjs";
//     const decoder = await Decoder.load(await (await fetch("h5twin_decoder.wasm")).arrayBuffer());
//     const bytes = decoder.decode(chunk);                 // chunk: a Uint8Array, as it is stored
//     const values = new Float32Array(bytes.buffer);       // of a little-endian dataset

const REASONS = [
    "",
    "this is no chunk of h5twin",
    "the chunk contradicts its format",
    "the chunk was written by a newer h5twin: get newer decoders",
    "the chunk changed since it was written: its checksum is wrong",
    "this is a chunk of another codec of h5twin than cascade and lattice",
];

export class DecoderError extends Error {
    // status: as in cascade.c, 1 .. 5
    constructor(status) {
        super(REASONS[status] ?? `status ${status}`);
        this.name = "DecoderError";
        this.status = status;
    }
}

export class Decoder {
    #exports;

    constructor(instance) {
        this.#exports = instance.exports;
    }

    // bytes: the WebAssembly, as an ArrayBuffer or a typed array
    static async load(bytes) {
        return new Decoder((await WebAssembly.instantiate(bytes)).instance);
    }

    // Bytes of the array in a chunk, before anything is decoded: a reader compares them with the
    // dataset's chunk. And the bytes of memory that decoding takes.
    sizes(chunk) {
        const [at] = this.#place(chunk.length);
        return this.#sizes(at, chunk);
    }

    // The array of one chunk, in a buffer of its own. Throws a DecoderError; a RangeError if
    // there is not enough memory.
    decode(chunk) {
        const [at] = this.#place(chunk.length);
        const { raw, work } = this.#sizes(at, chunk);
        const [src, dst, room] = this.#place(chunk.length, raw, work);
        const status = this.#exports.h5twin_decoder_decode(dst, room, src, chunk.length);
        if (status !== 0) {
            throw new DecoderError(status);
        }
        return new Uint8Array(this.#exports.memory.buffer).slice(dst, dst + raw);
    }

    #sizes(at, chunk) {
        const memory = new Uint8Array(this.#exports.memory.buffer);
        const sizes = this.#exports.__heap_base.value;
        memory.set(chunk, at);
        const status = this.#exports.h5twin_decoder_sizes(at, chunk.length, sizes);
        if (status !== 0) {
            throw new DecoderError(status);
        }
        const view = new DataView(this.#exports.memory.buffer);
        return {
            raw: Number(view.getBigUint64(sizes, true)),
            work: Number(view.getBigUint64(sizes + 8, true)),
        };
    }

    // Addresses of pieces of so many bytes, behind the 16 of sizes; memory grows as needed.
    #place(...pieces) {
        const memory = this.#exports.memory;
        const addresses = [];
        let end = this.#exports.__heap_base.value + 16;
        for (const size of pieces) {
            end = Math.ceil(end / 16) * 16;
            addresses.push(end);
            end += size;
        }
        const pages = Math.ceil(end / 65536) - memory.buffer.byteLength / 65536;
        if (pages > 0) {
            memory.grow(pages);
        }
        return addresses;
    }
}
