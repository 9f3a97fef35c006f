/** Verification for backends: one credential, a batch, or introspection (RFC 7662). `forward.ts` serves proxies. */
import * as contract from '@keyreeve/contract';
import type { Environments } from '../api-keys/environments.ts';
import { monotonicMs } from '../../foundation/clock.ts';
import type { CanaryPrincipal } from '../../foundation/principal.ts';
import { route, type Route, type ServiceCaller } from '../../http/route.ts';
import { restrictedTo, unconditional, type Question, type VerificationResult } from './conditions.ts';
import { conditionsOf, verifyForService, visibleTo, type ServiceQuestion } from './for-services.ts';
import { toBatchResult, toIntrospection, toResult } from './responses.ts';
import type { Verifier } from './verify.ts';

/**
 * Until the caller is known, a verification only reads.
 * @param onFailure called with the cause of each credential of a batch that has no result
 */
export function verificationRoutes(verifier: Verifier, onFailure: (error: unknown) => void): readonly Route[] {
  const { durations, environments } = verifier;
  const verify = (caller: ServiceCaller, question: ServiceQuestion): Promise<VerificationResult> =>
    new Promise((answer, fail) => verifyForService(verifier, caller, question, { answer, fail }));
  return [
    route(contract.verify, async ({ body, principal }) => {
      const conditions = conditionsOf(body, '', environments);
      const result = await verify(principal, { endpoint: 'verify', text: body.credential, conditions });
      return { status: 200, body: toResult(result) };
    }),
    route(contract.verifyBatch, async ({ body, principal }) => {
      const caller = await principal.promise;
      const stated = questionsOf(body, environments);
      const questions = caller ? stated.map((question) => restrictedQuestion(caller, question)) : stated;
      const startedMs = monotonicMs();
      try {
        const results = await verifier.verifyMany(questions, onFailure);
        return { status: 200, body: { results: results.map((result) => toBatchResult(visibleTo(caller, result))) } };
      } finally {
        durations.byEndpoint.verify_batch.add(monotonicMs() - startedMs);
      }
    }),
    route(contract.introspect, async ({ body, principal }) => {
      const question = { endpoint: 'introspect', text: body.token, conditions: unconditional } as const;
      return { status: 200, body: toIntrospection(await verify(principal, question)) };
    }),
  ];
}

const restrictedQuestion = (caller: CanaryPrincipal, { text, conditions = unconditional }: Question): Question => ({
  text,
  conditions: restrictedTo(caller, conditions),
});

/** The schema allows exactly one of the two members. @throws DomainError `invalid_request` */
function questionsOf({ credentials = [], questions }: contract.VerifyBatchBody, known: Environments): Question[] {
  if (!questions) return credentials.map((text) => ({ text }));
  return questions.map((question, index) => ({
    text: question.credential,
    conditions: conditionsOf(question, `/questions/${index}`, known),
  }));
}
