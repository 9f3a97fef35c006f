/** For tests of concurrent starts on one SQLite file. */
import { mock } from 'node:test';
import { WriterThread } from '../../foundation/database/sqlite-writer-thread.ts';

/**
 * Until disposed, the next `count` starts use the database only when all have opened it. Otherwise the first would migrate it
 * while the others start their threads. On a busy machine, it would then hold the lock of the file for longer than others
 * wait for it.
 */
export function openTogether(count: number): Disposable & { readonly count: number } {
  const opened = Reflect.get(WriterThread.prototype, 'opened');
  const all = Promise.withResolvers<void>();
  let remaining = count;
  const mocked = mock.method(WriterThread.prototype, 'opened', async function (this: WriterThread) {
    try {
      await opened.call(this);
    } finally {
      if (--remaining === 0) all.resolve();
      await all.promise;
    }
  });
  return { count, [Symbol.dispose]: () => mocked.mock.restore() };
}
