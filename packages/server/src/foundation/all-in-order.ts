/**
 * Waits for all promises, such as the results of statements that are sent together, and returns their values.
 * @throws the error of the first in the list that failed, whichever failed first in time
 */
export async function allInOrder<T extends readonly unknown[]>(
  promises: readonly [...T],
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  const settled = await Promise.allSettled(promises);
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }) as { -readonly [Index in keyof T]: Awaited<T[Index]> };
}
