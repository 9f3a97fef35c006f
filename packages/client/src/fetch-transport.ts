/** Batches over `fetch`, for edge runtimes and for a `fetch` of the program. A batch counts as written when `fetch` was called. */
import type { Destination, Transport } from './transport.ts';

/** @throws TypeError for certificates of authorities, which `fetch` does not accept */
export function openFetchTransport({ url, headers, ca, fetch }: Destination): Transport {
  if (ca !== undefined) throw new TypeError('ca: only Node without the option `fetch` accepts it');
  return {
    // Whether a byte has arrived is not known when `fetch` fails, so no error is `Unanswered`.
    send: async ({ body, authorization }, canceller) => {
      const request = new AbortController();
      const { signal } = request;
      canceller.cancel = () => request.abort();
      const all = { ...headers, Authorization: authorization };
      // Not as a method of the options.
      const send = fetch ?? globalThis.fetch;
      const response = await send(url, { method: 'POST', headers: all, body, signal, redirect: 'manual' });
      return { status: response.status, text: await response.text(), retryAfter: response.headers.get('retry-after') };
    },
    soon: queueMicrotask,
    close: () => undefined,
  };
}
