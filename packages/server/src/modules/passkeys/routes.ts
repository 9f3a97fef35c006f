/** Routes of an account's own passkeys, and the options of a sign-in. */
import * as contract from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import type { Passkeys } from './passkeys.ts';
import type { PasskeySignIns } from './sign-ins.ts';

export const passkeySignInRoutes = (signIns: PasskeySignIns): readonly Route[] => [
  route(contract.passkeySignInOptions, async () => ({ status: 200, body: signIns.requestOptions() })),
];

export function passkeyRoutes(passkeys: Passkeys): readonly Route[] {
  return [
    route(contract.passkeyOptions, async ({ principal }) => ({
      status: 200,
      body: await passkeys.creationOptions(principal),
    })),
    route(contract.addPasskey, async ({ principal, body, clientIp }) => ({
      status: 201,
      body: await passkeys.add(principal, { ...body, clientIp }),
    })),
    route(contract.listPasskeys, async ({ principal }) => ({ status: 200, body: await passkeys.list(principal) })),
    route(contract.renamePasskey, async ({ principal, params, body }) => {
      await passkeys.rename(principal, params.id, body.name);
      return { status: 204 };
    }),
    route(contract.removePasskey, async ({ principal, params, clientIp }) => {
      await passkeys.remove(principal, params.id, clientIp);
      return { status: 204 };
    }),
  ];
}
