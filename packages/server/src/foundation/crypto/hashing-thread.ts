/**
 * The hashing thread computes one password digest after another at a lower priority than the threads that answer requests.
 * `hashing-threads.ts` starts it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { monotonicMs } from '../clock.ts';
import { lowerPriority } from '../priority.ts';
import { computeDigest } from './digest.ts';
import type { ForeignRecipe } from './foreign-hash.ts';

export interface HashingRequest {
  readonly id: number;
  readonly recipe: ForeignRecipe;
  readonly password: string | Uint8Array;
  /** Hashes that are computed after it for the same duration of all requests. Their results are discarded. */
  readonly padding: readonly ForeignRecipe[];
}

export interface Digest {
  readonly digest: Uint8Array;
  /** Duration of the computation, in milliseconds. */
  readonly ms: number;
}

/** `warning`: the reason why the thread has the usual priority. Sent before any digest. */
export type HashingResponse =
  | ({ readonly id: number } & (Digest | { readonly error: string }))
  | { readonly warning: string };

const port = parentPort;
if (!port) throw new Error('hashing-thread must run as a worker thread');
const send = (response: HashingResponse): void => port.postMessage(response);

// On other systems, this would lower the priority of the whole process.
const { usualPriority } = workerData as { readonly usualPriority: number };
const warning =
  process.platform === 'linux'
    ? lowerPriority(undefined, usualPriority)
    : `${process.platform} has no priorities of threads`;
if (warning !== undefined) send({ warning });

port.on('message', ({ id, recipe, password, padding }: HashingRequest) => {
  try {
    const startedMs = monotonicMs();
    const digest = new Uint8Array(computeDigest(recipe, password));
    for (const each of padding) computeDigest(each, password);
    send({ id, digest, ms: monotonicMs() - startedMs });
  } catch (error) {
    send({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
port.on('messageerror', (error) => {
  throw error;
});
