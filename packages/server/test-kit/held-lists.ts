/** Keeps requests in progress: lists of API keys, whose handlers wait until the test lets them finish. */
import { mock } from 'node:test';
import type { Answered, TestApp } from './new-app.ts';
import { until } from './until.ts';

export interface HeldLists extends Disposable {
  /** Resolves when the handler of the request waits. @param send requests a list of API keys without parameters */
  readonly begin: (send: () => Promise<Answered>) => Promise<{ readonly answer: Promise<Answered> }>;
  /** Later lists do not wait. */
  readonly finish: () => void;
}

export function holdLists(app: TestApp): HeldLists {
  const { apiKeys } = app.service.services;
  const list = apiKeys.list.bind(apiKeys);
  const { promise, resolve } = Promise.withResolvers<void>();
  const spy = mock.method(apiKeys, 'list', async (accountId: string) => {
    await promise;
    return list(accountId);
  });
  return {
    begin: async (send) => {
      const before = spy.mock.callCount();
      const answer = send();
      await until('the handler of the request waits', () => spy.mock.callCount() > before);
      return { answer };
    },
    finish: resolve,
    [Symbol.dispose]: () => spy.mock.restore(),
  };
}
