/** The export of an account's own data. */
import Type, { type Static } from 'typebox';
import { OwnAccount } from './accounts.ts';
import { ActivityEvent } from './account-activity.ts';
import { ListedKeyFull } from './api-keys.ts';
import { accessTokenErrors } from './error-groups.ts';
import { limits } from './limits.ts';
import { Passkey } from './passkeys.ts';
import type { RouteContract } from './route.ts';
import { Instant } from './schemas.ts';
import { ServiceAccount } from './service-accounts.ts';
import { ListedSession } from './sessions.ts';

export const AccountExport = Type.Object(
  {
    exportedAt: Instant,
    account: OwnAccount,
    sessions: Type.Array(ListedSession),
    passkeys: Type.Array(Passkey, { description: 'Without public keys' }),
    serviceAccounts: Type.Array(ServiceAccount, { description: 'Those that the account manages' }),
    apiKeys: Type.Array(ListedKeyFull, { description: 'Without secrets' }),
    activity: Type.Array(ActivityEvent, { description: `Of the last ${limits.activityDays} days, newest first` }),
    isActivityComplete: Type.Boolean({
      description: `False if there are more than ${limits.exportedActivityMax} events`,
    }),
  },
  { additionalProperties: false },
);
export type AccountExport = Static<typeof AccountExport>;

export const exportAccount = {
  id: 'exportAccount',
  method: 'GET',
  path: '/auth/account/export',
  tag: 'Accounts',
  summary: 'Export your data',
  description: `One JSON document. If the export fails in the middle, the server resets the connection. At most ${limits.accountExportsPerHourMax} per hour.`,
  auth: 'access_token',
  success: { status: 200, description: 'The account’s data', schema: AccountExport },
  errors: [...accessTokenErrors, 'too_many_requests'],
} as const satisfies RouteContract;
