/** Ending a transaction so that "committed" is only said of what lasts, and "not committed" of what never will be. */
import type pg from 'pg';
import { sqlState } from './postgres-connection.ts';
import { unavailable } from './unavailable.ts';

/**
 * @throws DomainError `unavailable`, with `isOutcomeUnknown` unless the server said that nothing was committed: a
 *   connection that breaks between the question and its answer tells nothing, nor does a server that shuts down
 */
export async function commit(client: pg.PoolClient, query_timeout: number): Promise<void> {
  // A commit that stops waiting for its standby succeeds with a warning: it may be lost with this server.
  const warnings: unknown[] = [];
  const listen = (notice: { severity?: string | undefined }): void => {
    if (notice.severity === 'WARNING') warnings.push(notice);
  };
  client.on('notice', listen);
  let command: string;
  try {
    ({ command } = await client.query({ text: 'commit', query_timeout } as pg.QueryConfig));
  } catch (error) {
    throw unavailable(error, !wasRefused(error));
  } finally {
    client.removeListener('notice', listen);
  }
  if (command !== 'COMMIT') throw unavailable(new Error('the transaction had failed before it was to be committed'));
  if (warnings.length > 0) throw unavailable(warnings[0], true);
}

/** Classes 23 and 40: a deferred constraint, a rollback. */
const wasRefused = (error: unknown): boolean => /^(?:23|40)/.test(sqlState(error) ?? '');
