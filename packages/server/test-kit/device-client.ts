/** A program on a device, and a person who approves its requests. */
import assert from 'node:assert/strict';
import { deviceCodeGrant, type Approval, type DeviceAuthorization, type DeviceKey } from '@keyreeve/contract';
import { FakeClock } from './fake-clock.ts';
import {
  bearer,
  newApp,
  operator,
  type Answered,
  type SignedIn,
  type TestApp,
  type TestAppOptions,
} from './new-app.ts';

export const program = {
  id: 'acme-cli',
  name: 'Acme CLI',
  scopes: ['orders:read', 'orders:write'],
  lifetimeSeconds: 86_400,
};

const form = (app: TestApp, path: string, members: Record<string, string>, clientIp?: string): Promise<Answered> =>
  app.call('POST', path, {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(clientIp === undefined ? {} : { 'x-forwarded-for': clientIp }),
    },
    body: new URLSearchParams(members).toString(),
  });

export class DeviceClient implements AsyncDisposable {
  readonly app: TestApp;
  readonly person: SignedIn;

  constructor(app: TestApp, person: SignedIn) {
    this.app = app;
    this.person = person;
  }

  /** @param clientIp works only if the service trusts 127.0.0.1 as its proxy */
  tryBegin(members: Record<string, string> = {}, clientIp?: string): Promise<Answered> {
    return form(this.app, '/auth/oauth/device', { client_id: program.id, ...members }, clientIp);
  }

  async begin(members: Record<string, string> = {}, clientIp?: string): Promise<DeviceAuthorization> {
    const answer = await this.tryBegin(members, clientIp);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as DeviceAuthorization;
  }

  /** @param clientIp as of {@link tryBegin} */
  poll(deviceCode: string, clientId: string = program.id, app = this.app, clientIp?: string): Promise<Answered> {
    const members = { grant_type: deviceCodeGrant, client_id: clientId, device_code: deviceCode };
    return form(app, '/auth/oauth/token', members, clientIp);
  }

  /** @returns the key of a request that is approved */
  async fetch(deviceCode: string): Promise<DeviceKey> {
    const answer = await this.poll(deviceCode);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as DeviceKey;
  }

  revoke(token: string, clientId: string = program.id, app = this.app): Promise<Answered> {
    return form(app, '/auth/oauth/revoke', { client_id: clientId, token });
  }

  send(
    path: string,
    json: object,
    { by = this.person, clientIp }: { by?: SignedIn; clientIp?: string } = {},
  ): Promise<Answered> {
    const headers = { ...bearer(by.accessToken), ...(clientIp === undefined ? {} : { 'x-forwarded-for': clientIp }) };
    return this.app.call('POST', `/auth/approvals/${path}`, { headers, json });
  }

  async lookUp(code: string, by = this.person): Promise<Approval> {
    const answer = await this.send('lookup', { code }, { by });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as Approval;
  }

  async approve(code: string, body: object = {}, by = this.person): Promise<Approval> {
    const { id } = await this.lookUp(code, by);
    const answer = await this.send(`${id}/approve`, { code, ...body }, { by });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as Approval;
  }

  /** A request that is approved. @returns its device code */
  async approved(body: object = {}): Promise<string> {
    const { device_code: deviceCode, user_code: code } = await this.begin();
    await this.approve(code, body);
    return deviceCode;
  }

  async isAccepted(key: string): Promise<boolean> {
    return (await this.app.call('GET', '/auth/forward', { headers: bearer(key) })).status === 200;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
  }
}

export const errorOf = ({ json }: Answered): string => (json as { error: string }).error;

/** A service with a program, and a person with a session. */
export async function newDeviceClient({ environment = {}, ...options }: TestAppOptions = {}): Promise<DeviceClient> {
  const app = await newApp({
    clock: new FakeClock(),
    ...options,
    environment: { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1', ...environment },
  });
  await app.service.services.programs.add(operator, program);
  return new DeviceClient(app, await app.signIn());
}
