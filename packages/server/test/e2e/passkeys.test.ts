/** Passkeys in Chromium, with its virtual authenticator: the options and responses are those that a browser uses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CreationOptions, RequestOptions } from '@keyreeve/contract';
import { as } from '../../test-kit/authenticator.ts';
import { newApp, type SignedIn } from '../../test-kit/new-app.ts';
import {
  creationOptions,
  originOf,
  passkeysPath,
  secondFactorOptions,
  sendPasskey,
  signInOptions,
} from '../../test-kit/passkeys.ts';
import { goodPassword } from '../../test-kit/new-app.ts';
import { addAuthenticator } from '../../test-kit/virtual-authenticator.ts';
import { openBrowser } from './browser.ts';

/** The functions of browsers, which the types of this project do not have. Each runs in the page. */
interface BrowserWindow {
  readonly PublicKeyCredential: {
    parseCreationOptionsFromJSON(options: unknown): unknown;
    parseRequestOptionsFromJSON(options: unknown): unknown;
  };
  readonly navigator: {
    readonly credentials: Record<'create' | 'get', (options: unknown) => Promise<{ toJSON(): unknown }>>;
  };
}

const create = async (options: CreationOptions): Promise<unknown> => {
  const { PublicKeyCredential, navigator } = globalThis as unknown as BrowserWindow;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return (await navigator.credentials.create({ publicKey })).toJSON();
};

const get = async ({ options, mediation }: { options: RequestOptions; mediation: string }): Promise<unknown> => {
  const { PublicKeyCredential, navigator } = globalThis as unknown as BrowserWindow;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return (await navigator.credentials.get({ publicKey, mediation })).toJSON();
};

test('a passkey of Chromium is added and signs in, by a dialog, by autofill and as second factor', async (t) => {
  const browser = await openBrowser(t);
  if (!browser) return;
  try {
    await using app = await newApp();
    const user = await app.signIn('ada@example.com');
    const page = await (await browser.newContext()).newPage();
    await addAuthenticator(await page.context().newCDPSession(page));
    await page.goto(`${originOf(app)}/console`);
    const response = await page.evaluate(create, await creationOptions(app, user));
    const added = await as(app, user, 'POST', passkeysPath, { name: 'Chromium', response });
    assert.equal(added.status, 201, added.text);
    await assert.rejects(page.evaluate(create, await creationOptions(app, user)), /InvalidStateError/);
    for (const mediation of ['optional', 'conditional']) {
      const passkey = await page.evaluate(get, { options: await signInOptions(app), mediation });
      const answer = await sendPasskey(app, passkey as Parameters<typeof sendPasskey>[1]);
      assert.equal(answer.status, 200, `${mediation} ${answer.text}`);
      assert.equal((await as(app, answer.json as SignedIn, 'GET', '/auth/account')).status, 200);
    }
    const options = await secondFactorOptions(app, 'ada@example.com');
    const factor = await page.evaluate(get, { options, mediation: 'optional' });
    const answer = await sendPasskey(app, factor as Parameters<typeof sendPasskey>[1], {
      email: 'ada@example.com',
      password: goodPassword,
    });
    assert.equal(answer.status, 200, answer.text);
  } finally {
    await browser.close();
  }
});
