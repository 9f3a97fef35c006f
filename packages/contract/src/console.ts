/** The session of the console, the web application below `/console`. */
import Type, { type Static } from 'typebox';
import { languages } from './language.ts';
import type { RouteContract } from './route.ts';
import { Instant, orNull, Text } from './schemas.ts';
import { SessionId } from './sessions.ts';

const strict = { additionalProperties: false } as const;

const Features = Type.Object(
  {
    signUp: Type.Boolean({ description: 'Whether sign-up is open' }),
    mail: Type.Boolean({ description: 'Whether a mail server is configured' }),
    passkeys: Type.Boolean(),
    usageDays: Type.Integer({ minimum: 0, description: 'Days for which usage is kept; 0: not counted' }),
    keyDaysMax: Type.Integer({ minimum: 0, description: 'Longest lifetime of a new key in days; 0: no limit' }),
    passwordLengthMin: Type.Integer({ minimum: 1 }),
    environments: Type.Array(Text('live'), { description: 'Empty if the installation has none' }),
    scopesCatalogue: Type.Boolean({ description: 'Whether keys may only have declared scopes' }),
  },
  strict,
);

export const ConsoleConfig = Type.Object(
  {
    product: Text('Example', 'The operator’s name'),
    features: Features,
    needsAdministrator: Type.Boolean({ description: 'Whether the installation has no administrator yet' }),
    origin: Text('https://auth.example.com', 'Where people open the console'),
    languages: Type.Array(Type.Enum([...languages])),
    now: Instant,
  },
  strict,
);
export type ConsoleConfig = Static<typeof ConsoleConfig>;

export const SessionView = Type.Object(
  {
    account: Type.Object(
      {
        id: Text('acc_7Hq2mXwZ0RkT5bLp1NvYcd'),
        email: Text('you@example.com'),
        role: Type.Enum(['user', 'admin']),
        language: orNull(Type.Enum([...languages])),
        secondFactor: Type.Boolean({ description: 'Whether a second factor is in force' }),
        mustEnrol: Type.Boolean({ description: 'Whether a second factor is required and missing' }),
      },
      strict,
    ),
    session: Type.Object(
      {
        id: SessionId,
        createdAt: Instant,
        authenticatedAt: Type.String({ ...Instant, description: 'The sign-in or the last confirmation' }),
        idleExpiresAt: Type.String({ ...Instant, description: 'When it ends without a request of the person' }),
        expiresAt: Instant,
      },
      strict,
    ),
    now: Instant,
  },
  strict,
);
export type SessionView = Static<typeof SessionView>;

const password = Type.String({ minLength: 1, maxLength: 1024 });
const code = Type.Optional(
  Type.String({ maxLength: 64, description: 'One-time code or recovery code', examples: ['492039'] }),
);

export const getConsoleConfig = {
  id: 'getConsoleConfig',
  method: 'GET',
  path: '/console/config',
  tag: 'Console',
  summary: 'Get what the console shows before the sign-in',
  auth: 'none',
  success: { status: 200, description: 'The settings', schema: ConsoleConfig },
  errors: [],
} as const satisfies RouteContract;

export const startConsoleSession = {
  id: 'startConsoleSession',
  method: 'POST',
  path: '/console/session',
  tag: 'Console',
  summary: 'Sign in to the console',
  auth: 'none',
  body: {
    type: 'json',
    schema: Type.Object({ email: Type.String({ minLength: 1, maxLength: 320 }), password, code }, strict),
  },
  success: { status: 200, description: 'A new session', schema: SessionView },
  errors: ['invalid_credentials', 'second_factor_required', 'second_factor_invalid', 'too_many_attempts', 'overloaded'],
} as const satisfies RouteContract;

export const getConsoleSession = {
  id: 'getConsoleSession',
  method: 'GET',
  path: '/console/session',
  tag: 'Console',
  summary: 'Get the console’s session',
  auth: 'none',
  success: { status: 200, description: 'The session', schema: SessionView },
  errors: [],
} as const satisfies RouteContract;

export const confirmConsoleSession = {
  id: 'confirmConsoleSession',
  method: 'POST',
  path: '/console/session/confirm',
  tag: 'Console',
  summary: 'Confirm the password within the console’s session',
  auth: 'none',
  body: { type: 'json', schema: Type.Object({ password, code }, strict) },
  success: { status: 200, description: 'The session with a new cookie', schema: SessionView },
  errors: ['password_wrong', 'too_many_attempts', 'overloaded'],
} as const satisfies RouteContract;

export const endConsoleSession = {
  id: 'endConsoleSession',
  method: 'DELETE',
  path: '/console/session',
  tag: 'Console',
  summary: 'Sign out of the console',
  auth: 'none',
  isNarrowing: true,
  success: { status: 204, description: 'The session has ended' },
  errors: [],
} as const satisfies RouteContract;
