/** What the registry of errors states about each code. */
export interface ErrorDefinition {
  readonly status: number;
  /** Short, the same for every occurrence (RFC 9457 `title`). */
  readonly title: string;
  /** What is wrong and what to do next. */
  readonly meaning: string;
  /** Why the server returns it. For its page, like `fix`. */
  readonly cause: string;
  /** What the caller or the operator does about it. */
  readonly fix: string;
}
