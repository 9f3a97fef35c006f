/** Keeps requests in progress: lists whose handlers wait until the test lets them finish. */
import { mock } from 'node:test';
import type { Answered, TestApp } from './new-app.ts';
import { until } from './until.ts';

export interface HeldLists extends Disposable {
  /** The first arguments of the handlers that have begun. */
  readonly begun: readonly unknown[];
  /** Resolves when the handler of the request waits. @param send requests such a list */
  readonly begin: (send: () => Promise<Answered>) => Promise<{ readonly answer: Promise<Answered> }>;
  /** Later lists do not wait. */
  readonly finish: () => void;
}

interface Spy {
  readonly mock: { readonly calls: readonly { readonly arguments: readonly unknown[] }[]; restore(): void };
}

/** Lists of API keys without parameters, which an account reads in turn. */
export function holdLists(app: TestApp): HeldLists {
  const { apiKeys } = app.service.services;
  const list = apiKeys.list.bind(apiKeys);
  return hold((ready) => mock.method(apiKeys, 'list', (accountId: string) => ready.then(() => list(accountId))));
}

/** Lists of sessions. */
export function holdSessionLists(app: TestApp): HeldLists {
  const { tokenPairs } = app.service.services;
  const list = tokenPairs.listSessions.bind(tokenPairs);
  return hold((ready) =>
    mock.method(tokenPairs, 'listSessions', (...of: Parameters<typeof list>) => ready.then(() => list(...of))),
  );
}

function hold(start: (ready: Promise<void>) => Spy): HeldLists {
  const { promise, resolve } = Promise.withResolvers<void>();
  const spy = start(promise);
  return {
    get begun() {
      return spy.mock.calls.map((call) => call.arguments[0]);
    },
    begin: async (send) => {
      const before = spy.mock.calls.length;
      const answer = send();
      await until('the handler of the request waits', () => spy.mock.calls.length > before);
      return { answer };
    },
    finish: resolve,
    [Symbol.dispose]: () => spy.mock.restore(),
  };
}
