/**
 * The log: JSON lines on standard output, one event each. Secrets have a type of their own that prints `[redacted]`;
 * headers, bodies, queries and emails are never logged at any level.
 */
import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';

export type Log = Logger;

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** @param destination standard output unless given */
export function createLog(level: LogLevel, destination?: DestinationStream): Log {
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return destination ? pino(options, destination) : pino(options);
}
