/**
 * The trace of a request (W3C Trace Context, https://www.w3.org/TR/trace-context-2/). Any client can choose its id, which
 * connects the log lines of one request. Only a trusted proxy decides with it: about spans, and about ids in audit events.
 */

export interface TraceContext {
  readonly traceId: string;
  /** The span of the caller. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const headerName = 'traceparent';
/** Of version 00. Later versions begin with the same fields (section 4.2.1). */
const charsOfFields = 55;
/** Of a later version. Its further fields are not read. */
const charsMax = 512;
/** The version, the ids of the trace and of the parent, neither of them zero, and the flags, all in lower case. */
const pattern = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
const sampledFlag = 1;

/**
 * @param rawHeaders alternating names and values
 * @returns undefined without a valid header, or with several: a receiver ignores these (section 4.3)
 */
export function traceContextOf(rawHeaders: readonly string[]): TraceContext | undefined {
  let value: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length !== headerName.length || name.toLowerCase() !== headerName) continue;
    if (value !== undefined) return undefined;
    value = rawHeaders[i + 1] ?? '';
  }
  return value === undefined || value.length > charsMax ? undefined : parse(value);
}

function parse(value: string): TraceContext | undefined {
  const [, version, traceId, spanId, flags = ''] = pattern.exec(value) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  if (version === '00' && value.length !== charsOfFields) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 };
}

export const traceIdOf = (rawHeaders: readonly string[]): string | undefined => traceContextOf(rawHeaders)?.traceId;
