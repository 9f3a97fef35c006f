/** The environment variables of the OpenTelemetry specification that its SDK does not read itself. */

export interface Settings {
  readonly isDisabled: boolean;
  /** Undefined: the default of the specification. */
  readonly queue: {
    readonly scheduledDelayMillis?: number;
    readonly maxQueueSize?: number;
    readonly maxExportBatchSize?: number;
    readonly exportTimeoutMillis?: number;
  };
  /** Values that are not used, as sentences. */
  readonly problems: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

const numbers = {
  scheduledDelayMillis: ['OTEL_BSP_SCHEDULE_DELAY', 600_000],
  maxQueueSize: ['OTEL_BSP_MAX_QUEUE_SIZE', 65_536],
  maxExportBatchSize: ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 65_536],
  exportTimeoutMillis: ['OTEL_BSP_EXPORT_TIMEOUT', 600_000],
} as const;

/** An invalid value is ignored, as the specification requires. */
export function readSettings(environment: Environment): Settings {
  const problems: string[] = [];
  const queue: Record<string, number> = {};
  for (const [name, [variable, max]] of Object.entries(numbers)) {
    const text = environment[variable] ?? '';
    if (text === '') continue;
    if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= max) queue[name] = Number(text);
    else problems.push(`${variable} must be a whole number from 1 to ${max}; the default is used`);
  }
  const protocol = environment['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || environment['OTEL_EXPORTER_OTLP_PROTOCOL'];
  if (protocol && protocol !== 'http/json')
    problems.push(`OTEL_EXPORTER_OTLP_PROTOCOL must be http/json, not ${protocol}; http/json is used`);
  const isDisabled =
    environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || environment['OTEL_TRACES_EXPORTER'] === 'none';
  return { isDisabled, queue, problems };
}
