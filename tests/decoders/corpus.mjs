// SPDX-License-Identifier: BSD-3-Clause
// corpus.mjs WASM FOLDER: decode each NUMBER.STATUS.chunk of the folder by WebAssembly. It must be refused with
// that status, or, if it is 0, give NUMBER.array.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Decoder, DecoderError } from "../../decoders/h5twin_decoder.mjs";

const [wasm, folder] = process.argv.slice(2);
const decoder = await Decoder.load(readFileSync(wasm));
const counts = new Map();
for (const name of readdirSync(folder).filter((file) => file.endsWith(".chunk"))) {
    const [number, status] = name.split(".").map(Number);
    const chunk = readFileSync(join(folder, name));
    let said = 0;
    try {
        const array = decoder.decode(chunk);
        const expected = status === 0 ? readFileSync(join(folder, `${number}.array`)) : null;
        if (expected !== null && Buffer.compare(array, expected) !== 0) {
            throw new Error(`${name}: another array`);
        }
    } catch (error) {
        if (!(error instanceof DecoderError)) {
            throw error;
        }
        said = error.status;
    }
    if (said !== status) {
        throw new Error(`${name}: ${said}`);
    }
    counts.set(status, (counts.get(status) ?? 0) + 1);
}
for (const status of [0, 1, 2, 3, 4]) {
    if (!counts.has(status)) {
        throw new Error(`no chunk with status ${status}: is ${folder} the corpus of test_decoders?`);
    }
}
console.log("chunks by status:", Object.fromEntries([...counts].sort()));
