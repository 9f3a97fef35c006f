/** Mistakes in the parser of the short path, and in its use, as edits of the sources. The differential test must find each. */
import type { Edit } from '../revocation-check/mutant-edits.ts';

export interface ParserMutant {
  readonly name: string;
  readonly edits: readonly Edit[];
}

const inParser = (find: string, replace: string): readonly Edit[] => [{ file: 'http/short-request.ts', find, replace }];
const inPath = (find: string, replace: string): readonly Edit[] => [{ file: 'http/short-path.ts', find, replace }];

const value = String.raw`([\x21-\x7e]+(?: [\x21-\x7e]+)*)`;
const name = String.raw`([\w!#$%&'*+.^\x60|~-]+):`;

export const parserMutants: readonly ParserMutant[] = [
  { name: 'the Content-Length of a GET is ignored', edits: inParser(` || method !== 'POST'`, '') },
  { name: 'the last of several Content-Lengths counts', edits: inParser('length !== undefined || ', '') },
  { name: 'any Content-Length is a number', edits: inParser(' || !contentLength.test(value)', '') },
  {
    name: 'a part of a body is accepted',
    edits: inParser('rest === bodyBytes ? text.slice(at + 2) : undefined', 'text.slice(at + 2)'),
  },
  {
    name: 'bytes behind a body belong to it',
    edits: inParser('rest <= bodyBytes', 'rest >= 0').concat(inParser('rest === bodyBytes ?', 'rest >= bodyBytes ?')),
  },
  {
    name: 'the held beginning of a request is dropped',
    edits: inPath('held ? Buffer.concat([held, read]) : read', 'read'),
  },
  {
    name: 'a client that closes its side loses the beginning of its request',
    edits: inPath('this.#leave(bytes);\n    if', 'this.#leave(bytes ?? Buffer.alloc(0));\n    if'),
  },
  {
    name: 'a request that the handler does not accept gets no response',
    edits: inPath('    this.#options.count(-1);\n    this.#leave(bytes);', '    this.#options.count(-1);'),
  },
  { name: 'Transfer-Encoding is ignored', edits: inParser(`  'transfer-encoding',\n`, '') },
  { name: 'Connection is ignored', edits: inParser('  String.raw`connection(?!: ?keep-alive\\r\\n)`,\n', '') },
  { name: 'Expect is ignored', edits: inParser(`  'expect',\n`, '') },
  { name: 'only names in lower case are critical', edits: inParser(`'iy'`, `'y'`) },
  { name: 'a second Host is accepted', edits: inParser('hosts !== 1', 'hosts === 0') },
  { name: 'no Host is accepted', edits: inParser('hosts !== 1', 'hosts > 1') },
  { name: 'a space before the colon is accepted', edits: inParser(name, name.replace(/:$/, ' ?:')) },
  { name: 'any visible character is accepted in a name', edits: inParser(name, String.raw`([!-9;-~]+):`) },
  {
    name: 'control characters are accepted in a value',
    edits: inParser(value, String.raw`([^\r\n ]+(?: [^\r\n ]+)*)`),
  },
  { name: 'spaces at the end belong to the value', edits: inParser(value, String.raw`([\x20-\x7e]+)`) },
  { name: 'a folded line continues the value', edits: inParser(value, String.raw`((?:[\x20-\x7e]|\r\n )+)`) },
  { name: 'a line may end in a bare line feed', edits: inParser('*)\\r\\n`', '*)\\r?\\n`') },
  { name: 'HTTP/1.0 is accepted', edits: inParser(String.raw`HTTP\/1\.1`, String.raw`HTTP\/1\.[01]`) },
  {
    name: 'other methods are accepted as GET',
    edits: inParser('/(GET|POST) (', '/(GET|HEAD|POST) (').concat(
      inParser(
        `if (method === 'GET') return rest === 0 ? { method,`,
        `if (method !== 'POST') return rest === 0 ? { method: 'GET',`,
      ),
    ),
  },
  {
    name: 'bytes behind the request are dropped',
    edits: inParser(`rest === 0 ? { method`, `rest >= 0 ? { method`),
  },
  {
    name: 'a request without an empty line is accepted',
    edits: inParser(` || !text.startsWith('\\r\\n', at)`, '').concat(inParser('rest === 0 ? {', 'rest <= 0 ? {')),
  },
  {
    name: 'a partial request in the parser of node:http is ignored',
    edits: inPath('isDeepStrictEqual(found, [[method, url, rawHeaders]])', 'true'),
  },
  {
    name: 'a request is answered while another is in progress',
    edits: inPath('    if (this.isInProgress) return this.#wait(read);\n', ''),
  },
  {
    name: 'bytes behind a request in progress are dropped',
    edits: inPath('this.#end(later)', 'this.#end()'),
  },
  {
    name: 'a client that closes its side does not get its response',
    edits: inPath('if (!this.isInProgress && !this.#later) this.#end();', 'this.#end();'),
  },
  { name: 'a request is answered while node:http answers another', edits: inPath('!isBusy && ', '') },
  {
    name: 'the connection returns to the short path without confirmation',
    edits: inPath(
      `.on('end', this.#node.end);`,
      `.on('end', this.#node.end);\n    if (bytes) setImmediate(() => this.#enter());`,
    ),
  },
  {
    name: 'the second line of a header is dropped',
    edits: inParser('rawHeaders.push(name, value);', 'if (!rawHeaders.includes(name)) rawHeaders.push(name, value);'),
  },
  {
    name: 'the peer of the connection is not passed on',
    edits: inPath('socket: this.#connection.socket }', 'socket: {} as Socket }'),
  },
  {
    name: 'a half-closed connection stays open',
    edits: inPath('if (this.#isEnded) this.#node.end.call(this.#connection.socket);', ''),
  },
  { name: 'the number of requests is not bounded', edits: inPath(' && !isNextLast', '') },
];
