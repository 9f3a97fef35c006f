/** Passkeys of an account: registration, list, change of the name, and removal. */
import {
  limits,
  type CreationOptions,
  type Passkey,
  type PasskeyList,
  type RegistrationResponse,
} from '@keyreeve/contract';
import type { Accounts } from '../accounts/accounts.ts';
import { toInstant } from '../../foundation/clock.ts';
import { randomId } from '../../foundation/crypto/secret.ts';
import { DomainError } from '../../foundation/errors.ts';
import { validateNickname } from '../../foundation/nickname.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { recordingChanges } from '../deletion-journal/run-narrowing.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import type { RequestLimits } from '../rate-limits/request-limits.ts';
import type { SecondFactors } from '../second-factors/second-factors.ts';
import { makeChallenge, readChallenge, type ChallengePurpose, type UsedChallenge } from './challenge.ts';
import * as changes from './change-store.ts';
import { descriptorsOf, knownTransports } from './descriptors.ts';
import { requireRelyingParty, type RelyingParty } from './relying-party.ts';
import type { PasskeySignInsOptions } from './sign-ins.ts';
import { listPasskeys, type PasskeyRow } from './store.ts';
import { userHandleOf } from './user-handle.ts';
import { algorithms, verifyRegistration } from './webauthn.ts';

export interface PasskeysOptions extends RecordingCore, PasskeySignInsOptions {
  readonly accounts: Accounts;
  readonly secondFactors: SecondFactors;
  readonly requests: RequestLimits;
}

export interface NewPasskeyRequest {
  readonly name: string;
  readonly response: RegistrationResponse;
  readonly clientIp: string;
}

export class Passkeys {
  readonly #options: PasskeysOptions;

  constructor(options: PasskeysOptions) {
    this.#options = options;
  }

  /** Whether browsers have passkeys for this installation. */
  get isAvailable(): boolean {
    return this.#options.relyingParty !== undefined;
  }

  /**
   * The options for `navigator.credentials.create()`. Stores nothing.
   * @throws DomainError `passkeys_unavailable`, `passkey_limit_reached`
   */
  async creationOptions(principal: AccountPrincipal): Promise<CreationOptions> {
    const { db, clock, challenges, userHandles, accounts } = this.#options;
    const { id, name } = requireRelyingParty(this.#options);
    const { accountId } = principal;
    const { email } = await accounts.findById(accountId);
    const existing = await listPasskeys(db, accountId);
    if (existing.length >= limits.passkeysPerAccountMax) throw new DomainError('passkey_limit_reached');
    return {
      rp: { id, name },
      user: { id: userHandleOf(userHandles, accountId), name: email, displayName: email },
      challenge: makeChallenge(challenges, purposeOf(principal), clock.now()),
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      timeout: limits.passkeyChallengeSeconds * 1000,
      excludeCredentials: descriptorsOf(existing, id),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
    };
  }

  /**
   * @returns the passkey, and the recovery codes if it is the account's first second factor, which cannot be read again
   * @throws DomainError `nickname_invalid`, `passkey_invalid`, `passkeys_unavailable`, `passkey_limit_reached`,
   *   `passkey_exists`, `too_many_requests`, `invalid_access_token`
   */
  async add(
    principal: AccountPrincipal,
    request: NewPasskeyRequest,
  ): Promise<{ passkey: Passkey; recoveryCodes: string[] }> {
    const { db, clock, accounts, secondFactors, requests, mailer } = this.#options;
    const relyingParty = requireRelyingParty(this.#options);
    const { accountId } = principal;
    const name = validateNickname(request.name, '/name');
    // Before the verification, which may take milliseconds for a response that is made to be slow.
    await requests.countOwnChange('passkey', accountId);
    const { credential, challenge } = await this.#verify(principal, request.response, relyingParty);
    const { email } = await accounts.findById(accountId);
    const { texts, hashes } = secondFactors.newRecoveryCodes(accountId);
    const now = clock.now();
    const passkey = {
      id: randomId('pas'),
      accountId,
      credentialId: credential.id,
      publicKey: credential.publicKey,
      counter: credential.counter,
      rpId: relyingParty.id,
      transports: knownTransports(request.response.response.transports),
      isBackedUp: credential.isBackedUp,
      name,
      now,
    };
    const data = { name, at: toInstant(now), clientIp: request.clientIp };
    const isFirst = await changes.addPasskey(db, principal, {
      passkey,
      challenge,
      codeHashes: hashes,
      mail: mailer.prepare({ to: email, template: 'passkey_added', data }),
    });
    mailer.sendSoon();
    const row = { ...passkey, backedUp: credential.isBackedUp ? 1 : 0, createdAt: now, lastUsedAt: null };
    return { passkey: this.#shown(row), recoveryCodes: isFirst ? texts.map((text) => text.reveal()) : [] };
  }

  /** Oldest first. */
  async list({ accountId }: AccountPrincipal): Promise<PasskeyList> {
    const { userHandles, relyingParty } = this.#options;
    return {
      passkeys: await this.listOf(accountId),
      userHandle: userHandleOf(userHandles, accountId),
      rpId: relyingParty?.id ?? null,
    };
  }

  /** Oldest first. */
  async listOf(accountId: string): Promise<Passkey[]> {
    return (await listPasskeys(this.#options.db, accountId)).map((row) => this.#shown(row));
  }

  /** @throws DomainError `nickname_invalid`, `passkey_not_found`, `too_many_requests`, `invalid_access_token` */
  async rename(principal: AccountPrincipal, id: string, text: string): Promise<void> {
    const { db, clock, requests } = this.#options;
    const name = validateNickname(text, '/name');
    assertPasskeyId(id);
    await requests.countOwnChange('passkey', principal.accountId);
    await changes.renamePasskey(db, principal, { id, name, now: clock.now() });
  }

  /**
   * Without another second factor, the account has none afterwards.
   * @throws DomainError `passkey_not_found`, `second_factor_required_by_policy`, `invalid_access_token`
   */
  async remove(principal: AccountPrincipal, id: string, clientIp: string): Promise<void> {
    const { db, clock, accounts, mailer, revocations } = this.#options;
    const { accountId } = principal;
    assertPasskeyId(id);
    const now = clock.now();
    const { email } = await accounts.findById(accountId);
    const mailAbout = (name: string) =>
      mailer.prepare({ to: email, template: 'passkey_removed', data: { name, at: toInstant(now), clientIp } });
    await recordingChanges(revocations, { accountId, at: now }, () =>
      changes.removePasskey(db, principal, { id, mailAbout, now }),
    );
    mailer.sendSoon();
  }

  /** @throws DomainError `passkey_invalid` */
  async #verify(principal: AccountPrincipal, response: RegistrationResponse, relyingParty: RelyingParty) {
    const { clock, challenges } = this.#options;
    let challenge: UsedChallenge | undefined;
    const isChallengeValid = (text: string): boolean => {
      challenge = readChallenge(challenges, purposeOf(principal), text, clock.now());
      return challenge !== undefined;
    };
    const credential = await verifyRegistration(response, relyingParty, isChallengeValid);
    if (!credential || !challenge) throw new DomainError('passkey_invalid');
    return { credential, challenge };
  }

  #shown({
    id,
    name,
    createdAt,
    lastUsedAt,
    backedUp,
    rpId,
    credentialId,
  }: Omit<PasskeyRow, 'transports' | 'usedFrom'>): Passkey {
    return {
      id,
      name,
      createdAt: toInstant(createdAt),
      lastUsedAt: lastUsedAt === null ? null : toInstant(lastUsedAt),
      synced: backedUp === 1,
      usable: rpId === this.#options.relyingParty?.id,
      credentialId: Buffer.from(credentialId).toString('base64url'),
    };
  }
}

const purposeOf = ({ accountId, sessionId }: AccountPrincipal): ChallengePurpose => [
  'registration',
  accountId,
  sessionId,
];

/** Other texts may contain characters that PostgreSQL rejects. @throws DomainError `passkey_not_found` */
function assertPasskeyId(id: string): void {
  if (!/^[\w-]{1,64}$/.test(id)) throw new DomainError('passkey_not_found');
}
