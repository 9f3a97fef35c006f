/**
 * Closed pipes: the reader of an output ends first, as in `keyreeve audit export | head`. A list then ends without a message. A
 * command that changes something runs to its end, so that a change is not left half done.
 */

/** What a shell reports for a program that SIGPIPE has ended, so that `pipefail` reveals an incomplete list. */
export const closedPipeStatus = 141;

/** The reader of standard output has closed the pipe. */
export class OutputClosedError extends Error {}

export const isClosedPipe = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EPIPE';

/**
 * Without this, the first write to a closed pipe ends the process with a stack trace. Call it once in a process.
 * @param setStatus gets the exit status if the reader of standard output has closed the pipe
 */
export function tolerateClosedPipes(setStatus: (status: number) => void): void {
  const tolerate = (error: unknown): void => {
    if (!isClosedPipe(error)) throw error;
  };
  process.stderr.on('error', tolerate);
  process.stdout.on('error', (error) => {
    tolerate(error);
    setStatus(closedPipeStatus);
  });
}
