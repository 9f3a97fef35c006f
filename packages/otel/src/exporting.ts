/** The exporter: a bounded queue of spans, sent in batches by OTLP over HTTP. A full queue drops spans. */
import { diag, DiagLogLevel } from '@opentelemetry/api';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { SpanRecord } from '../../server/src/foundation/tracing.ts';
import { RecordedSpan } from './readable-span.ts';
import { readSettings } from './settings.ts';
import { warn } from './warning.ts';

/** Less than the 512 of the SDK: the objects of an export then fit into the young generation of the garbage collector. */
const maxExportBatchSize = 128;
/** The longest time that a stopping service waits for the collector. */
const stopMsMax = 1_000;

/** @returns a function that sends the waiting spans and ends the exporter; undefined if the package is disabled */
export function startExporting(environment: NodeJS.ProcessEnv): (() => Promise<void>) | undefined {
  const { isDisabled, queue, problems } = readSettings(environment);
  if (isDisabled) return undefined;
  for (const problem of problems) warn('configuration', problem);
  const ignored = (): void => undefined;
  const report = (message: string): void => warn('the collector does not accept spans', messageOf(message));
  diag.setLogger(
    { error: report, warn: report, info: ignored, debug: ignored, verbose: ignored },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'keyreeve' }))
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }));
  const processor = new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), maxExportBatchSize, ...queue });
  const onSpan = (message: unknown): void => {
    try {
      processor.onEnd(new RecordedSpan(message as SpanRecord, resource));
    } catch (error) {
      // An exception in a subscriber would end the process.
      warn('a span was not sent', error);
    }
  };
  subscribe('keyreeve:span', onSpan);
  return async () => {
    unsubscribe('keyreeve:span', onSpan);
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, stopMsMax);
    const ended = processor.shutdown().catch((error: unknown) => warn('the last spans were not sent', error));
    await Promise.race([ended, late.promise]);
    clearTimeout(timer);
  };
}

/** The SDK logs an error as JSON with its stack. */
function messageOf(text: string): string {
  try {
    const { message = text } = JSON.parse(text) as { readonly message?: string };
    return message;
  } catch {
    return text;
  }
}
