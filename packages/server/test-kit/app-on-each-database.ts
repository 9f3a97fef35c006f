/** `test` of node:test, once for each database. `newApp()` uses the database of the running test. */
import { test as nodeTest, type TestOptions } from 'node:test';
import { currentKind, databaseKinds } from './new-db.ts';

type Prove = () => Promise<void> | void;

export function test(guarantee: string, options: TestOptions | Prove, prove?: Prove): void {
  const [settings, body] = typeof options === 'function' ? [{}, options] : [options, prove ?? (() => undefined)];
  for (const kind of databaseKinds) {
    nodeTest(`${guarantee} (${kind})`, settings, () => currentKind.run(kind, async () => body()));
  }
}
