/**
 * Requests and operations of races. On a busy machine, one of many can wait longer than the database or the queue of hashes permits.
 * The service then answers 503 and has done nothing, so the client repeats the request.
 */
import type { Answered } from './new-app.ts';
import { DomainError } from '../src/foundation/errors.ts';
import { isOutcomeUnknown } from '../src/foundation/database/unavailable.ts';
import { awaited } from './until.ts';

/** The first response to a request that is not 503. */
export const whenAvailable = <Response extends Pick<Answered, 'status'>>(
  request: () => Promise<Response>,
): Promise<Response> =>
  awaited('the service is available for a request', async (signal) => {
    for (;;) {
      const answer = await request();
      if (answer.status !== 503 || signal.aborted) return answer;
    }
  });

/** The same for an operation without HTTP. One whose outcome is unknown is not repeated. */
export const whenDone = <T>(operation: () => Promise<T>): Promise<T> =>
  awaited('the database is available for an operation', async (signal) => {
    for (;;) {
      try {
        return await operation();
      } catch (error) {
        const isUnavailable = error instanceof DomainError && error.code === 'unavailable';
        if (!isUnavailable || isOutcomeUnknown(error) || signal.aborted) throw error;
      }
    }
  });
