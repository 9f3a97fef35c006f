/** Batches over `fetch`, for edge runtimes. A batch counts as written when `fetch` was called. */
import type { Destination, Transport } from './transport.ts';

export function openFetchTransport({ url, headers }: Destination): Transport {
  return {
    // Whether a byte has arrived is not known when `fetch` fails, so no error is `Unanswered`.
    send: async (body, canceller) => {
      const request = new AbortController();
      const { signal } = request;
      canceller.cancel = () => request.abort();
      const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' });
      return { status: response.status, text: await response.text() };
    },
    soon: queueMicrotask,
    close: () => undefined,
  };
}
