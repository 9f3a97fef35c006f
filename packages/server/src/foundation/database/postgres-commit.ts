/** Ending a transaction so that "committed" is only said of what lasts, and "not committed" of what never will be. */
import type pg from 'pg';
import { sqlState } from './postgres-connection.ts';
import { unavailable } from './unavailable.ts';

// A transaction that changed nothing would be answered without waiting for anything, also when what it found done
// already was done by a commit that has not reached the standby yet. A few bytes of its own in the log, and it waits as
// that one does.
const commitStatement = `select pg_logical_emit_message(true, 'keyreeve', ''); commit`;

/**
 * @throws DomainError `unavailable`, with `isOutcomeUnknown` unless the server said that nothing was committed: a
 *   connection that breaks between the question and its answer tells nothing, nor does a server that shuts down
 */
export async function commit(client: pg.PoolClient, query_timeout: number): Promise<void> {
  // A commit that stops waiting for its standby succeeds with a warning: it may be lost with this server.
  const warnings: unknown[] = [];
  const listen = (notice: { code?: string | undefined }): void => {
    if (notice.code?.startsWith('01')) warnings.push(notice);
  };
  client.on('notice', listen);
  let command: string;
  try {
    const results: unknown = await client.query({ text: commitStatement, query_timeout } as pg.QueryConfig);
    command = (results as pg.QueryResult[]).at(-1)?.command ?? '';
  } catch (error) {
    throw unavailable(error, !wasRefused(error));
  } finally {
    client.removeListener('notice', listen);
  }
  if (command !== 'COMMIT') throw unavailable(new Error('the transaction had failed before it was to be committed'));
  if (warnings.length > 0) throw unavailable(warnings[0], true);
}

/** Classes 23, 25 and 40: a deferred constraint, a transaction that had failed, a rollback. */
const wasRefused = (error: unknown): boolean => /^(?:23|25|40)/.test(sqlState(error) ?? '');
