/** Counts the bodies of requests to a service in this process. A body begins after the caller of the request was authenticated. */
import { mock } from 'node:test';
import { UnfinishedBodies } from '../src/http/unfinished-bodies.ts';

export interface BegunBodies extends Disposable {
  readonly begun: number;
  /** Those that still count. */
  readonly unfinished: number;
}

export function countBodies(): BegunBodies {
  const spy = mock.method(UnfinishedBodies.prototype, 'begin');
  return {
    get begun() {
      return spy.mock.callCount();
    },
    get unfinished() {
      const bodies = spy.mock.calls[0]?.this;
      return bodies instanceof UnfinishedBodies ? bodies.count : 0;
    },
    [Symbol.dispose]: () => spy.mock.restore(),
  };
}
