/** Why a file is not applied. Nothing was changed then. */

export interface ApplyProblem {
  /** JSON pointer (RFC 6901) into the file; empty for the file itself. */
  readonly pointer: string;
  readonly detail: string;
}

export class ApplyError extends Error {
  readonly problems: readonly ApplyProblem[];

  constructor(problems: readonly ApplyProblem[]) {
    super(problems.map(({ pointer, detail }) => (pointer === '' ? detail : `${pointer}: ${detail}`)).join('\n'));
    this.problems = problems;
  }
}

/** @param detail without a full stop: a sentence about the file */
export const refusal = (detail: string): ApplyError => new ApplyError([{ pointer: '', detail }]);
