/** Bounds for calls of Playwright that its default timeout does not bound. */

/** @returns false if the promise is pending after the time */
export async function isWithin(msMax: number, promise: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, msMax, false);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** @throws Error with `what` if the promise is pending after the time */
export async function within<T>(what: string, msMax: number, promise: Promise<T>): Promise<T> {
  if (await isWithin(msMax, promise)) return promise;
  // Its later failure is of no interest.
  promise.catch(() => undefined);
  throw new Error(`${what}: not within ${msMax} ms`);
}
