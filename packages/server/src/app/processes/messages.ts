/** Messages between the main process and the processes that only verify, over the channel of `child_process.fork`. */
import type { FileIdentity } from '../../foundation/database/file-identity.ts';
import type { PlainError } from '../../foundation/database/plain-error.ts';
import type { DrawRequest, DrawResult } from '../../modules/key-limits/draws.ts';
import type { CollectedUse } from '../../modules/key-usage/use-collector.ts';
import type { VerifierReport } from './verifier-report.ts';

/** What a change of unknown outcome concerns: an API key, an account, a scope or an issuer. */
export type PendingSubject = 'keys' | 'accounts' | 'scopes' | 'issuers';

/** The ids of changes of unknown outcome. */
export interface PendingSets {
  readonly keys: readonly number[];
  readonly accounts: readonly string[];
  readonly scopes: readonly string[];
  readonly issuers: readonly number[];
}

export type ToVerifier =
  /** With the socket on which it listens. */
  | {
      readonly kind: 'start';
      /** Of the main process. After an upgrade in place, that of the verifier can be another. */
      readonly build: string;
      /** Number of the verifier, from 1. A replacement has the same number. */
      readonly verifier: number;
      /** Of the main process. */
      readonly mainPid: number;
      readonly publicUrl: string;
      /** The SQLite files that the main process has open. The verifier must open the same files. */
      readonly database: FileIdentity | undefined;
      readonly pending: PendingSets;
      /** The priority that the main process had before it lowered its own. */
      readonly priority: number;
      /** Whether the socket is a unix socket. */
      readonly isUnix: boolean;
    }
  | {
      readonly kind: 'pending';
      /** Ascending. */
      readonly sequence: number;
      readonly subject: PendingSubject;
      readonly id: number | string;
      readonly isPending: boolean;
    }
  | Drawn
  | { readonly kind: 'stop' };

/** The response to a draw. */
export type Drawn = { readonly kind: 'drawn'; readonly id: number } & (
  | { readonly result: DrawResult }
  | { readonly error: PlainError }
);

export type ToMain =
  | { readonly kind: 'listening' }
  /** All pending changes up to this one are applied: the verifier answers 503 for their ids. */
  | { readonly kind: 'pending_known'; readonly sequence: number }
  | { readonly kind: 'draw'; readonly id: number; readonly request: DrawRequest }
  | { readonly kind: 'report'; readonly report: VerifierReport }
  /** A part of what verifications have shown of keys. */
  | { readonly kind: 'uses'; readonly uses: readonly CollectedUse[] };
