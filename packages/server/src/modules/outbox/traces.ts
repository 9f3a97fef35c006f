/** Jobs in traces: a job belongs to the trace of the recorded request that wrote it. */
import { currentSpan, runAsSystem } from '../../foundation/database/share.ts';
import { isTraced, Span, type Sampling, type SpanContext } from '../../foundation/tracing.ts';

/** @param sampling of jobs that no recorded request has written @returns undefined if the job is not recorded */
export function startSpan(sampling: Sampling, kind: string, payload: unknown): Span | undefined {
  if (!isTraced()) return undefined;
  const remote = (payload as { readonly trace?: SpanContext }).trace;
  return remote || sampling.isNextChosen() ? new Span({ name: spanNameOf(kind), kind: 'client', remote }) : undefined;
}

/** A decoy is recorded as the mail that it resembles, so that a trace does not reveal which accounts exist. */
const spanNameOf = (kind: string): string => (kind === 'decoy' ? 'mail' : kind);

/** The payload with the trace of the current request. Other versions ignore the member. */
export function withTrace(payload: unknown): unknown {
  const span = currentSpan();
  if (!span || typeof payload !== 'object') return payload;
  return { ...payload, trace: { traceId: span.traceId, spanId: span.spanId } satisfies SpanContext };
}

export async function recorded<T>(span: Span | undefined, attempts: number, run: () => Promise<T>): Promise<T> {
  if (!span) return run();
  try {
    return await runAsSystem(run, span.set('keyreeve.job.attempt', attempts));
  } catch (error) {
    span.fail();
    throw error;
  } finally {
    span.end();
  }
}
