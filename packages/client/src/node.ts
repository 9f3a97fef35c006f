/** The package on Node. */
import { readFile } from 'node:fs/promises';
import { Client, type KeyreeveOptions } from './client.ts';
import { openFetchTransport } from './fetch-transport.ts';
import { openNodeTransport } from './node-transport.ts';

export { newCheck, type Check, type CheckOptions, type Outcome } from './check.ts';
export type { KeyreeveOptions, Verifier } from './client.ts';
export type { ProblemCode, Refusal } from './problem.ts';
export type { CallOptions, VerifyOptions } from './question.ts';
export type { HeaderLines, NodeRequest, RequestHeaders } from './request-credential.ts';
export type { ServiceKey } from './service-key.ts';
export { KeyreeveUnavailable } from './unavailable.ts';
export type {
  AcceptedCredential,
  RefusalCode,
  RefusedCredential,
  RemainingLimit,
  VerificationResult,
} from './verification-result.ts';

/** Verifies credentials in batches. Create one for the whole program. */
export class Keyreeve extends Client {
  constructor(options: KeyreeveOptions) {
    super(withFile(options), options.fetch ? openFetchTransport : openNodeTransport);
  }
}

function withFile({ serviceKeyFile: path, ...options }: KeyreeveOptions): KeyreeveOptions {
  if (path === undefined) return options;
  if (options.serviceKey !== undefined) throw new TypeError('serviceKey: expected none beside serviceKeyFile');
  return { ...options, serviceKey: async () => (await readFile(path, 'utf8')).trim() };
}
