/** Requests that need no credential in a header: reports of leaks, and the exchange of an assertion. */
import { newTarget } from '../../../test-kit/administrators.ts';
import type { GithubSigner } from '../../../test-kit/github.ts';
import type { Answered, TestApp } from '../../../test-kit/new-app.ts';
import { exchange, newAssertion, newKeyPair, newPublicKeyKey } from '../../../test-kit/public-key-client.ts';

interface Stage {
  readonly client: { readonly app: TestApp };
}

let emails = 0;
const newEmail = (): string => `without${++emails}@example.com`;

/** One for each route, by its id. @param github signs the report of GitHub */
export const requestsWithoutCredential = (
  github: GithubSigner,
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
  exchangeAssertion: async ({ client: { app } }) => {
    const { accessToken } = await app.signIn(newEmail());
    const pair = newKeyPair();
    return exchange(app, newAssertion(app, pair, await newPublicKeyKey(app, accessToken, pair)));
  },
});
