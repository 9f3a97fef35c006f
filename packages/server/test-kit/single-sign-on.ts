/** A browser that signs in to the console with single sign-on. */
import assert from 'node:assert/strict';
import { ConsoleClient } from './console-client.ts';
import { newApp, type Answered, type TestApp, type TestAppOptions } from './new-app.ts';
import { newOpenIdProvider, type OpenIdProvider } from './openid-provider.ts';

export interface WithProvider extends AsyncDisposable {
  readonly app: TestApp;
  readonly provider: OpenIdProvider;
}

/** A service with a provider of its own. */
export async function newAppWithProvider({ environment, ...options }: TestAppOptions = {}): Promise<WithProvider> {
  const provider = await newOpenIdProvider();
  const app = await newApp({ ...options, environment: { ...provider.environment, ...environment } });
  return {
    app,
    provider,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** The start of a single sign-on: the URL of the provider, and the cookie. */
export interface Started {
  readonly location: string;
  readonly cookie: string;
}

export class SingleSignOnClient extends ConsoleClient {
  readonly #with: Pick<WithProvider, 'app' | 'provider'>;

  constructor(withProvider: Pick<WithProvider, 'app' | 'provider'>) {
    super(withProvider.app);
    this.#with = withProvider;
  }

  async start(json: object = {}): Promise<Started> {
    const answer = await this.call('POST', '/sso/start', { json });
    assert.equal(answer.status, 200, answer.text);
    const set = answer.headers.getSetCookie().find((text) => text.startsWith('kr_o='));
    const cookie = set?.slice(0, set.indexOf(';')) ?? '';
    return { location: (answer.json as { location: string }).location, cookie };
  }

  /** The navigation from the provider's site: without the session cookie, and without headers of the console. */
  async return(url: URL, { cookie }: Pick<Started, 'cookie'>, language = 'en'): Promise<Answered> {
    const headers = { cookie, 'accept-language': language, 'sec-fetch-site': 'cross-site' };
    const response = await fetch(new URL(url.pathname + url.search, this.#with.app.url), {
      headers,
      redirect: 'manual',
    });
    for (const set of response.headers.getSetCookie()) {
      const value = /^kr_s=([^;]+)/.exec(set)?.[1];
      if (value !== undefined) this.cookie = value;
    }
    return { status: response.status, headers: response.headers, text: await response.text(), json: undefined };
  }

  /** A complete single sign-on of the provider's person. */
  async singleSignOn(json: object = {}): Promise<Answered> {
    const started = await this.start(json);
    return this.return(this.#with.provider.authorize(started.location), started);
  }

  logout(logoutToken: string): Promise<Answered> {
    return this.#with.app.call('POST', '/console/sso/logout', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: logoutToken, unknown: 'ignored' }).toString(),
    });
  }
}
