/**
 * The log: one JSON object per line on standard output. Secrets have their own type, which prints `[redacted]`. No level
 * logs headers, bodies, queries or email addresses.
 */
import { pino, stdTimeFunctions, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import type { LogEvent } from './log-events.ts';
import { standardOutput } from './log-output.ts';

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

type Write = (line: { readonly event: LogEvent; readonly [member: string]: unknown }) => void;

/** pino, restricted to lines with an event of `log-events.ts`. */
export type Log = Pick<Logger, 'isLevelEnabled'> & Readonly<Record<Exclude<LogLevel, 'silent'>, Write>>;

export type LogLine = Parameters<Write>[0];
type IsHidden = (line: LogLine) => boolean;

/**
 * To be used as a `Log`.
 * @param destination for tests; standard output by default
 * @param isHidden whether a line is not written
 */
export function createLog(level: LogLevel, destination?: DestinationStream, isHidden?: IsHidden): Logger {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    ...(isHidden && { hooks: { logMethod: hiding(isHidden) } }),
  };
  if (destination) return pino(options, destination);
  const log = pino(options, standardOutput);
  const lines: Log = log;
  standardOutput.onRecovery = (records) => lines.error({ event: 'log_records_lost', records });
  process.on('exit', () => standardOutput.flushSync());
  return log;
}

const hiding = (isHidden: IsHidden): NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']> =>
  function write(this: Logger, args, method) {
    if (!isHidden(args[0] as LogLine)) method.apply(this, args);
  };
