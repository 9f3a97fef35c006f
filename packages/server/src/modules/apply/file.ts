/** Reads and validates the file of `keyreeve apply`, as far as that does not depend on the database. */
import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ApplyFile, errors, limits } from '@keyreeve/contract';
import { Secret } from '../../foundation/crypto/secret.ts';
import { DomainError } from '../../foundation/errors.ts';
import { parseJson } from '../../foundation/json.ts';
import { validateNickname } from '../../foundation/nickname.ts';
import { readSecretFile } from '../../foundation/secret-file.ts';
import { validator } from '../../http/validation.ts';
import { parseEmail } from '../accounts/email.ts';
import { reservedPrefix, verifyScope } from '../api-keys/scopes.ts';
import { assertIssuerUrl } from '../issuers/issuer-request.ts';
import { isSigningSecret } from '../webhooks/signature.ts';
import { ApplyError, refusal, type ApplyProblem } from './apply-error.ts';

type Given<Name extends keyof Omit<ApplyFile, 'generation'>> = NonNullable<ApplyFile[Name]>[number];

export interface LoadedFile {
  readonly generation: number;
  /** SHA-256 of the content in canonical form, 64 hexadecimal digits: white space and the order of members do not matter. */
  readonly digest: string;
  readonly entries: readonly FileEntry[];
}

interface Placed {
  /** The email address, the name, the URL of an issuer or the SHA-256: what identifies the entry in the file. */
  readonly name: string;
  readonly pointer: string;
  readonly isAbsent: boolean;
}

export type FileEntry = Placed &
  (
    | { readonly kind: 'scope'; readonly given: Given<'scopes'> }
    | { readonly kind: 'account'; readonly given: Given<'accounts'> }
    | { readonly kind: 'service_account'; readonly given: Given<'serviceAccounts'> }
    | { readonly kind: 'issuer'; readonly given: Given<'issuers'> }
    | { readonly kind: 'key'; readonly given: Given<'keys'> }
    | { readonly kind: 'webhook'; readonly given: Given<'webhooks'>; readonly secret: Secret | undefined }
    | { readonly kind: 'program'; readonly given: Given<'programs'> }
  );
export type EntryKind = FileEntry['kind'];
export type EntryOf<Kind extends EntryKind> = Extract<FileEntry, { readonly kind: Kind }>;

const validate = validator(ApplyFile);

/**
 * @param mayBeWorldReadable whether other users may read the files of secrets: KEYREEVE_WORLD_READABLE_SECRETS
 * @throws ApplyError with all problems; also if others can change the file
 */
export function readApplyFile(path: string, mayBeWorldReadable: boolean): LoadedFile {
  const text = readText(path);
  const value = contentOf(text);
  const problems: ApplyProblem[] = [];
  const entries = entriesOf(value, (pointer, detail) => problems.push({ pointer, detail }), {
    folder: dirname(path),
    mayBeWorldReadable,
  });
  if (entries.length > limits.applyEntriesMax)
    problems.push({ pointer: '', detail: `Expected at most ${limits.applyEntriesMax} entries.` });
  if (problems.length > 0) throw new ApplyError(problems);
  return { generation: value.generation, digest: hash('sha256', canonical(value)), entries };
}

function readText(path: string): string {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() && statSync(path).size > limits.applyFileBytesMax)
      throw new Error(`the file ${path} has more than ${limits.applyFileBytesMax} bytes`);
    return readSecretFile(path, `the file ${path}`, { mayBeWorldReadable: true, mustBeOwn: true });
  } catch (error) {
    throw refusal(error instanceof Error ? error.message : String(error));
  }
}

function contentOf(text: string): ApplyFile {
  try {
    return validate(parseJson(Buffer.from(text))) as ApplyFile;
  } catch (error) {
    throw error instanceof DomainError ? new ApplyError(problemsOf(error, '', text)) : error;
  }
}

/** The problems of an error about an entry. @param text of the file, to find the place of a syntax error */
export function problemsOf({ code, options }: DomainError, pointer: string, text?: string): readonly ApplyProblem[] {
  const { detail, errors: fields = [] } = options;
  if (fields.length > 0) return fields.map((field) => ({ pointer: pointer + field.pointer, detail: field.detail }));
  const { title, meaning } = errors[code];
  const syntax = text === undefined || code !== 'malformed_json' || detail ? undefined : syntaxErrorOf(text);
  return [{ pointer, detail: syntax ?? detail ?? `${title}. ${meaning}` }];
}

function syntaxErrorOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    // Its message has the place, or quotes the text around it. The file contains no secret.
    return `It is not JSON: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

type Report = (pointer: string, detail: string) => void;

interface SecretFiles {
  readonly folder: string;
  readonly mayBeWorldReadable: boolean;
}

function entriesOf(file: ApplyFile, report: Report, secretFiles: SecretFiles): FileEntry[] {
  const {
    scopes = [],
    accounts = [],
    serviceAccounts = [],
    issuers = [],
    keys = [],
    webhooks = [],
    programs = [],
  } = file;
  const seen = new Set<string>();
  /** @param member that has the name */
  const placed = (pointer: string, member: string, name: string, state: string | undefined): Placed => {
    const identity = `${pointer.split('/')[1]} ${name}`;
    if (seen.has(identity)) report(`${pointer}/${member}`, 'An earlier entry has the same.');
    seen.add(identity);
    return { name, pointer, isAbsent: state === 'absent' };
  };
  const named = serviceAccounts.map((given, index) => {
    const pointer = `/serviceAccounts/${index}`;
    const name = nameOf(given.name, `${pointer}/name`, report);
    return { ...placed(pointer, 'name', name, given.state), kind: 'service_account', given } as const;
  });
  const owners = new Set(named.filter(({ isAbsent }) => !isAbsent).map(({ name }) => name));
  return [
    ...scopes.map(
      (given, index) =>
        ({ ...placed(`/scopes/${index}`, 'name', given.name, given.state), kind: 'scope', given }) as const,
    ),
    ...accounts.map((given, index) => {
      const pointer = `/accounts/${index}`;
      const email = parseEmail(given.email)?.canonicalEmail;
      if (email === undefined) report(`${pointer}/email`, 'This is not an email address.');
      return { ...placed(pointer, 'email', email ?? given.email, given.state), kind: 'account', given } as const;
    }),
    ...named,
    ...issuers.map((given, index) => {
      const place = placed(`/issuers/${index}`, 'url', given.url, given.state);
      // Also of an absent one: with another form of its URL, the issuer would stay.
      checked(`${place.pointer}/url`, report, () => assertIssuerUrl(given.url));
      return { ...place, kind: 'issuer', given } as const;
    }),
    ...keys.map((given, index) => {
      const place = placed(`/keys/${index}`, 'sha256', given.sha256, given.state);
      if (!place.isAbsent) checkKey(given, place.pointer, owners, report);
      return { ...place, kind: 'key', given } as const;
    }),
    ...webhooks.map((given, index) => {
      const pointer = `/webhooks/${index}`;
      const place = placed(pointer, 'name', nameOf(given.name, `${pointer}/name`, report), given.state);
      const secret = place.isAbsent ? undefined : secretOf(given, pointer, report, secretFiles);
      return { ...place, kind: 'webhook', given, secret } as const;
    }),
    ...programs.map((given, index) => {
      const place = placed(`/programs/${index}`, 'id', given.id, given.state);
      if (!place.isAbsent && given.name === undefined) report(`${place.pointer}/name`, 'This field is required.');
      return { ...place, kind: 'program', given } as const;
    }),
  ];
}

/** @returns the name in NFC */
const nameOf = (text: string, pointer: string, report: Report): string =>
  checked(pointer, report, () => validateNickname(text, '/name')) ?? text;

/** @returns undefined after a problem */
function checked<T>(pointer: string, report: Report, check: () => T): T | undefined {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    report(pointer, error.message);
    return undefined;
  }
}

function checkKey(
  { serviceAccount, nickname, scopes = [] }: Given<'keys'>,
  pointer: string,
  owners: ReadonlySet<string>,
  report: Report,
): void {
  if (nickname === undefined) report(`${pointer}/nickname`, 'This field is required.');
  if (serviceAccount === undefined) report(`${pointer}/serviceAccount`, 'This field is required.');
  else if (!owners.has(serviceAccount.normalize('NFC')))
    report(`${pointer}/serviceAccount`, 'The file has no service account with this name.');
  for (const [index, scope] of scopes.entries())
    if (scope.startsWith(reservedPrefix) && scope !== verifyScope)
      report(`${pointer}/scopes/${index}`, `Of the scopes of Keyreeve, only ${verifyScope} is possible here.`);
}

/** @returns undefined after a problem */
function secretOf(
  { url, events, secretFile }: Given<'webhooks'>,
  pointer: string,
  report: Report,
  { folder, mayBeWorldReadable }: SecretFiles,
): Secret | undefined {
  for (const [name, value] of Object.entries({ url, events, secretFile }))
    if (value === undefined) report(`${pointer}/${name}`, 'This field is required.');
  if (secretFile === undefined) return undefined;
  try {
    const path = resolve(folder, secretFile);
    const text = readSecretFile(path, `The file ${path}`, { mayBeWorldReadable });
    if (isSigningSecret(text)) return new Secret(text);
    report(`${pointer}/secretFile`, 'The file has no secret: whsec_ and 32 to 64 random bytes in base64.');
  } catch (error) {
    report(`${pointer}/secretFile`, error instanceof Error ? error.message : String(error));
  }
  return undefined;
}

/** JSON with the members of each object in the order of their names. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
