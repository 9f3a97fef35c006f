/** An account's sessions: which there are, and ending them. */
import Type, { type Static } from 'typebox';
import { accessTokenErrors } from './error-groups.ts';
import type { RouteContract } from './route.ts';
import { Instant, Text } from './schemas.ts';

export const SessionId = Text('ses_7Hq2mXwZ0RkT5bLp1NvYcd', 'The `sid` of its access tokens; not a secret');

export const ListedSession = Type.Object(
  {
    id: SessionId,
    createdAt: Instant,
    lastUsedAt: Type.String({ ...Instant, description: 'When it was begun or last refreshed' }),
    expiresAt: Type.String({ ...Instant, description: 'When it ends unless it is refreshed before' }),
    address: Type.String({ description: 'From where it was begun', examples: ['192.0.2.7'] }),
    program: Text('curl/8.5.0', 'The User-Agent that began it; empty when it sent none'),
    current: Type.Boolean({ description: 'Whether it is the one that asks' }),
  },
  { additionalProperties: false },
);
export type ListedSession = Static<typeof ListedSession>;

export const SessionList = Type.Object({ sessions: Type.Array(ListedSession) }, { additionalProperties: false });

export const EndedSessions = Type.Object({ ended: Type.Integer({ minimum: 0 }) }, { additionalProperties: false });

export const listSessions = {
  id: 'listSessions',
  method: 'GET',
  path: '/auth/sessions',
  tag: 'Sessions',
  summary: 'List the account’s sessions',
  description: 'Those that live, newest first.',
  auth: 'access_token',
  success: { status: 200, description: 'The sessions', schema: SessionList },
  errors: accessTokenErrors,
} as const satisfies RouteContract;

export const endSession = {
  id: 'endSession',
  method: 'DELETE',
  path: '/auth/sessions/:id',
  tag: 'Sessions',
  summary: 'End a session',
  description:
    'Its refresh token is dead, and on Keyreeve’s own endpoints its access tokens are dead at once. It may be the one that asks.',
  auth: 'access_token',
  params: Type.Object({ id: SessionId }),
  isNarrowing: true,
  success: { status: 204, description: 'The session has ended' },
  errors: [...accessTokenErrors, 'session_not_found'],
} as const satisfies RouteContract;

export const endOtherSessions = {
  id: 'endOtherSessions',
  method: 'DELETE',
  path: '/auth/sessions',
  tag: 'Sessions',
  summary: 'End all other sessions',
  description: 'All but the one that asks, and sign-ins that are under way.',
  auth: 'access_token',
  isNarrowing: true,
  success: {
    status: 200,
    description: 'How many were ended',
    schema: EndedSessions,
  },
  errors: accessTokenErrors,
} as const satisfies RouteContract;
