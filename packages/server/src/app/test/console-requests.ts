/** Requests of `one-connection.ts` to the routes for the lists of the console. */

/** Makes a request of a new account. */
type Make<Send> = (method: string, path: () => string, json?: object) => Send;
/** Makes a request of a new administrator about a new account. */
type MakeAbout<Send> = (
  method: string,
  path: () => string,
  json?: object | ((target: { readonly key: string }) => object),
) => Send;

export const consoleRequests = <Send>(own: Make<Send>, administered: MakeAbout<Send>): Record<string, Send> => ({
  getOwnAccount: own('GET', () => '/auth/account'),
  getActivity: own('GET', () => '/auth/account/activity'),
  exportAccount: own('GET', () => '/auth/account/export'),
  adminSearchKeys: administered('GET', () => 'api-keys?nickname=held&scope=read&owner=acc_1'),
  adminFindKey: administered(
    'POST',
    () => 'api-keys/find',
    ({ key }) => ({ key }),
  ),
  adminGetOverview: administered('GET', () => 'overview'),
  adminListAudit: administered('GET', () => 'audit?account=acc_1&action=session.created'),
  adminListSigningKeys: administered('GET', () => 'signing-keys'),
  adminListMail: administered('GET', () => 'mail?to=ada@example.com&purpose=reset_password&state=failed'),
  adminReadOutbox: administered('GET', () => 'outbox?kind=mail&state=failing'),
  adminTestMail: administered('POST', () => 'mail/test'),
  adminReadSettings: administered('GET', () => 'settings'),
  adminRotateSigningKeys: administered('POST', () => 'signing-keys/rotate'),
  adminExportAudit: administered(
    'GET',
    () => 'audit/export?format=jsonl&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
  ),
});
