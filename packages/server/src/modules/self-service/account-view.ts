/** The own account in responses. */
import type { OwnAccount } from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { toLimits } from '../key-limits/definition.ts';
import type { ShownAccount } from './own-account.ts';

export const toOwnAccount = ({ id, email, role, createdAt, ...row }: ShownAccount): OwnAccount => ({
  id,
  email,
  role,
  createdAt: toInstant(createdAt),
  verified: row.unverifiedSince === null,
  secondFactor: row.hasSecondFactor > 0,
  authenticator: row.hasAuthenticator > 0,
  passkeys: row.passkeys,
  requiresSecondFactor: row.requiresSecondFactor === 1,
  language: row.language,
  limits: toLimits(row.limits),
  quotaUse: row.quotaUse,
});
