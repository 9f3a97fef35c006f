/** HTTP routes of programs on devices, and of the persons who approve their requests. */
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { route, type Route } from '../../http/route.ts';
import type { Grant } from '../short-lived-secrets/routes.ts';
import type { Approvals } from './approvals.ts';
import type { DeviceMail } from './device-mail.ts';
import { unknownProgram, type DeviceRequests } from './device-requests.ts';
import type { KeyRevocations } from './key-revocations.ts';

/** RFC 6749 section 5.1 requires it besides `Cache-Control`. */
const headers = ['Pragma', 'no-cache'];

export const deviceRoutes = (requests: DeviceRequests, revocations: KeyRevocations): readonly Route[] => [
  route(
    contract.requestDeviceAuthorization,
    async ({ body, credential, clientIp }) => {
      assertPublicClient(credential.kind);
      const { client_id: clientId, scope = '' } = body;
      return { status: 200, headers, body: await requests.begin(clientId, scope, clientIp) };
    },
    (header) => requests.assertOrigin(header('Origin'), header('Sec-Fetch-Site')),
  ),
  route(contract.revokeToken, async ({ body: { client_id: clientId, token }, credential }) => {
    assertPublicClient(credential.kind);
    await revocations.revoke(clientId, token);
    return { status: 200 };
  }),
];

export const approvalRoutes = (approvals: Approvals): readonly Route[] => [
  route(contract.lookUpApproval, async ({ principal, clientIp, body }) => ({
    status: 200,
    body: await approvals.lookUp({ principal, clientIp }, body.code),
  })),
  route(contract.getApproval, async ({ principal, clientIp, params: { id } }) => ({
    status: 200,
    body: await approvals.find({ principal, clientIp }, id),
  })),
  route(contract.approveRequest, async ({ principal, clientIp, params: { id }, body }) => ({
    status: 200,
    body: await approvals.approve({ principal, clientIp }, id, body),
  })),
  route(contract.denyRequest, async ({ principal, clientIp, params: { id }, body }) => {
    await approvals.deny({ principal, clientIp }, id, body.code);
    return { status: 200, body: { message: 'The request is denied. The program gets no API key.' } };
  }),
];

/** For a client with a one-time code from a mail. */
export const keyRemovalRoutes = (mail: DeviceMail): readonly Route[] => [
  route(contract.removeMailedKey, async ({ body: { code, email } }) => {
    await mail.removeKey(code, email);
    return { status: 200, body: { message: 'The API key has been deleted.' } };
  }),
];

/** A credential that is ignored would seem to authenticate the client. @throws DomainError `invalid_request` */
function assertPublicClient(credential: string): void {
  if (credential !== 'none')
    throw new DomainError('invalid_request', {
      detail: 'Send no Authorization or X-API-Key header: a program has no credential.',
    });
}

/** The grant of a device code at the token endpoint (RFC 8628 section 3.4). */
export const deviceGrant =
  (requests: DeviceRequests): Grant =>
  async ({ client_id: clientId = '', device_code: deviceCode = '' }, { credential, clientIp }) => {
    assertPublicClient(credential.kind);
    if (clientId === '') throw unknownProgram();
    if (deviceCode === '')
      throw new DomainError('invalid_request', { detail: 'The parameter device_code is missing.' });
    const polled = requests.poll({ clientId, deviceCode, clientIp }).catch(rethrowToPollAgain);
    const { secret, keyId, nickname, scopes, expiresInSeconds } = await polled;
    return {
      access_token: secret.reveal(),
      token_type: 'Bearer',
      expires_in: expiresInSeconds,
      scope: scopes.join(' '),
      key_id: keyId,
      nickname,
    };
  };

/**
 * For a poll of unknown outcome: clients that read only the OAuth code poll again after `slow_down`, and end the sign-in after any
 * other, although the key may exist.
 */
function rethrowToPollAgain(error: unknown): never {
  if (error instanceof DomainError && error.code === 'unavailable')
    throw new DomainError('unavailable', { ...error.options, oauthError: 'slow_down' });
  throw error;
}
