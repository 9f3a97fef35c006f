/** How results with a secret are printed, also by the libraries of other languages: without it. */
import { KeyreeveError } from './account-request.ts';

const inspected = Symbol.for('nodejs.util.inspect.custom');

/**
 * @param content of a response
 * @returns the same object, of which `console.log` and `util.inspect` print only kind and id. JSON has all members
 * @throws KeyreeveError if the response had no content, or was not JSON
 */
export function hideSecret<T extends object>(kind: string, content: T | undefined, idOf: (content: T) => unknown): T {
  if (typeof content !== 'object' || content === null)
    throw new KeyreeveError(200, { detail: 'the response has another form than expected' });
  const text = `${kind}(${String(idOf(content))})`;
  return Object.defineProperty(content, inspected, { value: () => text });
}
