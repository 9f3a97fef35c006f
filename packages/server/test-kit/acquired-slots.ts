/** Counts the slots that requests to services in this process have occupied. A request sent to find out would occupy one. */
import { mock } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { RequestSlots, type RequestBounds } from '../src/http/request-gate.ts';

export interface AcquiredSlots extends Disposable {
  /** An account has occupied a slot once its credential has been verified. */
  readonly count: (kind: keyof RequestBounds, name: string) => number;
}

export function countAcquired(): AcquiredSlots {
  const spy = mock.method(RequestSlots.prototype, 'acquire');
  return {
    count: (kind, name) =>
      spy.mock.calls.filter((call) => call.error === undefined && isDeepStrictEqual(call.arguments, [kind, name]))
        .length,
    [Symbol.dispose]: () => spy.mock.restore(),
  };
}
