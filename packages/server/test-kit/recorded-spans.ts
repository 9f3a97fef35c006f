/** Collects the spans that the program in this process publishes, as `@keyreeve/otel` does in the process of a service. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { SpanRecord } from '../src/foundation/tracing.ts';

export class RecordedSpans implements Disposable {
  readonly all: SpanRecord[] = [];
  readonly #onSpan = (span: unknown): number => this.all.push(span as SpanRecord);

  constructor() {
    subscribe('keyreeve:span', this.#onSpan);
  }

  named(name: string): SpanRecord[] {
    return this.all.filter((span) => span.name === name);
  }

  /** The names of the span's children, in the order of their ends. */
  childrenOf({ spanId }: Pick<SpanRecord, 'spanId'>): string[] {
    return this.all.filter((span) => span.parentId === spanId).map(({ name }) => name);
  }

  [Symbol.dispose](): void {
    unsubscribe('keyreeve:span', this.#onSpan);
  }
}
