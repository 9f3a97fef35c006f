/** The service that a command works on, instead of the database of this machine: `--url` and `--key-file`. */
import { globalAgent } from 'node:http';
import type { Service } from '@keyreeve/client/account';
import { credentialOf, readCredentialFile } from '../credential-input.ts';
import { UsageError } from '../failure.ts';
import { version } from '../output.ts';
import { assertServiceUrl, withoutFinalSlashes } from '../service-url.ts';
import { AdministratorSession } from './administrator-session.ts';
import { RemoteService } from './remote-service.ts';

export interface TargetOptions {
  readonly url?: string;
  readonly keyFile?: string;
}

let chosen: TargetOptions = {};

/** @throws UsageError */
export function chooseTarget({ url, keyFile }: TargetOptions): void {
  if (url === undefined && keyFile !== undefined) throw new UsageError('--key-file requires --url');
  if (url !== undefined) {
    assertServiceUrl(url, 'use https');
    // With NODE_USE_ENV_PROXY or --use-env-proxy, Node sends plain requests to the proxy, also those to loopback.
    const { proxyEnv } = (globalAgent as { readonly options?: { readonly proxyEnv?: unknown } }).options ?? {};
    if (proxyEnv !== undefined && url.startsWith('http:'))
      throw new UsageError(
        'Node sends requests over plain HTTP to the proxy of the environment, which would see the credential; unset NODE_USE_ENV_PROXY, or use https',
      );
  }
  chosen = {
    ...(url === undefined ? {} : { url: withoutFinalSlashes(url) }),
    ...(keyFile === undefined ? {} : { keyFile }),
  };
}

/** @returns undefined for the database of this machine */
export const serviceOfTarget = (): Service | undefined =>
  chosen.url === undefined
    ? undefined
    : // `assertServiceUrl` has checked it.
      { url: chosen.url, allowPlainHttp: true, userAgent: `keyreeve-cli/${version}` };

/** @returns undefined for the database of this machine @throws UsageError */
export async function openTarget(): Promise<RemoteService | undefined> {
  const service = serviceOfTarget();
  if (!service) return undefined;
  if (chosen.keyFile === undefined) return new RemoteService(service, new AdministratorSession(service));
  const key = credentialOf(await readCredentialFile(chosen.keyFile));
  if (!key) throw new UsageError(`--key-file ${chosen.keyFile} contains no management key`);
  return new RemoteService(service, {
    kind: 'management_key',
    send: (attempt) => attempt({ Authorization: `Bearer ${key.reveal()}` }),
  });
}
