/** The dependencies of self-service, and types that its parts share. */
import { limits } from '@keyreeve/contract';
import type { AccountRevocations } from '../accounts/account-revocations.ts';
import type { CurrentPassword } from '../accounts/current-password.ts';
import type { PasswordRules } from '../accounts/password-rules.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { OneTimeCodes } from '../one-time-codes/one-time-codes.ts';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import type { RecordingCore } from '../deletion-journal/revocation.ts';
import type { Links } from '../mail/links.ts';
import type { Mailer } from '../mail/mail.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { SignInLimits } from '../rate-limits/sign-in-limits.ts';
import type { SecondFactors } from '../second-factors/second-factors.ts';
import type { RequestLimits } from '../rate-limits/request-limits.ts';

export interface SelfServiceOptions extends RecordingCore {
  readonly hasher: PasswordHasher;
  readonly rules: PasswordRules;
  readonly currentPassword: CurrentPassword;
  readonly secondFactors: Pick<SecondFactors, 'newSecret'>;
  readonly signInLimits: SignInLimits;
  readonly requests: RequestLimits;
  readonly codes: OneTimeCodes;
  readonly outbox: Outbox;
  readonly mailer: Mailer;
  readonly links: Links;
  readonly accounts: AccountRevocations;
  readonly isSignUpOpen: boolean;
}

/** The actor of a change that was authorized by a one-time code sent to the account's email address. */
export const mailbox = { kind: 'mailbox' } as const;

/** Whether the mail that a job requests would not be handed over any more. @param createdAt of the job */
export const isTooLate = (createdAt: number, clock: Clock): boolean =>
  clock.now() - createdAt > limits.codeRequestSeconds * 1000;
