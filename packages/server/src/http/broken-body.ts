/** Request bodies that cannot be read completely: their framing is broken, or the client sends them too slowly. */
import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '@keyreeve/contract';

/** An `error` event without a listener would end the process, and most routes ignore the body of their request. */
const event = 'keyreeve:broken-body';
const reasons = new WeakMap<IncomingMessage, ErrorCode>();

/** Marks the body as broken. Only a route that reads the body, now or later, is affected. */
export function breakBody(request: IncomingMessage, code: ErrorCode): void {
  reasons.set(request, code);
  request.emit(event, code);
}

export const bodyErrorOf = (request: IncomingMessage): ErrorCode | undefined => reasons.get(request);

/** Calls `fail` when the body is broken, or immediately if it already is. */
export function onBrokenBody(request: IncomingMessage, fail: (code: ErrorCode) => void): void {
  const code = reasons.get(request);
  if (code === undefined) request.once(event, fail);
  else fail(code);
}
