/**
 * The log: one JSON object per line on standard output. Secrets have their own type, which prints `[redacted]`. No level
 * logs headers, bodies, queries or email addresses.
 */
import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { standardOutput } from './log-output.ts';

export type Log = Logger;

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** @param destination for tests; standard output by default */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (destination) return pino(options, destination);
  const log = pino(options, standardOutput);
  standardOutput.onRecovery = (records) => log.error({ event: 'log_records_lost', records });
  process.on('exit', () => standardOutput.flushSync());
  return log;
}
