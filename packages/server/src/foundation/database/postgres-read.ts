/** One statement on a connection to PostgreSQL, outside a transaction. */
import type pg from 'pg';
import { Batch, BatchItem } from './postgres-batch.ts';
import { isConnectionLost, serverOf } from './postgres-connection.ts';
import type { ParameterValue } from './postgres-parameters.ts';
import { UnprovenServerError, type PrimaryProof } from './primary-proof.ts';
import type { Statement } from './sql.ts';

export interface Read {
  readonly statement: Statement<unknown>;
  readonly values: readonly ParameterValue[];
}

/** Releases the connection, which is closed after an error. @throws UnprovenServerError, or another Error */
export async function readOn(
  client: pg.PoolClient,
  { statement, values }: Read,
  msMax: number,
  proof: PrimaryProof | undefined,
): Promise<unknown[]> {
  const item = new BatchItem(statement, values, true);
  let isBroken = true;
  try {
    await new Batch([item], msMax).run(client);
    isBroken = false;
    assertProven(client, proof);
    return item.rows ?? [];
  } finally {
    client.release(isBroken);
  }
}

/** Call it after the read: the process may have been stopped meanwhile. @throws UnprovenServerError */
export function assertProven(client: pg.ClientBase, proof: PrimaryProof | undefined): void {
  if (!proof) return;
  const server = serverOf(client);
  if (!server) throw new UnprovenServerError('the PostgreSQL server has no identity');
  proof.assertProven(server);
}

/** Whether a read that has failed can succeed on another connection. A statement that writes may have been executed. */
export const isRepeatable = (statement: Statement<unknown>, error: unknown): boolean =>
  writesNothing(statement) && isConnectionLost(error) && !(error instanceof UnprovenServerError);

export const writesNothing = ({ text }: Statement<unknown>): boolean =>
  /^\s*(?:select|with)\b/.test(text.postgres) && !/\b(?:insert|update|delete|merge)\b/.test(text.postgres);
