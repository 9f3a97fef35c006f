/**
 * The sign-out of a program on a device (RFC 7009): deletes the key that the program made. The secret of the key is the proof, because a
 * program has no credential. A request that matches no key of the program writes nothing: it costs a hash and two shared reads.
 */
import { isProgramId } from '@keyreeve/contract';
import { expiryTime } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { ProgramPrincipal } from '../../foundation/principal.ts';
import { finishDeletionTx } from '../api-keys/deletion-store.ts';
import { formOf, hasShortLivedShape } from '../api-keys/key-format.ts';
import { findHolders, findSecrets, lockHoldersTx, type ReadHolder, type SecretHolder } from '../api-keys/leak-store.ts';
import type { PendingChanges } from '../deletion-journal/pending-changes.ts';
import { keyDeletions, type RecordingCore } from '../deletion-journal/revocation.ts';
import { runNarrowing } from '../deletion-journal/run-narrowing.ts';
import { findProgram, type ProgramRow } from '../programs/store.ts';
import { unknownProgram } from './device-requests.ts';

export interface KeyRevocationsOptions extends RecordingCore {
  /** Of API keys. */
  readonly hash: KeyedHash;
  /** All prefixes of API keys that the installation accepts. */
  readonly keyPrefixes: readonly string[];
  /** Of API keys: this instance answers 503 for those whose deletion has an unknown outcome. */
  readonly pendingKeys: PendingChanges<number>;
}

export class KeyRevocations {
  readonly #options: KeyRevocationsOptions;
  readonly #programs: CoalescingReader<string, ProgramRow>;
  readonly #holders: CoalescingReader<Buffer, ReadHolder>;

  constructor(options: KeyRevocationsOptions) {
    const { db } = options;
    this.#options = options;
    this.#programs = new CoalescingReader((ids) => Promise.all(ids.map((id) => findProgram(db, id))), db.sharedReads);
    this.#holders = new CoalescingReader((hashes) => findHolders(db, hashes), db.sharedReads);
  }

  /**
   * Deletes the key of a current secret, or of a previous one whose overlap has not ended. Resolves when every verification that starts
   * later rejects it; also if no key has the secret (RFC 7009 section 2.2). The state of the key, of its account and of its program
   * does not matter: a deletion gives no right.
   * @throws DomainError `invalid_client`; `invalid_grant` for a key that the program has not made (RFC 7009 section 2.1);
   *   `unsupported_token_type` for another credential; `unavailable`, and the deletion is repeated if its outcome is unknown
   */
  async revoke(clientId: string, token: string): Promise<void> {
    const { db, hash, keyPrefixes } = this.#options;
    const program = isProgramId(clientId) ? await this.#programs.read(clientId) : undefined;
    const form = formOf(token, keyPrefixes);
    const stored = form === 'key' ? hash.stored(token) : undefined;
    const holder = stored && (await this.#holders.read(stored));
    // The removal of a program keeps its keys, which name it.
    if (!program && holder?.program !== clientId) throw unknownProgram();
    if (form === 'wrong_kind' || hasShortLivedShape(token) || token.startsWith('eyJ'))
      throw new DomainError('unsupported_token_type');
    if (!stored || !holder) {
      // The commit that ended the secret may not have reached the standby. The client may have no credential.
      await db.confirm('ordinary');
      return;
    }
    if (holder.program !== clientId)
      throw new DomainError('invalid_grant', { detail: 'The token is an API key that this program has not made.' });
    await this.#delete({ kind: 'program', programId: clientId }, holder, stored);
  }

  async #delete(principal: ProgramPrincipal, holder: SecretHolder, stored: Buffer): Promise<void> {
    const { clock, pendingKeys } = this.#options;
    const { keyId: id, accountId } = holder;
    const now = clock.now();
    const finishTx = (tx: Transaction): Promise<void> => finishDeletionTx(tx, { principal, now }, accountId, id);
    await runNarrowing(this.#options, {
      changeTx: async (tx) => {
        await lockHoldersTx(tx, [holder]);
        // A rotation or a deletion may have ended the secret since the read.
        const [found] = await findSecrets(tx, [stored]);
        if (!found || (found.overlapEndsAt ?? Infinity) <= expiryTime(clock, found.readAt)) return false;
        await finishTx(tx);
        return true;
      },
      recordedOf: (isDeleted) => (isDeleted ? keyDeletions([id], now) : []),
      repetition: { pending: pendingKeys, of: () => [{ id, kind: 'delete', txs: [finishTx] }] },
    });
  }
}
