/** Results with a secret: they print without it, as in the libraries of other languages. */

const inspected = Symbol.for('nodejs.util.inspect.custom');

/** @returns the same object, of which `console.log` and `util.inspect` print only kind and id. JSON has all members */
export function hideSecret<T extends object>(kind: string, content: T, idOf: (content: T) => unknown): T {
  const text = `${kind}(${String(idOf(content))})`;
  return Object.defineProperty(content, inspected, { value: () => text });
}
