/** A collector of OTLP over HTTP with JSON, on a free port of this machine. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As in the JSON of OTLP. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: Pick<CollectedSpan, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[];
  }[];
}

export const attributesOf = ({ attributes }: Pick<CollectedSpan, 'attributes'>): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

export class Collector implements AsyncDisposable {
  readonly spans: CollectedSpan[] = [];
  /** Of each export. */
  readonly resources: Record<string, unknown>[] = [];
  /** All bodies. */
  text = '';
  /** Requests, also those without an answer. */
  requests = 0;
  /** By default, it accepts every export. */
  answer: (response: ServerResponse) => void = (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  readonly #server = createServer((request, response) => {
    this.requests++;
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      this.#add(text);
      this.answer(response);
    });
  });

  static async start(): Promise<Collector> {
    const collector = new Collector();
    await once(collector.#server.listen(0, '127.0.0.1'), 'listening');
    return collector;
  }

  /** For a service. The spans are sent soon, so that a test does not wait for seconds. */
  get environment(): Readonly<Record<string, string>> {
    const { port } = this.#server.address() as AddressInfo;
    return { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_SCHEDULE_DELAY: '50' };
  }

  named(name: string): CollectedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  #add(text: string): void {
    this.text += text;
    for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans) {
      this.resources.push(attributesOf(resource));
      this.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
