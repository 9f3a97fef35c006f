/**
 * Administration: the log of mail, the outbox, which has the mail and webhooks that are not delivered yet, and a test of the mail
 * server.
 */
import Type, { type Static } from 'typebox';
import { administrator } from './admin-parts.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { nextCursor, pageFields } from './paging.ts';
import { route } from './route.ts';
import { AccountId, Instant, orNull, strict, Text } from './schemas.ts';

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

/** The templates of mail. */
export const mailPurposes = [
  'verify_email',
  'account_exists',
  'reset_password',
  'reset_by_administrator',
  'invitation',
  'change_email',
  'email_change_requested',
  'email_changed',
  'email_changed_with_undo',
  'email_restored',
  'email_set_requested',
  'password_changed',
  'second_factor_added',
  'second_factor_removed',
  'authenticator_removed',
  'passkey_added',
  'passkey_removed',
  'passkey_counter_regressed',
  'recovery_code_used',
  'suspicious_sign_in',
  'keys_expiring',
  'api_key_created',
  'program_key_created',
  'api_key_created_by_administrator',
  'management_key_created',
  'keys_leaked',
  'key_secrets_ended',
  'account_deleted',
] as const;
export type MailPurpose = (typeof mailPurposes)[number];
export const Purpose = Type.Enum([...mailPurposes], { $id: 'MailPurpose', description: 'The template' });
const MailState = Type.Enum(['waiting', 'delivered', 'failed'], {
  $id: 'MailState',
  description:
    '`waiting`: another attempt follows. `delivered`: the mail server has accepted it. `failed`: no attempt follows',
});

export const LoggedMail = Named('LoggedMail', {
  id: Text('msg_3K9vQm1ZyT4cW8nB6pXr2L', 'Also in the `Message-ID` of the mail'),
  to: Text('ada@example.com', 'The recipient'),
  accountId: AccountId,
  purpose: Purpose,
  state: MailState,
  createdAt: Instant,
  attemptCount: Type.Integer({ minimum: 1 }),
  lastAttemptAt: Instant,
  deliveredAt: orNull(Instant),
  nextAttemptAt: orNull(Instant, null),
  lastFailure: orNull(Text('the mail server answered 451', 'Of the last attempt'), null),
});
export type LoggedMail = Static<typeof LoggedMail>;

export const MailPage = Named('MailPage', { mails: Type.Array(LoggedMail), nextCursor });
export type MailPage = Static<typeof MailPage>;

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

export const adminListMail = route('adminListMail', 'GET /admin/mail', {
  ...administrator,
  summary: 'List sent mail',
  description: `Of ${limits.mailLogKeptDays} days, newest first, without content: to email addresses that accounts have, had or have requested. Deleted with the account. The server reads at most ${limits.adminRowsPerPageMax} mails for a page.`,
  query: Type.Object(
    {
      to: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: limits.emailCharsMax,
          description: 'The whole email address of the recipient',
          examples: ['ada@example.com'],
        }),
      ),
      purpose: Type.Optional(Purpose),
      state: Type.Optional(MailState),
      ...pageFields,
    },
    strict,
  ),
  success: { status: 200, description: 'A page of mail', schema: MailPage },
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
