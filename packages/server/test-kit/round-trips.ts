/** A service on PostgreSQL behind a proxy that counts how often each transaction waits for the database. */
import { FaultProxy } from '../test/revocation-check/fault-proxy.ts';
import { newApp, type TestApp } from './new-app.ts';
import { newPlace } from './new-db.ts';

export type RoundTrips = readonly [transaction: string, roundTrips: number];

/**
 * @param transactions by name: a part of the name of a statement that only this transaction contains. The first that
 *   matches counts; others are not recorded
 * @param prove receives the service, with rate limits, and the transactions that it has committed since the start
 */
export async function countRoundTrips(
  transactions: Readonly<Record<string, string>>,
  prove: (app: TestApp, committed: RoundTrips[]) => Promise<void>,
): Promise<void> {
  await using place = await newPlace('postgres');
  await using proxy = await FaultProxy.start(place.url);
  const environment = {
    ...place.environment,
    KEYREEVE_DATABASE_URL: proxy.through(place.url),
    KEYREEVE_THROTTLE: 'on',
  };
  await using app = await newApp({ place: { ...place, environment } });
  const committed: RoundTrips[] = [];
  proxy.onCommit = (text, roundTrips) => {
    const found = Object.entries(transactions).find(([, statement]) => text.includes(statement));
    if (found) committed.push([found[0], roundTrips]);
  };
  await prove(app, committed);
}
