/** How long an operation waits for its database. */
import { limits } from '@keyreeve/contract/limits';

/** Milliseconds. An operation that waits longer fails with `unavailable`. */
export interface DatabaseWaits {
  /** For a connection to PostgreSQL. */
  readonly connectMsMax: number;
  /** For a statement on the server, lock waits included. */
  readonly statementMsMax: number;
  /** For the response to a statement. Then the connection is closed. */
  readonly answerMsMax: number;
  /** Of a write, for its turn. */
  readonly turnMsMax: number;
  /** For the next primary, after a server has announced its end. */
  readonly handoverMsMax: number;
}

export const databaseWaits: DatabaseWaits = {
  connectMsMax: limits.postgresConnectMsMax,
  statementMsMax: limits.postgresStatementMsMax,
  answerMsMax: limits.postgresAnswerMsMax,
  turnMsMax: limits.writeWaitMsMax,
  handoverMsMax: limits.postgresHandoverMsMax,
};
