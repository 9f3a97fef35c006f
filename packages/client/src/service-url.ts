/** The URLs of the service. Plain HTTP is only for loopback, because every request contains a credential. */

interface Address {
  readonly url: string;
  readonly allowPlainHttp?: boolean | undefined;
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * @param path relative to the URL of the service
 * @throws TypeError if the URL is malformed, has a user, query or fragment, or is plain HTTP to another host
 */
export function serviceUrl({ url, allowPlainHttp = false }: Address, path: string): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (!base || !/^https?:$/.test(base.protocol) || base.username + base.password + base.search + base.hash !== '')
    throw new TypeError('url: expected the URL of Keyreeve, such as https://auth.example.com');
  if (base.protocol === 'http:' && !loopback.test(base.hostname) && !allowPlainHttp)
    throw new TypeError('url: plain HTTP is allowed to loopback only; use https, or set allowPlainHttp');
  if (!base.pathname.endsWith('/')) base.pathname += '/';
  return new URL(path, base);
}
