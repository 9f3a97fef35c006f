/** Requests of `one-connection.ts` to the routes for programs on devices and for approvals. */
import assert from 'node:assert/strict';
import { administer, newAdministrator } from '../../../test-kit/administrators.ts';
import { DeviceClient, program } from '../../../test-kit/device-client.ts';
import { bearer, operator, type Answered, type TestApp } from '../../../test-kit/new-app.ts';
import { OneTimeCodes } from '../../modules/one-time-codes/one-time-codes.ts';
import { insertCodeTx } from '../../modules/one-time-codes/store.ts';

interface Stage {
  readonly client: { readonly app: TestApp };
}
type Send = (stage: Stage) => Promise<Answered>;

let programs = 0;

/** One for each route, by its id. @param newEmail returns the email address of a new account */
export function approvalRequests(newEmail: () => string): Readonly<Record<string, Send>> {
  const administered =
    (method: string, path: (id: string) => string, json?: object): Send =>
    async ({ client: { app } }) => {
      const administrator = await newAdministrator(app, newEmail());
      const name = `Tool ${++programs}`;
      const body = { id: `tool-${programs}`, name };
      const added = await administer(app, administrator, 'POST', 'programs', body);
      assert.equal(added.status, 201, added.text);
      return method === 'POST' ? added : administer(app, administrator, method, `programs${path(body.id)}`, json);
    };
  const begun =
    (send: (at: DeviceClient, code: string, id: string) => Promise<Answered>): Send =>
    async ({ client: { app } }) => {
      const { services } = app.service;
      if (!(await services.programs.list()).some(({ id }) => id === program.id))
        await services.programs.add(operator, program);
      const at = new DeviceClient(app, await app.signIn(newEmail()));
      const { user_code: code } = await at.begin();
      return send(at, code, (await at.lookUp(code)).id);
    };
  return {
    adminListPrograms: administered('GET', () => ''),
    adminAddProgram: administered('POST', () => ''),
    adminGetProgram: administered('GET', (id) => `/${id}`),
    adminChangeProgram: administered('PATCH', (id) => `/${id}`, { lifetimeSeconds: 3_600 }),
    adminRemoveProgram: administered('DELETE', (id) => `/${id}?keys=delete`),
    requestDeviceAuthorization: begun((at) => at.tryBegin()),
    revokeToken: begun(async (at) => at.revoke((await at.fetch(await at.approved())).access_token)),
    lookUpApproval: begun((at, code) => at.send('lookup', { code })),
    approveRequest: begun((at, code, id) => at.send(`${id}/approve`, { code })),
    denyRequest: begun((at, code, id) => at.send(`${id}/deny`, { code })),
    getApproval: begun(async (at, code, id) => {
      await at.approve(code);
      return at.app.call('GET', `/auth/approvals/${id}`, { headers: bearer(at.person.accessToken) });
    }),
    removeMailedKey: begun(async (at) => {
      const { key_id: keyId } = await at.fetch(await at.approved());
      const { text, hash } = new OneTimeCodes(at.app.installation.keys.oneTimeCodeHash).make();
      const { id: accountId, email } = at.person.account;
      const now = at.app.clock.now();
      const about = { accountId, email: { email, canonicalEmail: email }, target: String(keyId) };
      await at.app.db.transaction((tx) =>
        insertCodeTx(tx, { hash, purpose: 'remove_key', ...about, now, expiresAt: now + 60_000 }),
      );
      return at.app.call('POST', '/auth/approvals/keys/remove', { json: { code: text.reveal(), email } });
    }),
  };
}
