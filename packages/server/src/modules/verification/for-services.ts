/**
 * Verification of one credential for a service: the requests of `POST /auth/verify` and of introspection, on both paths of HTTP.
 * The caller is a service, or the credential of a revocation check, which verifies its canary keys only: every other credential
 * has the result of an unknown one.
 */
import type { VerifyBody } from '@keyreeve/contract';
import { monotonicMs } from '../../foundation/clock.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { isIpAddress } from '../../foundation/ip-address.ts';
import type { CanaryPrincipal } from '../../foundation/principal.ts';
import type { ServiceCaller } from '../../http/route.ts';
import type { Environments } from '../api-keys/environments.ts';
import type { Answer, BatchVerificationResult, Conditions, Fail, Question, VerificationResult } from './conditions.ts';
import type { VerificationEndpoint } from './durations.ts';
import type { Verifier } from './verify.ts';

export interface ServiceQuestion extends Required<Question> {
  readonly endpoint: VerificationEndpoint;
}

/** One of the two is called, once. */
interface Done {
  readonly answer: Answer;
  /** Called with the rejection of the caller, or with DomainError `unavailable`. */
  readonly fail: Fail;
}

/** Verifies the credential while the caller is authenticated. A rejected caller is not measured. */
export function verifyForService(
  verifier: Verifier,
  caller: ServiceCaller,
  { endpoint, text, conditions }: ServiceQuestion,
  { answer, fail }: Done,
): void {
  const durations = verifier.durations.byEndpoint[endpoint];
  const startedMs = monotonicMs();
  const answerCaller = (result: VerificationResult): void => {
    durations.add(monotonicMs() - startedMs);
    caller.when((canary) => answer(visibleTo(canary, result)), fail);
  };
  const failCaller = (error: unknown): void => {
    const ms = monotonicMs() - startedMs;
    const failAfter = (cause: unknown, isMeasured: boolean): void => {
      if (isMeasured) durations.add(ms);
      fail(cause);
    };
    caller.when(
      () => failAfter(error, true),
      (rejection) => failAfter(rejection, isUnavailable(rejection)),
    );
  };
  verifier.startVerification(text, { ...conditions, restriction: caller }, answerCaller, failCaller);
}

const isUnavailable = (error: unknown): boolean => error instanceof DomainError && error.code === 'unavailable';

/** The result that the caller may see: to a canary credential, every rejection is that of an unknown credential. */
export function visibleTo<R extends BatchVerificationResult>(
  caller: CanaryPrincipal | undefined,
  result: R,
): R | typeof notFound {
  return !caller || result.valid || result.code === 'unavailable' ? result : notFound;
}

const notFound = { valid: false, code: 'not_found' } as const;

/** @param pointer of the question @throws DomainError `invalid_request` for text that is not an IP address */
export function conditionsOf(
  { address, environments, scopes = [], cost = 1 }: VerifyBody,
  pointer: string,
  known: Environments,
): Conditions {
  if (address !== undefined && !isIpAddress(address))
    throw invalidAt(`${pointer}/address`, 'Expected an IP address without a port, such as 203.0.113.7.');
  if (environments)
    for (const [index, name] of environments.entries()) known.assertKnown(name, `${pointer}/environments/${index}`);
  return { clientIp: () => address, scopes, cost, environments };
}
