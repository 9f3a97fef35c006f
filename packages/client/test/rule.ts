/** A rule of the library, and the client that most of them check: without a network, and with a clock that the test moves. */
import type { Client } from '../src/client.ts';
import { HeldTransport, settled } from './held-transport.ts';
import type { ServiceKey } from '../src/service-key.ts';
import type { Library } from './library.ts';
import { ManualTimers } from './manual-timers.ts';

export interface Rule {
  /** What the client guarantees. */
  readonly name: string;
  readonly check: (library: Library) => Promise<void> | void;
}

export const serviceKey = 'krv_service';

export const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

export interface Held {
  readonly client: Client;
  /** Starts a verification that may fail before the test looks at it. */
  readonly start: Client['verify'];
  readonly timers: ManualTimers;
  readonly sent: HeldTransport['sent'];
  /** Messages. */
  readonly logged: readonly string[];
}

/** A client whose batches the test answers. */
export function held({ Client }: Library, key: ServiceKey = serviceKey): Held {
  const transport = new HeldTransport();
  const timers = new ManualTimers();
  const logged: string[] = [];
  const options = {
    url: 'https://auth.example.com',
    serviceKey: key,
    log: (message: string) => void logged.push(message),
  };
  const client = new Client(options, () => transport, timers);
  const start: Client['verify'] = (credential, asked) => {
    const verified = client.verify(credential, asked);
    verified.catch(() => undefined);
    return verified;
  };
  return { client, start, timers, sent: transport.sent, logged };
}

export const isUnavailable =
  ({ KeyreeveUnavailable }: Library) =>
  (error: unknown): boolean =>
    error instanceof KeyreeveUnavailable && error.code === 'unavailable';

/** @returns what has become of the promise until now */
export async function outcomeNow<T>(promise: Promise<T>): Promise<PromiseSettledResult<T> | { status: 'pending' }> {
  const [now] = await Promise.all([
    Promise.race([
      promise.then(
        (value) => ({ status: 'fulfilled', value }) as const,
        (reason: unknown) => ({ status: 'rejected', reason }) as const,
      ),
      settled().then(() => ({ status: 'pending' }) as const),
    ]),
    settled(),
  ]);
  return now;
}
