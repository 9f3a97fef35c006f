/** Unchanged OAuth clients that get a short-lived secret at the token endpoint, and send it to a resource. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { python } from '../../../../python/test/python.ts';
import { programMsMax } from '../../../test-kit/time-limits.ts';

export interface ClientRequest {
  /** The issuer of the metadata of RFC 8414. */
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly resourceUrl: string;
  readonly clientId: string;
  /** Absent for a client without authentication. */
  readonly clientSecret?: string;
  /** Of the form. `grant_type` is absent for `client_credentials`. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The status of the resource, or the error of the token endpoint. */
export interface Outcome {
  readonly status?: number;
  readonly error?: string;
}

export type OauthClient = (request: ClientRequest) => Promise<Outcome>;

/** The service of the test has no HTTPS. */
const insecure = { [oauth.allowInsecureRequests]: true };

async function useOpenidClient(of: ClientRequest): Promise<Outcome> {
  const authentication = of.clientSecret === undefined ? openid.None() : openid.ClientSecretBasic(of.clientSecret);
  const options: openid.DiscoveryRequestOptions = { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] };
  try {
    const config = await openid.discovery(new URL(of.issuer), of.clientId, {}, authentication, options);
    const { grant_type: grantType, ...parameters } = of.parameters;
    const tokens =
      grantType === undefined
        ? await openid.clientCredentialsGrant(config, parameters)
        : await openid.genericGrantRequest(config, grantType, parameters);
    const response = await openid.fetchProtectedResource(config, tokens.access_token, new URL(of.resourceUrl), 'GET');
    return { status: response.status };
  } catch (error) {
    return errorOf(error);
  }
}

async function useOauth4webapi(of: ClientRequest): Promise<Outcome> {
  const issuer = new URL(of.issuer);
  const client = { client_id: of.clientId };
  const authentication = of.clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(of.clientSecret);
  const { grant_type: grantType, ...parameters } = of.parameters;
  try {
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const server = await oauth.processDiscoveryResponse(issuer, found);
    const tokens =
      grantType === undefined
        ? await oauth.processClientCredentialsResponse(
            server,
            client,
            await oauth.clientCredentialsGrantRequest(server, client, authentication, parameters, insecure),
          )
        : await oauth.processGenericTokenEndpointResponse(
            server,
            client,
            await oauth.genericTokenEndpointRequest(server, client, authentication, grantType, parameters, insecure),
          );
    const url = new URL(of.resourceUrl);
    const response = await oauth.protectedResourceRequest(tokens.access_token, 'GET', url, undefined, null, insecure);
    return { status: response.status };
  } catch (error) {
    return errorOf(error);
  }
}

function errorOf(error: unknown): Outcome {
  // With Basic, openid-client reports the challenge of the 401.
  if (error instanceof oauth.ResponseBodyError) return { error: error.error };
  if (error instanceof oauth.WWWAuthenticateChallengeError) return { error: 'invalid_client' };
  throw error;
}

export const goFolder = fileURLToPath(new URL('.', import.meta.url));
export const authlib = fileURLToPath(new URL('authlib_client.py', import.meta.url));

const useProgram =
  (command: string, args: readonly string[]): OauthClient =>
  (request) =>
    new Promise((resolve, reject) => {
      const env = { ...process.env, NO_PROXY: '*', no_proxy: '*' };
      const child = execFile(command, args, { env, timeout: programMsMax }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${error.message}\n${stderr}`));
        else resolve(JSON.parse(stdout) as Outcome);
      });
      child.stdin?.end(JSON.stringify(request));
    });

export const libraries: Readonly<Record<string, OauthClient>> = {
  'openid-client': useOpenidClient,
  oauth4webapi: useOauth4webapi,
};
export const useAuthlib = useProgram(python, [authlib]);
/** @param program built from `goFolder` */
export const useGo = (program: string): OauthClient => useProgram(program, []);
