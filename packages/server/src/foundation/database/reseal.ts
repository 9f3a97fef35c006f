/** Seals all values of a column with another key, as a part of a rotation of the root key. */
import type { Sealer } from '../crypto/seal.ts';
import type { Transaction } from './db.ts';
import type { Statement } from './sql.ts';

export interface SealedRow {
  /** Orders the rows. */
  readonly key: string | number;
  /** The value is bound to it. */
  readonly id: string;
  readonly sealed: Uint8Array;
}

export interface SealedColumn {
  /** The rows after a key, in the order of keys. Values: the key, the maximum of rows. */
  readonly list: Statement<SealedRow>;
  /** Values: the key, the new value. */
  readonly replace: Statement<never>;
  /** Before all keys. */
  readonly start: string | number;
}

interface Resealing {
  readonly from: Sealer;
  readonly to: Sealer;
}

export interface Resealed {
  readonly resealed: number;
  /** Values that `from` does not open. They stay as they are: no key opens them. */
  readonly unreadable: number;
}

const rowsPerPage = 500;

/** Bounds the memory to one page. */
export async function resealColumnTx(
  tx: Transaction,
  { list, replace, start }: SealedColumn,
  { from, to }: Resealing,
): Promise<Resealed> {
  let resealed = 0;
  let unreadable = 0;
  for (let after = start; ;) {
    const rows = await tx.all(list, [after, rowsPerPage]);
    const opened = rows.map((row) => ({ ...row, plain: open(from, row) }));
    const readable = opened.flatMap(({ key, id, plain }) => (plain === undefined ? [] : [{ key, id, plain }]));
    await Promise.all(readable.map(({ key, id, plain }) => tx.run(replace, [key, to.seal(id, plain)])));
    resealed += readable.length;
    unreadable += rows.length - readable.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsPerPage) return { resealed, unreadable };
    after = last.key;
  }
}

function open(sealer: Sealer, { id, sealed }: SealedRow): string | undefined {
  try {
    return sealer.open(id, sealed);
  } catch {
    return undefined;
  }
}

export const sumOf = (parts: readonly Resealed[]): Resealed => ({
  resealed: parts.reduce((sum, part) => sum + part.resealed, 0),
  unreadable: parts.reduce((sum, part) => sum + part.unreadable, 0),
});
