/**
 * The trace id of a request (W3C Trace Context, https://www.w3.org/TR/trace-context/). Any client can choose it, so it only
 * connects the records of one request: nothing is decided by it, and the flag `sampled` is not read.
 */

const headerName = 'traceparent';
/** Version 00: the ids of the trace and of the parent, neither of them zero, and the flags. */
const pattern = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * @param rawHeaders alternating names and values
 * @returns undefined without a valid header, or with several: a receiver ignores these (section 4.3)
 */
export function traceIdOf(rawHeaders: readonly string[]): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length !== headerName.length || name.toLowerCase() !== headerName) continue;
    if (value !== undefined) return undefined;
    value = rawHeaders[i + 1] ?? '';
  }
  return value === undefined ? undefined : pattern.exec(value)?.[1];
}
