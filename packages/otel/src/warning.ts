/** Warnings on standard error: standard output has the log of the service. At most one in a minute. */

const everyMs = 60_000;
const charsMax = 300;
let lastMs = -everyMs;

/** @param cause an Error, or text. A collector may have chosen its message, so only printable characters are written */
export function warn(what: string, cause: unknown): void {
  const nowMs = performance.now();
  if (nowMs - lastMs < everyMs) return;
  lastMs = nowMs;
  const text = (cause instanceof Error ? cause.message : String(cause)).replaceAll(/[^\x20-\x7e]+/g, ' ');
  process.stderr.write(`keyreeve-otel: ${what}: ${text.slice(0, charsMax)}\n`);
}
