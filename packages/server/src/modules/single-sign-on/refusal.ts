/** Why a single sign-on did not start a session. The page that the browser gets explains it. */
import type { ErrorCode } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';

export type RefusalReason =
  /** The cookie is missing, expired, used or of another sign-in. */
  | 'expired'
  /** The response of the provider is not valid. */
  | 'rejected'
  /** The provider returned an error to the browser. */
  | 'cancelled'
  /** The claim does not give the role of an administrator. */
  | 'role_missing'
  /** No account is linked to the identity, and none may be created. */
  | 'not_linked'
  | 'account_disabled';

const codes: Readonly<Record<RefusalReason, ErrorCode>> = {
  expired: 'invalid_credentials',
  rejected: 'invalid_credentials',
  cancelled: 'invalid_credentials',
  role_missing: 'administrator_required',
  not_linked: 'administrator_required',
  account_disabled: 'administrator_required',
};

/** A refused sign-in. Without the provider’s proof of the person, it counts as a failed attempt. */
export class Refusal extends DomainError {
  readonly reason: RefusalReason;
  /** Text of the provider, for the page: the subject, or the error. Any characters. */
  readonly shown: string;

  constructor(
    reason: RefusalReason,
    { shown = '', cause }: { readonly shown?: string; readonly cause?: unknown } = {},
  ) {
    super(codes[reason], { cause });
    this.reason = reason;
    this.shown = shown;
  }
}
