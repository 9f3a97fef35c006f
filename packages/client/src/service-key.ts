/** The key of the client's own requests. A function returns the current one, so that it can change in a running process. */

/** A function is called for each request. */
export type ServiceKey = string | (() => string | Promise<string>);

/** Of API keys, and of short-lived secrets. */
export const keyForm = /^[\x21-\x2B\x2D-\x7E]+$/;

/**
 * @returns a function that returns the field `Authorization`
 * @throws TypeError for a malformed text
 */
export function authorizationOf(name: string, key: ServiceKey): () => string | Promise<string> {
  if (typeof key === 'function')
    return async () => {
      const text = await key();
      if (!keyForm.test(text)) throw new Error(`${name}: the function has returned no API key`);
      return `Bearer ${text}`;
    };
  if (!keyForm.test(key)) throw new TypeError(`${name}: expected an API key, or a function that returns it`);
  const authorization = `Bearer ${key}`;
  return () => authorization;
}
