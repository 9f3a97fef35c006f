/** Decodes an import file to UTF-8: gzip, UTF-16, and byte order marks. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { FileDamagedError } from './file-record.ts';
import { shapeOf } from './shapes.ts';

/** UTF-8, with a byte order mark if the file has one. @param isUnpacked whether it was compressed @throws FileDamagedError */
export async function* decode(source: AsyncIterable<Uint8Array>, isUnpacked = false): AsyncGenerator<Uint8Array> {
  const { prefix, all } = await peek(source, 4);
  switch (shapeOf(prefix)) {
    case 'gzip':
      // A file can contain itself.
      if (isUnpacked) throw new FileDamagedError('the file is compressed twice');
      return yield* decode(gunzip(all), true);
    case 'utf-16le':
      return yield* fromUtf16(all, 'utf-16le');
    case 'utf-16be':
      return yield* fromUtf16(all, 'utf-16be');
    default:
      yield* all;
  }
}

/** @returns at least so many of the first bytes, unless the source is shorter, and all bytes */
export async function peek(
  source: AsyncIterable<Uint8Array>,
  bytesMin: number,
): Promise<{ readonly prefix: Buffer; readonly all: AsyncIterable<Uint8Array> }> {
  const rest = source[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < bytesMin) {
    const next = await rest.next();
    if (next.done === true) break;
    chunks.push(next.value);
    length += next.value.length;
  }
  const all = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
      yield* { [Symbol.asyncIterator]: () => rest };
    } finally {
      await rest.return?.();
    }
  };
  return { prefix: Buffer.concat(chunks), all: all() };
}

async function* gunzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const unpacked = createGunzip();
  // It destroys `unpacked` with the error of the source, which the loop then throws.
  const fed = pipeline(Readable.from(source), unpacked).catch(() => undefined);
  try {
    yield* unpacked as AsyncIterable<Uint8Array>;
    await fed;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'Z_BUF_ERROR') throw new FileDamagedError('the file is cut off: its gzip data has no end');
    if (code.startsWith('Z_')) throw new FileDamagedError('the gzip data of the file is damaged from here on');
    throw error;
  }
}

async function* fromUtf16(
  source: AsyncIterable<Uint8Array>,
  encoding: 'utf-16le' | 'utf-16be',
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const chunk of source) yield Buffer.from(decoder.decode(chunk, { stream: true }));
    yield Buffer.from(decoder.decode());
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new FileDamagedError('the file is not valid UTF-16 from here on');
  }
}
