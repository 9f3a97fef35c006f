/** Messages between a worker and the supervisor that writes for it. */
import type { ErrorCode } from '@keyreeve/contract';
import type { Share } from './share.ts';
import type { SqlValue } from './sql.ts';
import type { StatementKind } from './sqlite-steps.ts';

/** Statements of one operation. */
export interface OperationPart {
  /** Of the operation, unique in its worker. */
  readonly id: number;
  /** With the first part. */
  readonly start?: { readonly share: Share; readonly isLong: boolean };
  readonly statements: readonly (readonly [kind: StatementKind, text: string, values: readonly SqlValue[]])[];
  /** With the last part. `undo` leaves the database unchanged. */
  readonly end?: 'commit' | 'undo';
}

/** An error that crosses the channel. */
export interface RemoteError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
  readonly isOutcomeUnknown: boolean;
}

export type RemoteResponse =
  /** The results of a part that does not end the operation, in order. */
  | {
      readonly id: number;
      readonly results: readonly ({ readonly value: unknown } | { readonly error: RemoteError })[];
    }
  /** The end of an operation: after the commit, or at any time after a failure. */
  | { readonly id: number; readonly ended: true; readonly error?: RemoteError }
  /** Whether commits succeed. */
  | { readonly isHealthy: boolean };
