/** Requests without a credential in Authorization or X-API-Key: reports of leaks, the exchange of an assertion, the console, pages of links. */
import { newTarget } from '../../../test-kit/administrators.ts';
import type { GithubSigner } from '../../../test-kit/github.ts';
import { ConsoleClient } from '../../../test-kit/console-client.ts';
import { goodPassword, type Answered, type TestApp } from '../../../test-kit/new-app.ts';
import { ada, type OpenIdProvider } from '../../../test-kit/openid-provider.ts';
import { SingleSignOnClient } from '../../../test-kit/single-sign-on.ts';
import { exchange, newAssertion, newKeyPair, newPublicKeyKey } from '../../../test-kit/public-key-client.ts';

interface Stage {
  readonly client: { readonly app: TestApp };
}

/** A request of a browser that is signed in to the console. */
const ofConsole =
  (method: string, path: string, json?: object): ((stage: Stage) => Promise<Answered>) =>
  async ({ client: { app } }) => {
    const console = new ConsoleClient(app);
    await console.signIn((await app.createAccount(newEmail())).email);
    return console.call(method, path, json === undefined ? {} : { json });
  };

export const read =
  (path: string): ((stage: Stage) => Promise<Answered>) =>
  ({ client: { app } }) =>
    app.call('GET', path);

let emails = 0;
const newEmail = (): string => `without${++emails}@example.com`;

/** One for each route, by its id. @param github signs the report of GitHub */
export const requestsWithoutCredential = (
  github: GithubSigner,
  provider: OpenIdProvider,
): Readonly<Record<string, (stage: Stage) => Promise<Answered>>> => ({
  reportLeaks: async ({ client: { app } }) => {
    const { key } = await newTarget(app, newEmail());
    return app.call('POST', '/auth/leaks', { json: { keys: [key, key] } });
  },
  reportGithubLeaks: async ({ client: { app } }) => {
    const { key } = await newTarget(app, newEmail());
    const body = JSON.stringify([{ token: key, type: 'key', url: '' }]);
    return app.call('POST', '/auth/leaks/github', { headers: github.headers(body), body });
  },
  getConsoleConfig: ofConsole('GET', '/config'),
  startConsoleSession: async ({ client: { app } }) =>
    new ConsoleClient(app).trySignIn((await app.createAccount(newEmail())).email),
  getConsoleSession: ofConsole('GET', '/session'),
  confirmConsoleSession: ofConsole('POST', '/session/confirm', { password: goodPassword }),
  endConsoleSession: ofConsole('DELETE', '/session'),
  startSingleSignOn: async ({ client: { app } }) =>
    new SingleSignOnClient({ app, provider }).call('POST', '/sso/start', { json: {} }),
  endSessionsOfProvider: async ({ client: { app } }) => {
    const client = new SingleSignOnClient({ app, provider });
    provider.person = { ...ada, sub: newEmail(), email: newEmail() };
    await client.singleSignOn();
    return client.logout(await provider.logoutToken({ sub: provider.person.sub }, app.clock.now()));
  },
  exchangeAssertion: async ({ client: { app } }) => {
    const { accessToken } = await app.signIn(newEmail());
    const pair = newKeyPair();
    return exchange(app, newAssertion(app, pair, await newPublicKeyKey(app, accessToken, pair)));
  },
  verifyEmailPage: read('/account/verify-email'),
  resetPasswordPage: read('/account/reset-password'),
  changeEmailPage: read('/account/change-email'),
  undoEmailChangePage: read('/account/undo-email-change'),
  acceptEmailPage: read('/account/accept-email'),
  acceptInvitationPage: read('/account/accept-invitation'),
  changePasswordPage: read('/.well-known/change-password'),
});
