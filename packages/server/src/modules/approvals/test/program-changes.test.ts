/** Changes of a program while a request of it waits. */
import assert from 'node:assert/strict';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { errorOf, newDeviceClient, program } from '../../../../test-kit/device-client.ts';
import { operator } from '../../../../test-kit/new-app.ts';

testOnBoth('a narrowing of the program ends an approved right, also if it is reversed before the poll', async () => {
  await using at = await newDeviceClient();
  const { programs } = at.app.service.services;
  for (const narrowed of [{ scopes: [] }, { scopes: ['orders:write'] }, { lifetimeSeconds: 3_600 }]) {
    const deviceCode = await at.approved({ scopes: ['orders:read'] });
    await programs.change(operator, program.id, narrowed);
    await programs.change(operator, program.id, program);
    for (let n = 0; n < 2; n++) assert.equal(errorOf(await at.poll(deviceCode)), 'access_denied');
  }
});

testOnBoth('a change before the approval applies to it', async () => {
  await using at = await newDeviceClient();
  const { programs } = at.app.service.services;
  const { user_code: code, device_code: deviceCode } = await at.begin();
  const more = await at.begin();
  await programs.change(operator, program.id, { scopes: ['orders:read'] });
  await at.approve(code, { scopes: ['orders:read'] });
  await at.approve(more.user_code, { scopes: program.scopes });
  // The same settings again change nothing.
  await programs.change(operator, program.id, { scopes: ['orders:read'] });
  assert.equal((await at.fetch(deviceCode)).scope, 'orders:read');
  assert.equal(errorOf(await at.poll(more.device_code)), 'access_denied');
});
