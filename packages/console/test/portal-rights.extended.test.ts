/** Rights that end while the key page is open: the next step of the person is refused, and nothing changes. */
import assert from 'node:assert/strict';
import { newApp, operator } from '../../server/test-kit/new-app.ts';
import { consoleTests } from './kit/console-site.ts';
import { openHosted } from './kit/portal-site.ts';
import { button, closeSecret, openCreation, submit } from './kit/portal-steps.ts';

const test = consoleTests();

test(
  'after another instance has ended the session, the next step is refused',
  async (site) => {
    await using other = await newApp({ place: site.app.place });
    await using hosted = await openHosted(site, { hasClock: true });
    await hosted.load();
    const { backend, frame, sessions, visitor } = hosted;
    await openCreation(hosted, 'too late');
    const ended = await other.call('DELETE', `/auth/portal-sessions/${sessions[0]}`, { headers: backend.headers });
    assert.equal(ended.status, 204, ended.text);
    visitor.expectStatus(401);
    await submit(hosted);
    await frame.getByText('Your session has ended').first().waitFor();
    const { json } = await other.call('GET', `${backend.path}/api-keys`, { headers: backend.headers });
    assert.deepEqual((json as { readonly apiKeys: readonly unknown[] }).apiKeys, []);
  },
  { isAlone: true, databases: ['postgres'] },
);

test(
  'a scope that is removed while a dialog is open is refused, and the person can continue without it',
  async (site) => {
    const { entitlements, scopeCatalogue } = site.app.service.services;
    await using hosted = await openHosted(site, { hasClock: true });
    const { serviceId } = hosted.backend;
    for (const name of ['orders:read', 'reports:read']) await scopeCatalogue.set(operator, name, { entitled: true });
    await entitlements.set(operator, serviceId, ['orders:read', 'reports:read']);
    await hosted.load();
    const { frame, visitor } = hosted;
    await openCreation(hosted, 'narrowed');
    for (const name of ['orders:read', 'reports:read']) await frame.getByLabel(name).check();
    await entitlements.set(operator, serviceId, ['orders:read']);
    visitor.expectStatus(403);
    await submit(hosted);
    await frame.getByText('You cannot give a key one of these scopes.').last().waitFor();
    await frame.getByLabel('reports:read').uncheck();
    await submit(hosted);
    await closeSecret(hosted);
    await button(frame, 'narrowed').waitFor();
    const events = await hosted.events();
    assert.match(events.join(), /^created \d+$/);
  },
  { isAlone: true, databases: ['sqlite'], environment: { KEYREEVE_SCOPES: 'catalogue' } },
);
