/** The package on edge runtimes. The conditions of `exports` select this file. */
import { Client, type KeyreeveOptions } from './client.ts';
import { openFetchTransport } from './fetch-transport.ts';

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
    super(options, openFetchTransport);
  }
}
