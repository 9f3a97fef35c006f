/** The records of a CSV file (RFC 4180) whose first line names the fields. The delimiter is a comma, a semicolon or a tab. */
import { limits } from '@keyreeve/contract';
import { FileDamagedError, LineRejectedError, type FileRecord } from './file-record.ts';
import { headOf } from './shapes.ts';

interface Row {
  readonly line: number;
  readonly cells: readonly string[];
  readonly charsCount: number;
}

/** An empty cell is a field that the record does not have. @throws FileDamagedError */
export async function* csvRecordsOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord> {
  let names: readonly string[] | undefined;
  for await (const { line, cells, charsCount } of rowsOf(source)) {
    if (cells.length === 1 && cells[0]?.trim() === '') continue;
    if (names === undefined) {
      names = cells.map((name) => name.trim());
      if (new Set(names).size !== names.length) throw new FileDamagedError('two columns have the same name');
    } else if (charsCount > limits.importLineBytesMax) {
      yield { line, object: new LineRejectedError(`it is longer than ${limits.importLineBytesMax} bytes`) };
    } else if (cells.length !== names.length) {
      const fault = `it has ${cells.length} fields, but the first line names ${names.length}`;
      yield { line, object: new LineRejectedError(fault) };
    } else yield { line, object: objectOf(names, cells) };
  }
}

const objectOf = (names: readonly string[], cells: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']).filter(([, cell]) => cell !== ''));

async function* rowsOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Row> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const scanner = new Scanner();
  try {
    for await (const chunk of source) yield* scanner.scan(decoder.decode(chunk, { stream: true }));
    yield* scanner.scan(decoder.decode());
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new FileDamagedError('the file is not valid UTF-8 from here on');
  }
  yield* scanner.end();
}

class Scanner {
  #delimiter: string | undefined;
  /** The first line, until it shows the delimiter. */
  #head = '';
  #cells: string[] = [];
  #cell = '';
  #charsCount = 0;
  #isQuoted = false;
  /** After a quote inside a quoted cell: another one is a quote, anything else ends the quotes. */
  #isAfterQuote = false;
  #line = 1;
  #startLine = 1;

  *scan(chunk: string): Generator<Row> {
    let text = chunk;
    if (this.#delimiter === undefined) {
      this.#head += chunk;
      const end = this.#head.indexOf('\n');
      if (end < 0 && this.#head.length <= limits.importLineBytesMax) return;
      text = this.#open(end < 0 ? this.#head : this.#head.slice(0, end));
    }
    for (const char of text) yield* this.#take(char);
  }

  *end(): Generator<Row> {
    if (this.#delimiter === undefined) for (const char of this.#open(this.#head)) yield* this.#take(char);
    if (this.#isQuoted && !this.#isAfterQuote) throw new FileDamagedError('the file is cut off inside quotes');
    if (this.#cell !== '' || this.#cells.length > 0) yield this.#finish();
  }

  /** @returns what has been read so far */
  #open(line: string): string {
    this.#delimiter = headOf(line.trim()) ?? ',';
    return this.#head;
  }

  *#take(char: string): Generator<Row> {
    if (char === '\n') this.#line++;
    this.#charsCount++;
    if (this.#isQuoted) {
      if (this.#isAfterQuote) {
        this.#isAfterQuote = false;
        if (char === '"') return this.#add(char);
        this.#isQuoted = false;
      } else if (char === '"') return void (this.#isAfterQuote = true);
      else return this.#add(char);
    }
    if (char === '"' && this.#cell === '') this.#isQuoted = true;
    else if (char === this.#delimiter) this.#endCell();
    else if (char === '\n') yield this.#finish();
    else if (char !== '\r') this.#add(char);
  }

  #add(char: string): void {
    if (this.#charsCount <= limits.importLineBytesMax) this.#cell += char;
  }

  #endCell(): void {
    if (this.#charsCount <= limits.importLineBytesMax) this.#cells.push(this.#cell);
    this.#cell = '';
  }

  #finish(): Row {
    this.#endCell();
    const row = { line: this.#startLine, cells: this.#cells, charsCount: this.#charsCount };
    this.#cells = [];
    this.#charsCount = 0;
    this.#startLine = this.#line;
    return row;
  }
}
