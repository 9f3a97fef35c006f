/** Unchanged OAuth clients that sign a person in as a device (RFC 8628), and send the key to a resource. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { python } from '../../../../python/test/python.ts';
import { awaited } from '../../../test-kit/until.ts';
import { authlib, type Outcome } from './clients.ts';

export interface DeviceRequest {
  /** The issuer of the metadata of RFC 8414. */
  readonly issuer: string;
  readonly deviceUrl: string;
  readonly tokenUrl: string;
  readonly resourceUrl: string;
  readonly clientId: string;
  readonly scope: string;
}

/** What the person does with the code that the client shows, while the client polls. */
export type Decide = (userCode: string) => Promise<void>;

export type DeviceProgram = (request: DeviceRequest, decide: Decide) => Promise<Outcome>;

export const signInWithOpenidClient: DeviceProgram = async (of, decide) => {
  const options: openid.DiscoveryRequestOptions = { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] };
  const config = await openid.discovery(new URL(of.issuer), of.clientId, {}, openid.None(), options);
  const begun = await openid.initiateDeviceAuthorization(config, { scope: of.scope });
  const decided = decide(begun.user_code);
  try {
    const tokens = await openid.pollDeviceAuthorizationGrant(config, begun);
    const response = await openid.fetchProtectedResource(config, tokens.access_token, new URL(of.resourceUrl), 'GET');
    return { status: response.status };
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError) return { error: error.error };
    throw error;
  } finally {
    await decided;
  }
};

/** A program that writes the user code as its first line, and the outcome as its second. */
const signInWithProgram =
  (command: string, args: readonly string[]): DeviceProgram =>
  async (request, decide) => {
    const env = { ...process.env, NO_PROXY: '*', no_proxy: '*' };
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const closed = once(child, 'close');
    try {
      child.stdin.end(JSON.stringify(request));
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const next = async (what: string): Promise<string> =>
        (await awaited(what, lines.next())).value ?? Promise.reject(new Error(`${command} has ended`));
      await decide(await next('the client shows the code'));
      return JSON.parse(await next('the client has polled')) as Outcome;
    } finally {
      child.kill('SIGKILL');
      await closed;
    }
  };

export const signInWithAuthlib = signInWithProgram(python, [authlib]);
/** @param program built from `goFolder` */
export const signInWithGo = (program: string): DeviceProgram => signInWithProgram(program, []);
