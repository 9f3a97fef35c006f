/** Reports a leaked secret to an instance, without a credential. */
import { randomInt } from 'node:crypto';
import type { HttpResponse, Instance } from './instance.ts';

/**
 * @returns the response; an instance that rejects the report because of its limits gets no more reports
 * @throws Error without a response
 */
export async function reportLeak(instance: Instance, secret: string): Promise<HttpResponse> {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': anyClientIp() };
  const body = JSON.stringify({ keys: [secret] });
  const response = await instance.send({ method: 'POST', path: '/auth/leaks', headers, body });
  if (response.status === 404 || isLimited(response)) instance.acceptsLeakReports = false;
  return response;
}

/** Whether the client IP range has sent too many reports. Too many reports in progress also get 429, but for a moment only. */
const isLimited = ({ status, text }: HttpResponse): boolean => status === 429 && text.includes('too_many_requests');

/** Of an address range for benchmarks (RFC 2544): reports are limited by client IP range, if the instance trusts this client. */
const anyClientIp = (): string => `198.${18 + randomInt(2)}.${randomInt(256)}.${randomInt(256)}`;
