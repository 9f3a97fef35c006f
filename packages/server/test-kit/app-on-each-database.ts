/**
 * Tests of the whole service. `newApp()` uses the database of the running test.
 */
import { test as nodeTest, type TestOptions } from 'node:test';
import { currentKind, databaseKinds, testedKinds } from './new-db.ts';
import type { Dialect } from '../src/foundation/database/sql.ts';

type Prove = () => Promise<void> | void;
type Rest = [prove: Prove] | [options: TestOptions, prove: Prove];

/** A test of what does not depend on the database: on SQLite in `npm test`, on PostgreSQL in the extended lane. */
export const test = (guarantee: string, ...rest: Rest): void => register(testedKinds, guarantee, rest);

/**
 * A test of what depends on the database, such as races, unknown outcomes, and statements that are written for each: on both in
 * `npm test`.
 */
export const testOnBoth = (guarantee: string, ...rest: Rest): void => register(databaseKinds, guarantee, rest);

function register(kinds: readonly Dialect[], guarantee: string, [options, body]: Rest): void {
  const [settings, prove] = typeof options === 'function' ? [{}, options] : [options, body];
  for (const kind of kinds) {
    nodeTest(`${guarantee} (${kind})`, settings, () => currentKind.run(kind, async () => prove?.()));
  }
}
