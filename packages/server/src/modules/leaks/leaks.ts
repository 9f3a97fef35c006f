/**
 * Ends secrets of API keys that have leaked. A report contains the secret itself, so it needs no credential: a caller that
 * has a secret can use it anyway.
 */
import { shortLivedSecretPrefix } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { formOf, shortLivedFormOf } from '../api-keys/key-format.ts';
import type { PendingChanges } from '../deletion-journal/pending-changes.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { endReportedTx, findReported, type EndedSecret, type HeldSecret, type Reported } from './ending.ts';
import type { LeakNotices, LeakResult, ReportedText, Reporter, SecretKind } from './leak.ts';

export type { LeakedSecret, LeakNotices, LeakResult, LeakSource, ReportedText, Reporter, SecretKind } from './leak.ts';

/** Texts of one read. A transaction ends as many secrets, or all of one account. So other commits do not wait long. */
const textsPerBatch = 256;

export interface LeaksOptions extends RecordingCore {
  readonly hash: KeyedHash;
  /** All prefixes of API keys that the installation accepts. */
  readonly keyPrefixes: readonly string[];
  /** Keys with a change of unknown outcome. */
  readonly pending: PendingChanges<number>;
  /** Absent: reports send no mail. */
  readonly notices?: LeakNotices;
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
   * @param reported of any number and length; the secrets of an account end in one transaction, so it gets one mail
   * @returns for each text, in order, what it was; equal texts get the same result
   * @throws DomainError `unavailable`; earlier batches stay in force, and the caller may repeat the whole report
   */
  async report(principal: Reporter, reported: readonly ReportedText[]): Promise<readonly LeakResult[]> {
    const { db, hash } = this.#options;
    const hashes = reported.map(({ text }) => (this.hasFormat(text) ? hash.stored(text).toString('hex') : undefined));
    const distinct = new Map<string, Reported>();
    for (const [index, { text, source }] of reported.entries()) {
      const hex = hashes[index];
      if (hex === undefined || distinct.has(hex)) continue;
      // A prefix of keys may begin with `krvt_`, as in `krvt_live`.
      const isShortLived = shortLivedFormOf(text) === 'key';
      distinct.set(hex, { hash: Buffer.from(hex, 'hex'), isShortLived, source });
    }
    const results = new Map<string, SecretKind>();
    // The reads come first: texts that no key has do not separate the secrets of an account.
    const held: HeldSecret[] = [];
    for (const batch of batchesOf([...distinct.values()])) held.push(...(await findReported(db, batch)));
    for (const batch of byAccount(held)) {
      for (const { hash: ended, secret } of await this.#endAll(principal, batch)) results.set(ended, secret);
    }
    // Another commit, which may not have reached the standby yet, may have ended a secret that no key has now.
    // The reporter may have no credential, so this does not use the capacity of deletions.
    if (results.size < distinct.size) await db.confirm('ordinary');
    return hashes.map((hex) => results.get(hex ?? '') ?? 'unknown');
  }

  /** Ends the secrets in one transaction. */
  #endAll(principal: Reporter, found: readonly HeldSecret[]): Promise<readonly EndedSecret[]> {
    const { clock, pending, notices } = this.#options;
    const now = clock.now();
    const endTx =
      (secrets: readonly HeldSecret[]) =>
      (tx: Transaction): Promise<EndedSecret[]> =>
        endReportedTx(tx, { principal, now }, secrets, notices);
    const repetitionOf = ([id, secrets]: [number, HeldSecret[]]) => {
      const kind = `leak ${secrets.map((secret) => secret.hash.toString('hex')).join(' ')}`;
      return { id, kind, txs: [endTx(secrets)] };
    };
    return runNarrowing(this.#options, {
      changeTx: endTx(found),
      recordedOf: (ended) => ended.map(({ hash, at }) => ({ kind: 'secret_leaked', id: hash, at })),
      afterCommit: () => notices?.sendSoon(),
      repetition: { pending, of: () => [...Map.groupBy(found, ({ keyId }) => keyId)].map(repetitionOf) },
    });
  }
}

function* batchesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += textsPerBatch) yield items.slice(from, from + textsPerBatch);
}

/** Batches of whole accounts. Only an account with more secrets makes a batch larger than {@link textsPerBatch}. */
function* byAccount(held: readonly HeldSecret[]): Generator<readonly HeldSecret[]> {
  let batch: HeldSecret[] = [];
  for (const secrets of Map.groupBy(held, ({ accountId }) => accountId).values()) {
    if (batch.length > 0 && batch.length + secrets.length > textsPerBatch) {
      yield batch;
      batch = [];
    }
    batch.push(...secrets);
  }
  if (batch.length > 0) yield batch;
}
