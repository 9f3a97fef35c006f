/** The form of a setting (`settings.ts`), and where its value comes from. */

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Setting<T> {
  /** The environment variable. */
  readonly name: string;
  /** As text, the way an operator would write it. */
  readonly default: string;
  readonly doc: string;
  /** @throws Error whose message completes "NAME …" */
  readonly parse: (text: string) => T;
  /** The default when standard input is a terminal. */
  readonly terminalDefault?: string;
  /** The value may also be given as the path of a file, in the variable with `_FILE` at its end. */
  readonly isSecret?: boolean;
  /** The value without its secret part. Without this function, a secret is shown as `[redacted]`. */
  readonly describe?: (text: string) => string;
}

export const setting = <T>(
  name: string,
  fallback: string,
  doc: string,
  parse: (text: string) => T,
  options: Pick<Setting<T>, 'terminalDefault' | 'isSecret' | 'describe'> = {},
): Setting<T> => ({ name, default: fallback, doc, parse, ...options });
