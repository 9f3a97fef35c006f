/**
 * Cost of validation compared with parsing: `node bench/validation-cost.ts`. For each hostile body, it alternates between
 * `parseJson` and the validation of its result, and prints the median processor time of each, and the ratio.
 */
import { NewKeyBody, VerifyBatchBody } from '@keyreeve/contract';
import { validator } from '../packages/server/src/http/validation.ts';
import { parseJson } from '../packages/server/src/foundation/json.ts';
import { hostileBatchBodies, hostileKeyBodies } from '../packages/server/test-kit/hostile-bodies.ts';

const rounds = 31;
const msPerRound = 4;

interface Subject {
  readonly name: string;
  readonly parse: () => void;
  readonly validate: () => void;
  repeats: number;
  readonly parseUs: number[];
  readonly validateUs: number[];
}

/** @returns microseconds per call */
const timed = (repeats: number, call: () => void): number => {
  const { user, system } = process.cpuUsage();
  for (let turn = 0; turn < repeats; turn++) call();
  const spent = process.cpuUsage();
  return (spent.user - user + spent.system - system) / repeats;
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

function subjectsOf(
  where: string,
  bodies: Readonly<Record<string, string>>,
  validate: (value: unknown) => unknown,
): Subject[] {
  return Object.entries(bodies).map(([name, text]) => {
    const bytes = Buffer.from(text);
    const value = parseJson(bytes);
    return {
      name: `${where}: ${name}`,
      parse: () => void parseJson(bytes),
      validate: () => {
        try {
          validate(value);
        } catch {
          // Most bodies are invalid: the cost of their rejection is measured.
        }
      },
      repeats: 1,
      parseUs: [],
      validateUs: [],
    };
  });
}

const subjects = [
  ...subjectsOf('key', hostileKeyBodies(), validator(NewKeyBody)),
  ...subjectsOf('batch', hostileBatchBodies(), validator(VerifyBatchBody)),
];
for (const subject of subjects) {
  timed(20, subject.parse);
  timed(20, subject.validate);
  subject.repeats = Math.max(1, Math.round((msPerRound * 1_000) / Math.max(1, timed(20, subject.parse))));
}
for (let round = 0; round < rounds; round++) {
  for (const subject of subjects) {
    subject.parseUs.push(timed(subject.repeats, subject.parse));
    subject.validateUs.push(timed(subject.repeats, subject.validate));
  }
}
console.log('| body | parsing, µs | validation, µs | validation / parsing |');
console.log('| --- | ---: | ---: | ---: |');
for (const { name, parseUs, validateUs } of subjects) {
  const [parse, validate] = [median(parseUs), median(validateUs)];
  console.log(`| ${name} | ${parse.toFixed(1)} | ${validate.toFixed(1)} | ${(validate / parse).toFixed(2)} |`);
}
