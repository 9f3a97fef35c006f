/** The service of the proxy tests of a file. */
import { after } from 'node:test';

/**
 * Call once in a file. @returns a function that starts the service at its first call, in a test: if a filter of names excludes all
 * tests of the file, a hook would start it, and nothing would stop it
 */
export function startedOnce<Server extends { readonly stop: () => Promise<void> }>(
  start: () => Promise<Server>,
): () => Promise<Server> {
  let started: Promise<Server> | undefined;
  after(async () => (await started)?.stop());
  return () => (started ??= start());
}
