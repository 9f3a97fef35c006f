/** Reads the records of files of other systems. */
import { createReadStream } from 'node:fs';
import type { FormatOptions } from '../formats.ts';
import { LineRejectedError } from '../file-record.ts';
import type { Records } from '../records.ts';

/** A file in the format in which the system writes it. */
export const fileOf = (name: string): URL => new URL(`../../../../test/data/import/${name}`, import.meta.url);
const now = Date.UTC(2026, 10, 21);
export const options: FormatOptions = { now };

/** @param file its text, or where it is @returns records, or the reasons of rejected ones */
export async function read(records: Records, file: string | URL): Promise<{ found: unknown[]; warnings: string[] }> {
  const warnings: string[] = [];
  const source = async function* (): AsyncGenerator<Uint8Array> {
    if (typeof file === 'string') yield Buffer.from(file);
    else yield* createReadStream(file) as AsyncIterable<Buffer>;
  };
  const found: unknown[] = [];
  for await (const { object } of records(source(), (line, reason) => warnings.push(`${line}: ${reason}`)))
    found.push(object instanceof LineRejectedError ? object.message : object);
  return { found, warnings };
}
