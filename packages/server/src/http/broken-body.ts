/** Request bodies that can never be read to their end: the framing is broken, or the client sends them too slowly. */
import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '@keyreeve/contract';

/** Not `error`: an error event without a listener would end the process, and most routes ignore their request's body. */
const event = 'keyreeve:broken-body';
const reasons = new WeakMap<IncomingMessage, ErrorCode>();

/** Informs the route that reads the body, now or later. A route that ignores the body is not affected. */
export function breakBody(request: IncomingMessage, code: ErrorCode): void {
  reasons.set(request, code);
  request.emit(event, code);
}

export const whyBroken = (request: IncomingMessage): ErrorCode | undefined => reasons.get(request);

/** Calls `fail` once the body is known to be broken. */
export function onBrokenBody(request: IncomingMessage, fail: (code: ErrorCode) => void): void {
  const code = reasons.get(request);
  if (code === undefined) request.once(event, fail);
  else fail(code);
}
