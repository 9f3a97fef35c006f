/** What administrators are shown and what they say. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Instant, orNull } from './schemas.ts';
import { ListedSession } from './sessions.ts';

const strict = { additionalProperties: false } as const;

export const AccountId = Type.String({ examples: ['acc_4mW1kq0ZbYp7sT2xUvN8Rd'] });
export const Role = Type.Union([Type.Literal('user'), Type.Literal('admin')]);
const Email = Type.String({ minLength: 1, maxLength: limits.emailCharsMax, examples: ['ada@example.com'] });

const accountFields = {
  id: AccountId,
  email: Type.String(),
  role: Role,
  verified: Type.Boolean({ description: 'Whether somebody has shown that the email is theirs' }),
  hasPassword: Type.Boolean({ description: 'Whether it can sign in; false until an invitation or a reset is used' }),
  requiresSecondFactor: Type.Boolean({ description: 'Whether an administrator requires one' }),
  createdAt: Instant,
  updatedAt: Instant,
  disabledAt: orNull(Instant),
};

export const AdministeredAccount = Type.Object(accountFields, strict);
export type AdministeredAccount = Static<typeof AdministeredAccount>;

export const AccountDetail = Type.Object(
  {
    ...accountFields,
    secondFactor: Type.Boolean({ description: 'Whether a second factor is enrolled' }),
    apiKeyCount: Type.Integer({ minimum: 0 }),
    sessionCount: Type.Integer({ minimum: 0, description: 'Live ones' }),
  },
  strict,
);
export type AccountDetail = Static<typeof AccountDetail>;

const nextCursor = orNull(
  Type.String({ description: 'For the next page. A page may have fewer entries than asked for, even none, before it' }),
);
/** Of every list that comes in pages. */
export const pageFields = {
  limit: Type.Optional(
    Type.String({
      pattern: '^(?:[1-9]|[1-9][0-9]|100)$',
      description: `How many at most: 1 to ${limits.adminPageMax}; ${limits.adminPageMax} when it isn’t given`,
    }),
  ),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: 'From the page before' })),
};

export const AccountPage = Type.Object({ accounts: Type.Array(AdministeredAccount), nextCursor }, strict);
export type AccountPage = Static<typeof AccountPage>;

export const AdministeredKeys = Type.Object(
  {
    apiKeys: Type.Array(
      Type.Object(
        {
          id: Type.Integer(),
          nickname: Type.String(),
          createdAt: Instant,
          updatedAt: Instant,
          scopes: Type.Array(Type.String()),
          expiresAt: orNull(Instant),
          lastUsedAt: orNull(Instant),
        },
        strict,
      ),
    ),
  },
  strict,
);

export const AdministeredSessions = Type.Object({ sessions: Type.Array(ListedSession) }, strict);

export const AuditPage = Type.Object(
  {
    events: Type.Array(
      Type.Object(
        {
          id: Type.Integer(),
          at: Instant,
          actor: Type.String({ examples: ['account:acc_4mW1kq0ZbYp7sT2xUvN8Rd', 'operator', 'system'] }),
          action: Type.String({ examples: ['account.disabled'] }),
          accountId: orNull(Type.String()),
          target: orNull(Type.String()),
          details: Type.Unknown({ description: 'An object, or null' }),
        },
        strict,
      ),
    ),
    nextCursor,
  },
  strict,
);
export type AuditPage = Static<typeof AuditPage>;

export const InvitationRequest = Type.Object({ email: Email, role: Type.Optional(Role) }, strict);
export const RoleBody = Type.Object({ role: Role }, strict);
export const FirstAdministratorBody = Type.Object(
  {
    code: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'From the file that `keyreeve admin bootstrap` wrote',
    }),
    email: Email,
    // Its rules need Unicode: see password_too_short and the others.
    password: Type.String({ minLength: 1 }),
  },
  strict,
);
export const FirstAdministrator = Type.Object({ id: AccountId, email: Type.String(), role: Role }, strict);
export type FirstAdministrator = Static<typeof FirstAdministrator>;
export const Done = Type.Object({ message: Type.String() }, strict);
