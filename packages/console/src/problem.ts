/** An error response of the API (RFC 9457), or a request without a response. */
import { formatNumber } from './format.ts';
import { text } from './text/text.ts';

interface ProblemBody {
  readonly code?: string;
  readonly detail?: string;
  readonly title?: string;
  readonly requestId?: string;
  readonly errors?: readonly FieldProblem[];
}

interface FieldProblem {
  readonly pointer?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly limit?: number;
  readonly expected?: string;
}

/** Sentences that precede those of the texts. `own-sentences.ts` sets them. */
export const ownSentences: { ofCode: (code: string) => string | undefined } = { ofCode: () => undefined };

export class Problem extends Error {
  /** Code of the API, or `unreachable` if there was no response. */
  readonly code: string;
  /** 0 if there was no response. */
  readonly status: number;
  readonly body: ProblemBody & Readonly<Record<string, unknown>>;
  /** Undefined if the response has no Retry-After. */
  readonly retryAfterSeconds: number | undefined;
  /** When the next attempt is allowed, in milliseconds; 0: at once. */
  readonly retryAt: number;

  constructor(code: string, status: number, body: ProblemBody = {}, retryAfterSeconds?: number) {
    super(code);
    this.code = code;
    this.status = status;
    this.body = body as ProblemBody & Readonly<Record<string, unknown>>;
    this.retryAfterSeconds = retryAfterSeconds;
    this.retryAt = retryAfterSeconds === undefined ? 0 : Date.now() + retryAfterSeconds * 1000;
  }

  static async from(response: Response): Promise<Problem> {
    const body = (await response.json().catch(() => ({}))) as ProblemBody;
    const retryAfter = Number(response.headers.get('Retry-After') ?? NaN);
    return new Problem(
      body.code ?? 'unknown',
      response.status,
      body,
      Number.isFinite(retryAfter) ? Math.max(1, Math.ceil(retryAfter)) : undefined,
    );
  }

  /** In the words of the page. */
  get sentence(): string {
    const texts: Readonly<Record<string, string>> = text.problems;
    const { detail, title } = this.body;
    return (
      ownSentences.ofCode(this.code) ?? texts[this.code] ?? text.general.unexplained(detail ?? title ?? '', this.code)
    );
  }

  /** The sentence about a member of the request body, for example `/nickname`, or a part of it. */
  about(pointer: string): string | undefined {
    const error = this.body.errors?.find((one) => `${one.pointer}/`.startsWith(`${pointer}/`));
    const place = /^\/(\d+)$/.exec(error?.pointer?.slice(pointer.length) ?? '')?.[1];
    if (!error) return undefined;
    return place === undefined
      ? sentenceOf(error)
      : text.fields.entry(formatNumber(Number(place) + 1), sentenceOf(error));
  }

  /** The sentences about all members of the request body. */
  get ofFields(): readonly string[] {
    return [...new Set(this.body.errors?.map(sentenceOf))];
  }
}

/** An unknown code is that of a later version. */
function sentenceOf({ code = '', detail = '', limit = 0, expected = '' }: FieldProblem): string {
  const { entry: _, ...sentences } = text.fields;
  const sentence = Object.hasOwn(sentences, code) ? sentences[code as keyof typeof sentences] : sentences.invalid;
  return typeof sentence === 'string' ? sentence : sentence({ limit: formatNumber(limit), expected, detail });
}

/** The request may or may not have been processed. */
export const unreachable = (): Problem => new Problem('unreachable', 0);

/** @returns the problem of an error; other errors are faults of the console and are thrown again */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}
