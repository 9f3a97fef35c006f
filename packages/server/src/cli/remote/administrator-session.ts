/**
 * The session of an administrator who works on a remote service. Access tokens are refreshed under the lock of the file, so that
 * commands beside each other do not use one refresh token twice, which would end the session. A change that needs a recent
 * sign-in asks for the password.
 */
import { KeyreeveError, send, type Service } from '@keyreeve/client/account';
import { refreshTokens, revokeTokens, type TokenPair } from '@keyreeve/contract';
import { promptSecret } from '../password-input.ts';
import { failureOf, notKeyreeve, RemoteError } from './remote-error.ts';
import type { Credential } from './remote-service.ts';
import { SessionFile, type KeptSession } from './session-file.ts';
import { isTokenPair, promptOneTimePassword, signInAsAdministrator } from './sign-in.ts';

export class AdministratorSession implements Credential {
  readonly kind = 'administrator';
  readonly #service: Service;
  readonly #file: SessionFile;
  /** Of the first request: another command can sign in as another administrator meanwhile. */
  #accountId: string | undefined;

  constructor(service: Service) {
    this.#service = service;
    this.#file = new SessionFile(service.url);
  }

  /** @throws RemoteError `not_signed_in`, `session_file_rejected` */
  async read(): Promise<KeptSession> {
    const session = await this.#file.read();
    if (!session) throw this.#notSignedIn('not signed in');
    this.#accountId ??= session.accountId;
    if (session.accountId !== this.#accountId) throw this.#notSignedIn('another account has signed in meanwhile');
    return session;
  }

  async accountId(): Promise<string> {
    return (await this.read()).accountId;
  }

  async send<T>(attempt: (headers: Readonly<Record<string, string>>) => Promise<T>): Promise<T> {
    let session = await this.read();
    let mayRefresh = true;
    let mayAsk = true;
    for (;;) {
      try {
        return await attempt({ Authorization: `Bearer ${session.accessToken}` });
      } catch (error) {
        const code = codeOf(error);
        if (code === 'invalid_access_token' && mayRefresh) {
          mayRefresh = false;
          session = await this.#refresh(session);
        } else if (code === 'reauth_required' && mayAsk && process.stdin.isTTY) {
          mayAsk = false;
          session = await this.#signInAgain(session);
        } else throw error;
      }
    }
  }

  /** Ends the session at the service, then forgets it. @throws RemoteError: the session is kept, and may still be valid */
  async end(): Promise<KeptSession> {
    return this.#file.locked(async () => {
      const session = await this.read();
      await this.#revoke(session);
      await this.#file.remove();
      return session;
    });
  }

  /** Keeps a new session instead of an earlier one, which ends. */
  async replace(session: KeptSession): Promise<void> {
    const keep = async (): Promise<KeptSession | undefined> => {
      // A rejected file is not used, but replaced.
      const found = await this.#file.read().catch(() => undefined);
      await this.#file.write(session);
      return found;
    };
    const earlier = await this.#file.locked(keep).catch(async (error: unknown) => {
      await this.#revoke(session).catch(() => undefined);
      throw error;
    });
    // It would end by itself.
    if (earlier) await this.#revoke(earlier).catch(() => undefined);
  }

  #refresh(used: KeptSession): Promise<KeptSession> {
    return this.#file.locked(async () => {
      const found = await this.read();
      // Another command has refreshed it meanwhile.
      if (found.accessToken !== used.accessToken) return found;
      const session = { ...found, ...(await this.#newTokens(found)) };
      await this.#file.write(session);
      return session;
    });
  }

  async #newTokens({ refreshToken }: KeptSession): Promise<TokenPair> {
    try {
      const tokens = await send(this.#service, { ...routeOf(refreshTokens), body: { refreshToken } });
      if (isTokenPair(tokens)) return tokens;
    } catch (error) {
      const code = codeOf(error);
      if (code !== 'invalid_refresh_token' && code !== 'refresh_token_reused')
        throw failureOf(error, this.#service.url, false);
      await this.#file.remove();
      throw this.#notSignedIn('the session has ended');
    }
    throw notKeyreeve(this.#service.url, 200, false);
  }

  async #signInAgain({ email }: KeptSession): Promise<KeptSession> {
    process.stderr.write('This change needs a sign-in within the last 5 minutes.\n');
    const session = await signInAsAdministrator(this.#service, email, {
      password: await promptSecret(`Password of ${email} at ${this.#service.url}: `),
      oneTimePassword: promptOneTimePassword,
    });
    await this.replace(session);
    return session;
  }

  async #revoke({ refreshToken }: KeptSession): Promise<void> {
    await send(this.#service, { ...routeOf(revokeTokens), body: { refreshToken } }).catch((error: unknown) => {
      throw failureOf(error, this.#service.url, true);
    });
  }

  #notSignedIn(reason: string): RemoteError {
    return new RemoteError(
      'not_signed_in',
      `${reason}; sign in: keyreeve --url ${this.#service.url} login you@example.com`,
    );
  }
}

const codeOf = (error: unknown): unknown => (error instanceof KeyreeveError ? error.problem['code'] : undefined);

const routeOf = ({ method, path }: { readonly method: 'POST'; readonly path: string }) => ({
  method,
  path: path.slice(1),
});
