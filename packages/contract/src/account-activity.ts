/** The own account's activity: its audit events, as its owner reads them. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { nextCursor, pageFields } from './paging.ts';
import { route } from './route.ts';
import { Instant, orNull, strict, Text } from './schemas.ts';

/** The kind of actor that caused an event. */
export const activityActors = {
  you: 'this account',
  administrator: 'an administrator',
  management_key: 'a backend with a management key',
  mail_link: 'a link in a mail to the account',
  program: 'a program on a device, which signed out',
  finder: 'a client that reported a leaked secret',
  github: 'GitHub secret scanning',
  operator: 'the command line',
  system: 'the service',
  unknown: 'recorded by a later version',
} as const;
export type ActivityActor = keyof typeof activityActors;

const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String())]);

export const ActivityEvent = Named('AccountActivityEvent', {
  at: Instant,
  action: Type.String({ examples: ['session.created'], description: 'As in the audit log' }),
  actor: Type.Enum(Object.keys(activityActors) as ActivityActor[], {
    description: Object.entries(activityActors)
      .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
      .join('; '),
  }),
  target: orNull(Text('ses_2kQ8', 'The id of the key, session or account')),
  details: Type.Record(Type.String(), Value, {
    description: 'Values that depend on the action, such as `nickname`, `scopes` and `reason`',
    examples: [{}],
  }),
  clientIp: orNull(Text('203.0.113.7', 'Of a sign-in whose session has not been deleted yet; otherwise null')),
  userAgent: orNull(Text('Firefox', 'Likewise')),
});
export type ActivityEvent = Static<typeof ActivityEvent>;

export const ActivityPage = Named('AccountActivity', { activity: Type.Array(ActivityEvent), nextCursor });
export type ActivityPage = Static<typeof ActivityPage>;

export const getActivity = route('getActivity', 'GET /auth/account/activity', {
  tag: 'Accounts',
  summary: 'List the activity of your account',
  description: `The account’s audit events of the last ${limits.activityDays} days, newest first: sign-ins, and changes of keys, sessions, password and second factor. Failed sign-ins are not recorded.`,
  auth: 'access_token',
  isExpensive: true,
  query: Type.Object({ ...pageFields }, strict),
  success: { status: 200, description: 'A page of events', schema: ActivityPage },
  errors: ['invalid_request'],
});
