/** Requests of `one-connection.ts` to the routes for passkeys, with passkeys of a software authenticator. */
import { as } from '../../../test-kit/authenticator.ts';
import { ConsoleClient } from '../../../test-kit/console-client.ts';
import type { Answered, TestApp } from '../../../test-kit/new-app.ts';
import { addPasskey, originOf, passkeysPath, signInOptions, tryPasskey, tryToAdd } from '../../../test-kit/passkeys.ts';
import { SoftwarePasskey } from '../../../test-kit/software-passkey.ts';

interface Stage {
  readonly client: { readonly app: TestApp };
}

/** One for each route, by its id. @param newEmail returns the email address of a new account */
export const passkeyRequests = (
  newEmail: () => string,
): Readonly<Record<string, (stage: Stage) => Promise<Answered>>> => ({
  passkeyOptions: async ({ client: { app } }) =>
    as(app, await app.signIn(newEmail()), 'POST', `${passkeysPath}/options`),
  addPasskey: async ({ client: { app } }) =>
    tryToAdd(app, await app.signIn(newEmail()), new SoftwarePasskey(originOf(app))),
  listPasskeys: async ({ client: { app } }) => as(app, await app.signIn(newEmail()), 'GET', passkeysPath),
  renamePasskey: async ({ client: { app } }) => {
    const user = await app.signIn(newEmail());
    const { passkey } = await addPasskey(app, user);
    return as(app, user, 'PATCH', `${passkeysPath}/${passkey.id}`, { name: 'phone' });
  },
  removePasskey: async ({ client: { app } }) => {
    const user = await app.signIn(newEmail());
    const { passkey } = await addPasskey(app, user);
    return as(app, user, 'DELETE', `${passkeysPath}/${passkey.id}`);
  },
  passkeySignInOptions: async ({ client: { app } }) => app.call('POST', `${passkeysPath}/sign-in/options`),
  signInWithPasskey: async ({ client: { app } }) => {
    const { authenticator } = await addPasskey(app, await app.signIn(newEmail()));
    return tryPasskey(app, authenticator);
  },
  startConsoleSessionWithPasskey: async ({ client: { app } }) => {
    const { authenticator } = await addPasskey(app, await app.signIn(newEmail()));
    const json = { passkey: authenticator.get(await signInOptions(app)) };
    return new ConsoleClient(app).call('POST', '/session/passkey', { json });
  },
});
