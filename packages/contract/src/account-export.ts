/** The export of an account's own data. */
import Type, { type Static } from 'typebox';
import { OwnAccount } from './accounts.ts';
import { ActivityEvent } from './account-activity.ts';
import { Purpose } from './admin-mail.ts';
import { PreviousEmail } from './admin-schemas.ts';
import { ListedKeyFull } from './api-keys.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { Passkey } from './passkeys.ts';
import { route } from './route.ts';
import { Instant, orNull, Text } from './schemas.ts';
import { ServiceAccount } from './service-accounts.ts';
import { ListedSession } from './sessions.ts';

export const LinkedIdentity = Named('LinkedIdentity', {
  issuer: Text('https://id.example.com/realms/staff', 'Of the OpenID provider'),
  subject: Text('24400320', 'The claim `sub`'),
  createdAt: Instant,
  lastUsedAt: orNull(Instant),
});
export type LinkedIdentity = Static<typeof LinkedIdentity>;

export const SentMail = Named('SentMail', {
  to: Text('ada@example.com'),
  purpose: Purpose,
  createdAt: Instant,
  deliveredAt: orNull(Type.String({ ...Instant, description: 'When the mail server accepted it' })),
});
export type SentMail = Static<typeof SentMail>;

export const AccountExport = Named('AccountExport', {
  exportedAt: Instant,
  account: OwnAccount,
  emailChanges: Type.Array(PreviousEmail, {
    description: `Changes of the email in the last ${limits.emailChangeKeptDays} days, newest first`,
  }),
  identities: Type.Array(LinkedIdentity, {
    description: 'For single sign-on. At most one per issuer',
  }),
  sessions: Type.Array(ListedSession),
  passkeys: Type.Array(Passkey, { description: 'Without public keys' }),
  mails: Type.Array(SentMail, {
    description: `Mail to the account in the last ${limits.mailLogKeptDays} days, without content, newest first`,
  }),
  serviceAccounts: Type.Array(ServiceAccount, { description: 'Those that the account manages' }),
  apiKeys: Type.Array(ListedKeyFull, { description: 'Without secrets' }),
  activity: Type.Array(ActivityEvent, { description: `Of the last ${limits.activityDays} days, newest first` }),
  isActivityComplete: Type.Boolean({
    description: `False if there are more than ${limits.exportedActivityMax} events`,
  }),
});
export type AccountExport = Static<typeof AccountExport>;

export const exportAccount = route('exportAccount', 'GET /auth/account/export', {
  tag: 'Accounts',
  summary: 'Export your data',
  description: `One JSON document. It does not contain the usage of API keys, which GET /auth/api-keys/{id}/usage returns. If the export fails in the middle, the server resets the connection. At most ${limits.accountExportsPerHourMax} per hour.`,
  auth: 'access_token',
  success: { status: 200, description: 'The account’s data', schema: AccountExport },
  errors: ['too_many_requests'],
});
