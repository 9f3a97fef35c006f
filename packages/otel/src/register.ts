/**
 * Loaded with `--import @keyreeve/otel`. Sends the spans of a Keyreeve service to a collector of OpenTelemetry.
 *
 * `NODE_OPTIONS` loads it into every Node process: npm, the launcher, commands and threads. It does
 * nothing until a service in the main thread starts, so other processes load only this file.
 */
import { subscribe } from 'node:diagnostics_channel';
import { isMainThread } from 'node:worker_threads';
import type { TracingPhase } from '../../server/src/foundation/tracing.ts';
import { warn } from './warning.ts';

/** Ends the exporter. Undefined before the start of a service, and if the package is disabled. */
let stop: (() => Promise<void>) | undefined;

async function start(): Promise<void> {
  try {
    const { startExporting } = await import('./exporting.ts');
    stop = startExporting(process.env);
  } catch (error) {
    warn('spans are not sent', error);
  }
}

if (isMainThread)
  subscribe('keyreeve:tracing', (message) => {
    const { phase, waitFor } = message as TracingPhase;
    if (phase === 'start') waitFor(start());
    else if (stop) waitFor(stop());
  });
