/** Sessions of an account: their list and their end. */
import Type, { type Static } from 'typebox';
import { Named } from './named.ts';
import { route } from './route.ts';
import { Instant, Text } from './schemas.ts';

export const SessionId = Text('ses_7Hq2mXwZ0RkT5bLp1NvYcd', 'The `sid` of its access tokens; not a secret');

export const ListedSession = Named('Session', {
  id: SessionId,
  createdAt: Instant,
  lastUsedAt: Type.String({ ...Instant, description: 'Time of the sign-in or the last refresh' }),
  expiresAt: Type.String({ ...Instant, description: 'When it ends without a refresh' }),
  clientIp: Type.String({ description: 'Client IP of the sign-in', examples: ['192.0.2.7'] }),
  userAgent: Text('curl/8.5.0', 'User agent of the sign-in; empty if none was sent'),
  current: Type.Boolean({ description: 'Whether it is the session of this request' }),
});
export type ListedSession = Static<typeof ListedSession>;

export const SessionList = Named('SessionList', { sessions: Type.Array(ListedSession) });

export const EndedSessions = Named('EndedSessions', { ended: Type.Integer({ minimum: 0 }) });

const own = { tag: 'Sessions', auth: 'access_token' } as const;

export const listSessions = route('listSessions', 'GET /auth/sessions', {
  ...own,
  summary: 'List the account’s sessions',
  description: 'Active sessions, newest first.',
  isOpenBeforeEnrolment: true,
  success: { status: 200, description: 'The sessions', schema: SessionList },
});

export const endSession = route('endSession', 'DELETE /auth/sessions/:id', {
  ...own,
  summary: 'End a session',
  description: 'Keyreeve immediately rejects its refresh token and access tokens. It may be the current session.',
  isOpenBeforeEnrolment: true,
  params: Type.Object({ id: SessionId }),
  isNarrowing: true,
  success: { status: 204, description: 'The session has ended' },
  errors: ['session_not_found'],
});

export const endOtherSessions = route('endOtherSessions', 'DELETE /auth/sessions', {
  ...own,
  summary: 'End all other sessions',
  description: 'All except the current one, and sign-ins in progress.',
  isOpenBeforeEnrolment: true,
  isNarrowing: true,
  success: {
    status: 200,
    description: 'The number of ended sessions',
    schema: EndedSessions,
  },
});
