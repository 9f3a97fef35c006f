/** The claims of an ID token that a single sign-on uses. The library has checked the token. */
import type { IDToken } from 'openid-client';
import { limits } from '@keyreeve/contract';
import { parseEmail, type Email } from '../accounts/email.ts';
import { isPrintable } from '../../foundation/printable.ts';
import { Refusal } from './refusal.ts';

export interface AdministratorClaim {
  /** The name of the claim, for example `groups`. */
  readonly name: string;
  /** The claim equals it, or is a list that contains it. */
  readonly value: string;
}

/** Some providers send every claim as text. */
const verifiedValues: readonly unknown[] = [true, 'true'];

/** A person at the provider. */
export interface Person {
  readonly subject: string;
  /** Of the session at the provider; null if the provider does not state it. */
  readonly sid: string | null;
  readonly isAdministrator: boolean;
  /** Undefined unless the provider states that it has verified the email address. */
  readonly email: Email | undefined;
  /** When the provider authenticated the person, in milliseconds; undefined if it does not state that. */
  readonly authenticatedAt: number | undefined;
}

/** @throws Refusal `rejected` for a subject or session id that cannot be stored */
export function personOf(claims: IDToken, administrator: AdministratorClaim): Person {
  const { sub, sid, email, email_verified: isVerified, auth_time: authTime } = claims;
  if (!isIdentifier(sub) || (sid !== undefined && !isIdentifier(sid))) throw new Refusal('rejected');
  const claim = Object.hasOwn(claims, administrator.name) ? claims[administrator.name] : undefined;
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return {
    subject: sub,
    sid: sid ?? null,
    isAdministrator: values.includes(administrator.value),
    email: verifiedValues.includes(isVerified) && typeof email === 'string' ? parseEmail(email) : undefined,
    authenticatedAt: typeof authTime === 'number' ? Math.max(0, Math.floor(authTime * 1000)) : undefined,
  };
}

/** Whether a value is a text that a column can store: PostgreSQL has no U+0000. */
export const isIdentifier = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= limits.subjectCharsMax && isPrintable(value);
