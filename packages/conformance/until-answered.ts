/** Waits for an application that a test has started. */
import { until } from '../server/test-kit/until.ts';

const unavailable = 503;

/** Repeats the request until the application listens, and Keyreeve answers its guard within the deadline of the library. */
export async function untilAnswered(url: string, credential: string): Promise<Response> {
  let response: Response | undefined;
  await until(`${url} answers`, async () => {
    response = await fetch(url, { headers: { authorization: `Bearer ${credential}` } }).catch(() => undefined);
    return response !== undefined && response.status !== unavailable;
  });
  if (!response) throw new Error('no response');
  return response;
}
