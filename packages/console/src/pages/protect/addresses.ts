/** Where proxies and programs reach the service, for the examples. */
import type { ResponseOf } from '../../api.ts';
import { config } from '../../session.ts';

export interface Addresses {
  /** Host and port. */
  readonly forProxies: string;
  readonly forPrograms: string;
}

/** Of the service on every network interface. The same machine reaches it on loopback. */
const everywhere = new Set(['0.0.0.0', '::']);

/** @param settings undefined while they are not known: then those of the documentation */
export function addressesOf(settings: ResponseOf<'GET /admin/settings'>['settings'] = []): Addresses {
  const valueOf = (name: string): string =>
    settings.find((setting) => setting.name === `KEYREEVE_${name}`)?.value ?? '';
  const host = (valueOf('VERIFY_PORT') && valueOf('VERIFY_HOST')) || valueOf('HOST');
  const port = Number(valueOf('VERIFY_PORT')) || Number(valueOf('PORT')) || 8787;
  const reachable = host === '' || everywhere.has(host) ? '127.0.0.1' : host;
  const forProxies = `${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
  return { forProxies, forPrograms: config.value?.verificationUrl ?? `http://${forProxies}` };
}
