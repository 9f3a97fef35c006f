/** Verifications of recorded requests, each in a span. */
import { currentSpan } from '../../foundation/database/share.ts';
import type { Span } from '../../foundation/tracing.ts';

type Outcome = { readonly valid: true; readonly type: string } | { readonly valid: false; readonly code: string };

interface Recorded {
  /** Of the request. Default: the one of the current share. */
  readonly span?: Span | undefined;
}

/** @returns the span of the request; undefined if the request is not recorded */
export const parentOf = ({ span }: Recorded): Span | undefined => span ?? currentSpan();

/**
 * Verifies in a span, to which the reads of the verification belong.
 * @param start calls one of its two callbacks, once
 */
export function record<Conditions extends Recorded & { readonly span: Span }, Result extends Outcome>(
  conditions: Conditions,
  answer: (result: Result) => void,
  fail: (error: unknown) => void,
  start: (conditions: Conditions, answer: (result: Result) => void, fail: (error: unknown) => void) => void,
): void {
  const span = conditions.span.child('verify');
  const recordedAnswer = (result: Result): void => {
    span.set('keyreeve.verification.reason', result.valid ? result.type : result.code).end();
    answer(result);
  };
  const recordedFail = (error: unknown): void => {
    span.fail().end();
    fail(error);
  };
  start({ ...conditions, span }, recordedAnswer, recordedFail);
}
