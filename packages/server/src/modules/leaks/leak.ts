/** Reports of leaked secrets, and what they end. */
import type { Transaction } from '../../foundation/database/db.ts';
import type { Principal } from '../../foundation/principal.ts';

/** The principals that report leaks. */
export type Reporter = Extract<Principal, { readonly kind: 'possessor' | 'github' | 'operator' }>;

/** Where a secret was found. The audit event has it. */
export interface LeakSource {
  readonly host: string;
  /** As in `owner/name`. */
  readonly repository?: string;
}

export interface ReportedText {
  readonly text: string;
  readonly source?: LeakSource;
}

/** Which secret of a key a text was. */
export type SecretKind = 'current' | 'previous' | 'short_lived';

/** A secret that a report has ended. */
export interface LeakedSecret {
  readonly secret: SecretKind;
  readonly keyId: number;
  readonly accountId: string;
  readonly nickname: string;
  /** Of the current secret of the key; null if it is not known. */
  readonly hint: string | null;
  readonly source?: LeakSource | undefined;
}

/** `unknown`: no key has the secret now. It may have been ended earlier, for example by the same report. */
export type LeakResult = SecretKind | 'unknown';

/** Mail about leaks. */
export interface LeakNotices {
  /** Called at the end of the transaction, before the audit events. @param at the time of the report, in milliseconds */
  queueTx(tx: Transaction, reporter: Reporter, leaked: readonly LeakedSecret[], at: number): Promise<void>;
  /** Called after the commit. */
  sendSoon(): void;
}
