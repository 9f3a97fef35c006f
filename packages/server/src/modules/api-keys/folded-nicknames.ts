/**
 * Fills what searches for nicknames use and other statements do not: the folded forms of nicknames that an earlier program has
 * stored, and the index of SQLite. Until then a search reads the key itself, and it finds a nickname that is not folded in any case of
 * ASCII letters only.
 */
import type { Db } from '../../foundation/database/db.ts';
import { fold } from '../../foundation/fold.ts';
import { findUnfolded, indexNames, storeFolded } from './name-store.ts';

/** Rows per commit, so that other commits do not wait long. */
const rowsPerPageMax = 500;

/** Folds and indexes one page of nicknames. Several processes may do so at the same time. @returns whether there may be more */
export async function foldNicknames(db: Db): Promise<boolean> {
  const rows = await findUnfolded(db, rowsPerPageMax);
  if (rows.length > 0)
    await storeFolded(
      db,
      rows.map(({ id, nickname }) => ({ id, nickname, folded: fold(nickname) })),
    );
  const indexed = await indexNames(db, rowsPerPageMax);
  return rows.length === rowsPerPageMax || indexed === rowsPerPageMax;
}
