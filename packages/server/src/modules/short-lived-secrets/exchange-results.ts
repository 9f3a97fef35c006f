/** Results of exchanges: for the log of the operator and its metrics. No label has a value that a client chooses. */
import { errors, refusals, tokenRejections, type Refusal, type TokenRejection } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { IssuedSecret } from './issuing.ts';

const ofKey = ['disabled', 'expired', 'address', 'restored', 'used'] as const;
/** What proves the client → why it is rejected. */
const reasons = {
  assertion: ['format', 'audience', 'key_unknown', 'signature', 'time', ...ofKey, 'used_or_changed'],
  // `token`: its signature, algorithm, lifetime or times.
  identity_token: [
    ...(['format', 'key_unknown', 'issuer', 'audience', 'token', 'changed'] as const),
    ...(Object.keys(tokenRejections) as TokenRejection[]),
  ],
  // And the codes of the verification of the key.
  client: [
    ...(['format', 'other_key', 'reserved_scope', 'short_lived', 'changed'] as const),
    ...(Object.keys(refusals) as Refusal[]),
  ],
} as const;

type Proof = keyof typeof reasons;
type RejectionReason<P extends Proof = Proof> = (typeof reasons)[P][number];

/** The response is the same for each reason. */
export class ExchangeRejected<P extends Proof = Proof> extends DomainError {
  readonly proof: P;
  readonly reason: RejectionReason<P>;
  /** As the client states it, if it has the form of an id. */
  readonly keyId: number | undefined;

  constructor(proof: P, reason: RejectionReason<P>, keyId?: number) {
    super(proof === 'client' ? 'invalid_client' : 'invalid_grant');
    this.proof = proof;
    this.reason = reason;
    this.keyId = keyId;
  }
}

/** The grants of RFC 7523, by what proves the client, RFC 8693 and RFC 6749 section 4.4. */
const proofs = {
  public_key: 'assertion',
  jwt_bearer: 'identity_token',
  token_exchange: 'identity_token',
  client_credentials: 'client',
} as const satisfies Record<string, Proof>;
type Grant = keyof typeof proofs;

/** Since the start. `limited`: 429. `failed`: neither the client nor the key is the cause, such as 503. */
type Results = Record<'accepted' | 'limited' | 'failed', number> & Record<string, number>;

export class ExchangeResults {
  readonly counts: Readonly<Record<Grant, Results>> = {
    public_key: noResults('public_key'),
    jwt_bearer: noResults('jwt_bearer'),
    token_exchange: noResults('token_exchange'),
    client_credentials: noResults('client_credentials'),
  };
  readonly #onRejected: (rejection: ExchangeRejected) => void;

  constructor(onRejected: (rejection: ExchangeRejected) => void) {
    this.#onRejected = onRejected;
  }

  /** Counts the result, and reports a rejection. */
  async record(grant: Grant, exchange: Promise<IssuedSecret>): Promise<IssuedSecret> {
    const counts = this.counts[grant];
    try {
      const issued = await exchange;
      counts.accepted++;
      return issued;
    } catch (error) {
      counts[resultOf(error)]!++;
      if (error instanceof ExchangeRejected) this.#onRejected(error);
      throw error;
    }
  }
}

function noResults(grant: Grant): Results {
  const rejected = Object.fromEntries(reasons[proofs[grant]].map((reason) => [reason, 0]));
  return { accepted: 0, limited: 0, failed: 0, ...rejected };
}

function resultOf(error: unknown): string {
  if (error instanceof ExchangeRejected) return error.reason;
  return error instanceof DomainError && errors[error.code].status === 429 ? 'limited' : 'failed';
}
