/** Schemas that several slices share. */
import Type, { type Static } from 'typebox';
import { errors, type ErrorCode } from './errors.ts';
import { limits } from './limits.ts';

/** ISO 8601 in UTC with milliseconds, as `Date.prototype.toISOString` writes it. */
export const Instant = Type.String({ format: 'date-time', examples: ['2026-11-21T09:30:00.000Z'] });

/** `null` where the value doesn't apply. */
export const orNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

/** RFC 6749 section 3.3: scope-token. */
export const scopePattern = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

export const Scope = Type.String({
  minLength: 1,
  maxLength: limits.scopeCharsMax,
  pattern: scopePattern.source,
  examples: ['orders:read'],
});

/** RFC 9457, with a stable `code` and the id under which the log knows the request. */
export const Problem = Type.Object(
  {
    type: Type.String({ format: 'uri-reference', description: '/problems/<code>, a page for people' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.Enum(Object.keys(errors) as ErrorCode[]),
    requestId: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            pointer: Type.String({ description: 'JSON pointer (RFC 6901) into the body; empty for the body itself' }),
            detail: Type.String(),
          },
          { additionalProperties: false },
        ),
      ),
    ),
  },
  { additionalProperties: false },
);
export type Problem = Static<typeof Problem>;
