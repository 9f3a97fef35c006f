/** What `keyreeve doctor` states about single sign-on. */
import assert from 'node:assert/strict';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { newAppWithProvider, SingleSignOnClient } from '../../../test-kit/single-sign-on.ts';
import { checkSingleSignOn } from '../single-sign-on-check.ts';

test('doctor warns if a locked-out administrator can sign in with a password, or if no administrator can sign in', async () => {
  await using both = await newAppWithProvider();
  const { db, service } = both.app;
  const provider = service.services.singleSignOn?.provider;
  const warnings = async (mayUsePasswords: boolean): Promise<string[]> =>
    (await checkSingleSignOn(db, provider, mayUsePasswords))
      .filter(({ state }) => state === 'warning')
      .map(({ detail }) => detail.slice(0, 'KEYREEVE_ADMIN_PASSWORDS is off'.length));
  assert.deepEqual([await warnings(true), await warnings(false)], [[], ['KEYREEVE_ADMIN_PASSWORDS is off']]);
  await new SingleSignOnClient(both).singleSignOn();
  assert.deepEqual([await warnings(true), await warnings(false)], [['KEYREEVE_ADMIN_PASSWORDS is on,'], []]);
});
