/** Commits a transaction. Success means that the commit is durable; a failure states whether the outcome is unknown. */
import type pg from 'pg';
import { sqlState } from './postgres-connection.ts';
import { unavailable } from './unavailable.ts';

// PostgreSQL does not wait for the standby when it commits a transaction without changes. Such a transaction may have read
// a commit that has not reached the standby yet. With a logical message in its log, it waits like that commit.
const commitStatement = `select pg_logical_emit_message(true, 'keyreeve', ''); commit`;

/**
 * @param query_timeout milliseconds
 * @throws DomainError `unavailable`, with `isOutcomeUnknown` unless the server reported that nothing was committed. The
 *   outcome is unknown if the connection breaks before the response, or if the server shuts down.
 */
export async function commit(client: pg.PoolClient, query_timeout: number): Promise<void> {
  // A commit that stops waiting for its standby succeeds with a warning: it would be lost with this server.
  const warnings: unknown[] = [];
  const onNotice = (notice: { code?: string | undefined }): void => {
    if (notice.code?.startsWith('01')) warnings.push(notice);
  };
  client.on('notice', onNotice);
  let command: string;
  try {
    const results: unknown = await client.query({ text: commitStatement, query_timeout } as pg.QueryConfig);
    command = (results as pg.QueryResult[]).at(-1)?.command ?? '';
  } catch (error) {
    throw unavailable(error, !wasRejected(error));
  } finally {
    client.removeListener('notice', onNotice);
  }
  if (command !== 'COMMIT') throw unavailable(new Error('the transaction had failed before the commit'));
  if (warnings.length > 0) throw unavailable(warnings[0], true);
}

/** Classes 23, 25 and 40: a deferred constraint, a failed transaction, a rollback. */
const wasRejected = (error: unknown): boolean => /^(?:23|25|40)/.test(sqlState(error) ?? '');
