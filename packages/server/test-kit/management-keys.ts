/** Administrators with a second factor, and their requests for management keys. */
import assert from 'node:assert/strict';
import type { CreatedManagementKey } from '@keyreeve/contract';
import { sql } from '../src/foundation/database/sql.ts';
import { administer, newAdministrator } from './administrators.ts';
import { codeAt, enrol, nextStep, type Enrolled } from './authenticator.ts';
import { unreachableMail } from './optional-routes.ts';
import { goodPassword, type Answered, type TestApp } from './new-app.ts';

export const environment = {
  ...unreachableMail,
  KEYREEVE_CONSOLE_MANAGEMENT_KEYS: 'on',
  KEYREEVE_ACCESS_TOKEN_TTL_SECONDS: '3600',
};
const countServiceAccounts = sql<{ count: number }>(
  'test_count_services',
  'select count(*) as count from service_accounts',
);
const countKeys = sql<{ count: number }>('test_count_keys', 'select count(*) as count from api_keys');

/** An administrator with an authenticator app, whose code of the current step is unused. */
export async function newEnrolledAdministrator(app: TestApp, email?: string): Promise<Enrolled> {
  const enrolled = await enrol(app, await newAdministrator(app, email));
  nextStep(app);
  return enrolled;
}

/** The code of the current step. */
export const codeOf = (app: TestApp, { secret }: Enrolled): string => codeAt(secret, app.clock.now());
/** ISO 8601. */
export const inDays = (app: TestApp, days: number): string =>
  new Date(app.clock.now() + days * 86_400_000).toISOString();

/** A request that succeeds. A member that is undefined is absent. */
export const bodyOf = (app: TestApp, administrator: Enrolled, changes: object = {}): object => ({
  name: 'backend',
  nickname: 'first',
  addresses: ['127.0.0.1', '::1'],
  expiresAt: inDays(app, 90),
  currentPassword: goodPassword,
  code: codeOf(app, administrator),
  ...changes,
});

/** Sends {@link bodyOf}. */
export const create = (app: TestApp, administrator: Enrolled, changes: object = {}): Promise<Answered> =>
  administer(app, administrator, 'POST', 'management-keys', bodyOf(app, administrator, changes));

/** As {@link create}, and succeeds. */
export async function created(
  app: TestApp,
  administrator: Enrolled,
  changes: object = {},
): Promise<CreatedManagementKey> {
  const answer = await create(app, administrator, changes);
  assert.equal(answer.status, 201, answer.text);
  return answer.json as CreatedManagementKey;
}

/** The numbers of service accounts and of keys. */
export const countsOf = async ({ db }: TestApp): Promise<readonly (number | undefined)[]> => [
  (await db.get(countServiceAccounts, []))?.count,
  (await db.get(countKeys, []))?.count,
];
