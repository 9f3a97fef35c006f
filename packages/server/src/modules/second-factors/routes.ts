/** Routes of an account's own second factor. */
import * as contract from '@keyreeve/contract';
import { Secret } from '../../foundation/crypto/secret.ts';
import { route, type Route } from '../../http/route.ts';
import type { Enrolment } from './enrolment.ts';

export function enrolmentRoutes(enrolment: Enrolment): readonly Route[] {
  return [
    route(contract.beginSecondFactor, async ({ principal, body, clientIp }) => ({
      status: 201,
      body: await enrolment.begin(principal, { currentPassword: new Secret(body.currentPassword), clientIp }),
    })),
    route(contract.confirmSecondFactor, async ({ principal, body, clientIp }) => {
      const recoveryCodes = await enrolment.confirm(principal, body.code, clientIp);
      return { status: 200, body: { recoveryCodes } satisfies contract.RecoveryCodes };
    }),
    route(contract.removeSecondFactor, async ({ principal, body, clientIp }) => {
      const owner = { currentPassword: new Secret(body.currentPassword), clientIp };
      await enrolment.remove(principal, owner, body);
      return { status: 204 };
    }),
    route(contract.replaceRecoveryCodes, async ({ principal, body, clientIp }) => {
      const owner = { currentPassword: new Secret(body.currentPassword), clientIp };
      const recoveryCodes = await enrolment.replaceRecoveryCodes(principal, owner, body);
      return { status: 200, body: { recoveryCodes } satisfies contract.RecoveryCodes };
    }),
  ];
}
