/**
 * Verification of passkeys at sign-in, in two steps, like that of codes: `check…` verifies the response, and the transaction of
 * the sign-in redeems it. A challenge is used if and only if the sign-in commits, and only one of several concurrent requests
 * succeeds.
 */
import { generateKeyPairSync } from 'node:crypto';
import { limits, type AuthenticationResponse, type RequestOptions } from '@keyreeve/contract';
import type { AuthenticatedAccount } from '../accounts/accounts.ts';
import { findAccount } from '../accounts/store.ts';
import { recordEventTx } from '../audit/audit.ts';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { queueMailTx, type Mailer } from '../mail/mail.ts';
import type { PasskeyChecks, PasskeyProof as OwnerPasskeyProof } from '../second-factors/owner-proofs.ts';
import type { FactorUse } from '../second-factors/second-factors.ts';
import { makeChallenge, readChallenge, type ChallengePurpose, type UsedChallenge } from './challenge.ts';
import { descriptorsOf } from './descriptors.ts';
import { requireRelyingParty, type RelyingParty } from './relying-party.ts';
import * as store from './store.ts';
import { userHandleOf } from './user-handle.ts';
import { verifyAssertion } from './webauthn.ts';

export interface PasskeySignInsOptions extends Core {
  /** Keys of challenges and of user handles. */
  readonly challenges: KeyedHash;
  readonly userHandles: KeyedHash;
  /** Undefined if browsers have no passkeys for the console's URL. */
  readonly relyingParty: RelyingParty | undefined;
  readonly mailer: Mailer;
  /** Whether administrators sign in with single sign-on only. */
  readonly rejectsAdministrators: boolean;
}

/** A response that was valid when it was checked. */
export interface PasskeyProof {
  readonly kind: 'passkey';
  /** Whether it is the only factor of the sign-in. */
  readonly isAlone: boolean;
  readonly passkeyId: string;
  readonly name: string;
  readonly challenge: UsedChallenge;
  readonly counter: number;
  readonly isBackedUp: boolean;
}

/** The counter of the passkey did not increase, so its private key may have been copied. */
class CounterRegressed extends DomainError {
  constructor() {
    super('passkey_rejected');
  }
}

export class PasskeySignIns {
  readonly #options: PasskeySignInsOptions;

  constructor(options: PasskeySignInsOptions) {
    this.#options = options;
  }

  /** The options of a sign-in that names no account. Stores nothing. @throws DomainError `passkeys_unavailable` */
  requestOptions(): RequestOptions {
    const { id } = requireRelyingParty(this.#options);
    return this.#optionsFor(id, ['sign-in'], [], 'required');
  }

  /** The options of the second factor after a correct password. @returns undefined when the account has no usable passkey */
  async secondFactorOptions(accountId: string): Promise<RequestOptions | undefined> {
    const { db, relyingParty } = this.#options;
    if (!relyingParty) return undefined;
    const allowed = descriptorsOf(await store.listPasskeys(db, accountId), relyingParty.id);
    if (allowed.length === 0) return undefined;
    return this.#optionsFor(relyingParty.id, ['second factor', accountId], allowed, 'preferred');
  }

  /**
   * Verifies a passkey as the only factor. An unknown passkey, a disabled account, a wrong signature and an
   * administrator who must use single sign-on take the same work.
   * @param onFound called, for the log, with the id of the account that has the passkey, also if it is not valid
   * @returns undefined when it is not valid
   * @throws DomainError `passkeys_unavailable`
   */
  async checkAlone(
    response: AuthenticationResponse,
    onFound?: (accountId: string) => void,
  ): Promise<{ account: AuthenticatedAccount; proof: PasskeyProof } | undefined> {
    const { userHandles, rejectsAdministrators } = this.#options;
    const credential = await this.#find(response);
    if (credential) onFound?.(credential.accountId);
    const proof = await this.#verify(response, credential, ['sign-in'], true);
    const { userHandle } = response.response;
    if (!credential || !proof || userHandle !== userHandleOf(userHandles, credential.accountId)) return undefined;
    const { accountId: id, sessionEpoch, role } = credential;
    if (rejectsAdministrators && role === 'admin') return undefined;
    return { account: { id, sessionEpoch, role }, proof };
  }

  /**
   * Verifies a passkey of the account after its password.
   * @returns undefined when it is not valid @throws DomainError `passkeys_unavailable`
   */
  async checkSecondFactor(accountId: string, response: AuthenticationResponse): Promise<PasskeyProof | undefined> {
    const credential = await this.#find(response);
    const own = credential?.accountId === accountId ? credential : undefined;
    return this.#verify(response, own, ['second factor', accountId], false);
  }

  /** The passkeys as proof of the owner, for changes of second factors. */
  get ownerChecks(): PasskeyChecks {
    const proofs = new WeakMap<OwnerPasskeyProof, PasskeyProof>();
    return {
      check: async (accountId, response) => {
        const proof = await this.checkSecondFactor(accountId, response);
        if (!proof) return undefined;
        const own: OwnerPasskeyProof = { kind: 'passkey', redeemTx: (tx, use) => redeemPasskeyTx(tx, proof, use) };
        proofs.set(own, proof);
        return own;
      },
      reporting: (own, { id, clientIp }, change) => this.reportingCopies(id, proofs.get(own), clientIp, change),
    };
  }

  /**
   * Runs a sign-in that calls {@link redeemPasskeyTx}. If the counter of the passkey did not increase, records that and notifies
   * the owner.
   * @throws what `signIn` throws
   */
  async reportingCopies<T>(
    accountId: string,
    proof: PasskeyProof | undefined,
    clientIp: string,
    signIn: () => Promise<T>,
  ): Promise<T> {
    try {
      return await signIn();
    } catch (error) {
      if (proof && error instanceof CounterRegressed) await this.#recordCopy(accountId, proof, clientIp);
      throw error;
    }
  }

  /** The transaction of the sign-in was rolled back, so this one uses the challenge: one response causes one mail. */
  async #recordCopy(accountId: string, { passkeyId, name, challenge }: PasskeyProof, clientIp: string): Promise<void> {
    const { db, clock, mailer } = this.#options;
    const now = clock.now();
    const account = await findAccount(db, accountId, '');
    const data = { name, at: toInstant(now), clientIp: clientIp.slice(0, limits.addressCharsMax) };
    const mail = account && mailer.prepare({ to: account.email, template: 'passkey_counter_regressed', data });
    await db.transaction(async (tx) => {
      if (!(await store.useChallengeTx(tx, challenge))) return;
      const event = { at: now, principal: { kind: 'system' }, accountId, target: passkeyId } as const;
      await recordEventTx(tx, { ...event, action: 'passkey.counter_regressed', details: { name } });
      await queueMailTx(tx, mail);
    });
    mailer.sendSoon();
  }

  async #find({ id }: AuthenticationResponse): Promise<store.CredentialRow | undefined> {
    const { db } = this.#options;
    return store.findCredential(db, Buffer.from(id, 'base64url'), requireRelyingParty(this.#options).id);
  }

  async #verify(
    response: AuthenticationResponse,
    credential: store.CredentialRow | undefined,
    purpose: ChallengePurpose,
    isAlone: boolean,
  ): Promise<PasskeyProof | undefined> {
    const { clock, challenges } = this.#options;
    let challenge: UsedChallenge | undefined;
    const assertion = await verifyAssertion({
      response,
      relyingParty: requireRelyingParty(this.#options),
      publicKey: credential?.publicKey ?? publicKeyOfNone(),
      isChallengeValid: (text) => (challenge = readChallenge(challenges, purpose, text, clock.now())) !== undefined,
      requiresUserVerification: isAlone,
    });
    if (!assertion || !challenge || credential?.isUsable !== 1) return undefined;
    const { id: passkeyId, name } = credential;
    const { counter, isBackedUp } = assertion;
    return { kind: 'passkey', isAlone, passkeyId, name, challenge, counter, isBackedUp };
  }

  #optionsFor(
    rpId: string,
    purpose: ChallengePurpose,
    allowCredentials: RequestOptions['allowCredentials'],
    userVerification: RequestOptions['userVerification'],
  ): RequestOptions {
    const { clock, challenges } = this.#options;
    const challenge = makeChallenge(challenges, purpose, clock.now());
    return { challenge, timeout: limits.passkeyChallengeSeconds * 1000, rpId, allowCredentials, userVerification };
  }
}

/** @throws DomainError `passkey_rejected` when another request has used the challenge, or the passkey has been removed or copied */
export async function redeemPasskeyTx(tx: Transaction, proof: PasskeyProof, { now, from }: FactorUse): Promise<void> {
  const { passkeyId, challenge, counter, isBackedUp } = proof;
  if (!(await store.useChallengeTx(tx, challenge))) throw new DomainError('passkey_rejected');
  const use = await store.recordUseTx(tx, passkeyId, { counter, isBackedUp, now, from });
  if (use === 'regressed') throw new CounterRegressed();
  if (use === 'removed') throw new DomainError('passkey_rejected');
}

let keyOfNone: Buffer | undefined;
/** A public key (ES256, COSE) whose private key is not stored: the verification of an unknown passkey takes the same work. */
function publicKeyOfNone(): Buffer {
  if (keyOfNone) return keyOfNone;
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const head = (hex: string): Buffer => Buffer.from(hex, 'hex');
  // RFC 9053 section 7.1.1: kty EC2, alg ES256, crv P-256, x, y.
  keyOfNone = Buffer.concat([
    head('a5010203262001215820'),
    Buffer.from(x, 'base64url'),
    head('225820'),
    Buffer.from(y, 'base64url'),
  ]);
  return keyOfNone;
}
