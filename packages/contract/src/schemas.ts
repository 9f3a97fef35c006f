/** Schemas that several files share. */
import Type, { type Static } from 'typebox';
import { errors, type ErrorCode } from './errors.ts';
import { FieldCode } from './field-codes.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { RequestOptions } from './passkey-messages.ts';

/** ISO 8601 in UTC with milliseconds, as `Date.prototype.toISOString` writes it. */
export const Instant = Type.String({ format: 'date-time', examples: ['2026-11-21T09:30:00.000Z'] });

/** Shortened, so that secret scanners do not report it. */
export const keyExample = 'krv_8fXq2LmZ…';

/** A string in a response, with an example for the documentation. */
export const Text = (example: string, description?: string) =>
  Type.String({ ...(description === undefined ? {} : { description }), examples: [example] });

/** `null` if the value does not apply. @param example for the documentation, instead of the example of `schema` */
export const orNull = <S extends Type.TSchema>(schema: S, example?: null) =>
  Type.Union([schema, Type.Null()], example === null ? { examples: [null] } : {});

/** Options of a query without other parameters. */
export const strict = { additionalProperties: false } as const;

/** An optional time in a query. */
export const QueryTime = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', maxLength: 35, description, examples: ['2026-11-20T00:00:00Z'] }));

/** Keyword with the schema that the document shows instead. */
export const documentedAs = 'x-documented-as';

/** A whole number in a query. The server validates its text; the document and generated clients have the number. */
export const IntegerText = (pattern: string, documented: { minimum: number; maximum: number }, description: string) =>
  Type.String({ pattern, description, [documentedAs]: { type: 'integer', ...documented } });

export const AccountId = Type.String({ examples: ['acc_4mW1kq0ZbYp7sT2xUvN8Rd'] });

const accountId = 'acc_[0-9A-Za-z]{1,60}';
/** As part of a pattern: any text with an `@`. The server decides whether it is an email address. */
const emailText = String.raw`[^\x00-\x1F\x7F@]+@[^\x00-\x1F\x7F@]+`;

/** Query parameter that selects an account: by its id, or by its email address while it exists. */
export const AccountFilter = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: `^(?:${accountId}|${emailText})$`,
      maxLength: limits.emailCharsMax,
      description: `${description}: an id, or the email address of an existing account`,
    }),
  );

/** As {@link AccountFilter}. @param others a regular expression of other values */
export const AccountOr = (others: string, description: string) =>
  Type.Optional(Type.String({ pattern: `^(?:${others}|${emailText})$`, maxLength: limits.emailCharsMax, description }));

/** Ids of several accounts in a query. */
export const AccountIdList = (idsMax: number, description: string) =>
  Type.Optional(Type.String({ pattern: `^${accountId}(?:,${accountId}){0,${idsMax - 1}}$`, description }));

export const Email = Type.String({ minLength: 1, maxLength: limits.emailCharsMax, examples: ['ada@example.com'] });

/** A password to verify. */
export const Password = Type.String({
  minLength: 1,
  maxLength: limits.passwordBytesMax,
  examples: ['wombat orbit velvet 42'],
});

/** The name of an environment (`KEYREEVE_ENVIRONMENTS`). */
export const Environment = Type.String({
  pattern: '^[a-z][a-z0-9-]*$',
  maxLength: limits.environmentCharsMax,
  examples: ['test'],
});

export const KeyId = Type.Integer({
  $id: 'ApiKeyId',
  format: 'int64',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Random, never used again, not a secret',
  examples: [4830184710273911],
});

export const Role = Type.Enum(['user', 'admin'], { $id: 'Role' });

export const Message = Named('Message', { message: Text('It is done.') });

/** RFC 6749 section 3.3: scope-token. */
export const scopePattern = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

export const Scope = Type.String({
  minLength: 1,
  maxLength: limits.scopeCharsMax,
  pattern: scopePattern.source,
  examples: ['orders:read'],
});

export const ErrorCodes = Type.Enum(Object.keys(errors) as ErrorCode[], { $id: 'ErrorCode' });

/** An invalid field of a request. */
export const FieldProblem = Named('FieldProblem', {
  pointer: Text('/nickname', 'JSON pointer (RFC 6901) into the body; empty for the body itself'),
  detail: Text('This field is required.'),
  code: FieldCode,
  limit: Type.Optional(
    Type.Integer({
      description:
        'The bound, with a code that begins with `too_`; the days, with `lifetime_exceeded`; the characters at most, with `not_printable`',
      examples: [64],
    }),
  ),
  expected: Type.Optional(
    Text('203.0.113.0/24', 'With `host_bits`: the range without them. For a trust: the names of claims with ids'),
  ),
});

/** What proves the second factor of an account. */
export const SecondFactorMethod = Type.Enum(['code', 'recovery_code', 'passkey'], { $id: 'SecondFactorMethod' });
export type SecondFactorMethod = Static<typeof SecondFactorMethod>;

/** RFC 9457, with a stable `code` and the id of the request in the log. */
export const Problem = Named(
  'Problem',
  {
    type: Type.String({
      format: 'uri-reference',
      description: '`/problems/<code>`: a page that explains the error',
      examples: ['/problems/invalid_request'],
    }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: ErrorCodes,
    requestId: Type.String(),
    traceId: Type.Optional(
      Type.String({
        description:
          'The trace id of a valid `traceparent` of the request (W3C Trace Context), or of the trace in which the service has recorded the request',
        examples: ['4bf92f3577b34da6a3ce929d0e0e4736'],
      }),
    ),
    errors: Type.Optional(Type.Array(FieldProblem)),
    methods: Type.Optional(
      Type.Array(SecondFactorMethod, { description: 'With `second_factor_required`: what the account accepts' }),
    ),
    passkey: Type.Optional(RequestOptions),
    error: Type.Optional(
      Type.Enum(['invalid_request', 'slow_down', 'temporarily_unavailable', 'server_error'], {
        description:
          'Of the OAuth endpoints, for clients that read only this member (RFC 6749 section 5.2). `slow_down`: poll again (RFC 8628 section 3.5)',
      }),
    ),
  },
  {
    examples: [
      {
        type: '/problems/invalid_request',
        title: errors.invalid_request.title,
        status: errors.invalid_request.status,
        detail: errors.invalid_request.meaning,
        code: 'invalid_request',
        requestId: 'req_0Zt7Yk2mQ',
        errors: [{ pointer: '/nickname', detail: 'This field is required.', code: 'required' }],
      },
    ],
  },
);
export type Problem = Static<typeof Problem>;
