/** Administration: the outbox, which has the mail and webhooks that are not delivered yet, and a test of the mail server. */
import Type, { type Static } from 'typebox';
import { administrator } from './admin-parts.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { nextCursor, pageFields } from './paging.ts';
import { route } from './route.ts';
import { Instant, orNull, strict, Text } from './schemas.ts';

/** `decoy`: as long as a mail, and sends none. */
const kinds = ['mail', 'decoy', 'sign_up', 'password_reset', 'webhook'] as const;
const Kind = Type.String({ examples: ['mail'] });

export const OutboxKind = Named('OutboxKind', {
  kind: Kind,
  count: Type.Integer({ minimum: 0, description: 'At most 10,000 jobs of all kinds are counted' }),
  oldestAt: Instant,
});

export const OutboxJob = Named('OutboxJob', {
  id: Type.String({ examples: ['msg_3K9vQm1ZyT4cW8nB6pXr2L'] }),
  kind: Kind,
  webhookId: orNull(Text('whe_3K9vQm1ZyT4cW8nB6pXr2L', 'The endpoint of a webhook'), null),
  createdAt: Instant,
  attempts: Type.Integer({ minimum: 0, description: 'Including one in progress' }),
  nextAttemptAt: Instant,
  lastFailure: orNull(Text('the mail server answered 451', 'Of the last failed attempt'), null),
});

export const OutboxPage = Named('OutboxPage', {
  kinds: Type.Array(OutboxKind),
  jobs: Type.Array(OutboxJob, { examples: [[]] }),
  nextCursor,
});
export type OutboxPage = Static<typeof OutboxPage>;

export const MailTestResult = Named('MailTestResult', {
  to: Text('ada@example.com', 'The administrator’s own email address'),
  delivered: Type.Boolean({ description: 'Whether the mail server accepted the mail' }),
  response: orNull(Text('250 2.0.0 Ok: queued', 'Of the mail server')),
  failure: orNull(Text('the mail server answered 451'), null),
});
export type MailTestResult = Static<typeof MailTestResult>;

export const adminReadOutbox = route('adminReadOutbox', 'GET /admin/outbox', {
  ...administrator,
  summary: 'List jobs of the outbox',
  description: `Mail, webhooks and other jobs that are not finished, in the order of their ids. Never their content. The server reads at most ${limits.adminRowsPerPageMax} jobs for a page.`,
  query: Type.Object(
    {
      kind: Type.Optional(Type.Enum(kinds)),
      state: Type.Optional(
        Type.Enum(['waiting', 'failing'], { description: '`failing`: an attempt has failed. `waiting`: none has' }),
      ),
      ...pageFields,
    },
    strict,
  ),
  success: { status: 200, description: 'The number of jobs by kind, and a page of jobs', schema: OutboxPage },
  errors: ['invalid_request'],
});

export const adminTestMail = route('adminTestMail', 'POST /admin/mail/test', {
  ...administrator,
  needsRecentSignIn: true,
  summary: 'Send a test mail',
  description: 'To the administrator’s own email address, immediately and once.',
  success: { status: 200, description: 'The result', schema: MailTestResult },
  errors: ['mail_not_configured', 'too_many_requests'],
});
