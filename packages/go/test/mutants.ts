/** Broken builds of the Go library: each breaks one of its rules, and names the tests that detect it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestedLibrary } from '../../conformance/check-library.ts';
import { edited, type LibraryMutant } from '../../conformance/library-mutants.ts';
import { buildProgram, packageFolder, skip } from './go.ts';

const sender = 'batch_sender.go';
const connection = 'connection.go';

/** What some edits keep. */
export const stateOfMutants = `package keyreeve

import "sync"

var keptResults sync.Map
var seenEntries []*entry
`;

/** Writes the edited file. @returns the path of an overlay for `go build` and `go test` */
function makeMutant(mutant: LibraryMutant, folder: string): string {
  const original = join(packageFolder, mutant.file);
  const replacement = join(folder, mutant.file);
  writeFileSync(replacement, edited(mutant, packageFolder));
  const added = join(folder, 'state.go');
  writeFileSync(added, stateOfMutants);
  const overlay = join(folder, 'overlay.json');
  const files = { [original]: replacement, [join(packageFolder, 'state.go')]: added };
  writeFileSync(overlay, JSON.stringify({ Replace: files }));
  return overlay;
}

export const goLibrary: TestedLibrary = {
  language: 'Go',
  skip,
  build: (folder, mutant) => buildProgram(folder, mutant && makeMutant(mutant, folder)),
};

export const goMutants: readonly LibraryMutant[] = [
  {
    name: 'rule 1: a question shares the entry of another caller while it is in flight',
    file: sender,
    from: '	var joined *entry\n',
    to: `	var joined *entry
	for _, seen := range seenEntries {
		if asked.isFree && seen.question.text == asked.text && seen.batch.cancel != nil && len(seen.waiters) > 0 {
			seen.waiters = append(seen.waiters, caller)
			return seen
		}
	}
	defer func() { seenEntries = append(seenEntries, joined) }()
`,
    test: 'Rule1A',
    isUnsafe: true,
  },
  {
    name: 'rule 2: the last result of a question is kept',
    file: 'client.go',
    from: '	result, err := c.sender.ask(ctx, asked)\n',
    to: `	if kept, ok := keptResults.Load(asked.text); ok {
		return kept.(Result), nil
	}
	result, err := c.sender.ask(ctx, asked)
	if err == nil {
		keptResults.Store(asked.text, result)
	}
`,
    test: 'Rule2No',
    isUnsafe: true,
  },
  {
    name: 'rule 2: a request continues without callers',
    file: sender,
    from: '			of.cancel()\n',
    to: '',
    test: 'Rule2ARequest',
  },
  {
    name: 'rule 2: an unsent question is sent without callers',
    file: sender,
    from: '	if len(left.waiters) > 0 {\n		return\n	}\n',
    to: '	if true {\n		return\n	}\n',
    test: 'Rule2AnUnsent',
  },
  {
    name: 'rule 3: equal questions share an entry also with a cost',
    file: 'batch.go',
    from: 'caller waiter) *entry {\n',
    to: 'caller waiter) *entry {\n	asked.isFree = true\n',
    test: 'Rule3',
  },
  {
    name: 'rule 3: equal credentials share an entry also with other options',
    file: 'question.go',
    from: '{credential, options.Scopes,',
    to: '{credential, nil,',
    test: 'Rule3',
  },
  {
    name: 'rule 3: callers share the lists and maps of a result',
    file: sender,
    from: 'if index > 0 {',
    to: 'if index < 0 {',
    test: 'Rule3',
  },
  {
    name: 'rule 4: a question with a cost is repeated',
    file: sender,
    from: 'if each.question.isFree && len(each.waiters) > 0 {',
    to: 'if len(each.waiters) > 0 {',
    test: 'Rule4',
  },
  {
    name: 'rule 4: a question is repeated on an old connection',
    file: sender,
    from: 'for !isNew {',
    to: 'for {',
    test: 'Rule4TheRepeated',
  },
  {
    name: 'rule 4: a question is repeated after a byte of the response',
    file: connection,
    from: '			return answer{}, errors.New("the response is not HTTP, or it ended early")',
    to: '			return answer{}, errUnanswered',
    test: 'Rule4NoQuestion',
  },
  {
    name: 'rule 5: the deadline is 6 s',
    file: sender,
    from: 'deadline   = 3 * time.Second',
    to: 'deadline   = 6 * time.Second',
    test: 'Rule5',
  },
  {
    name: 'rule 6: three batches in flight',
    file: 'in_flight.go',
    from: 'inFlightMin = 2',
    to: 'inFlightMin = 3',
    test: 'Rule6AtMost',
  },
  {
    name: 'rule 6: a fixed number of batches in flight',
    file: 'in_flight.go',
    from: 'inFlightMax = 16',
    to: 'inFlightMax = 2',
    test: 'Rule6TheBatchesInFlightFollow',
  },
  {
    name: 'rule 6: more batches in flight for a service that only gets slower',
    file: 'in_flight.go',
    from: 'if f.last == 0 {',
    to: 'if f.last >= 0 {',
    test: 'Rule6AServiceThatWorksOnOneBatch',
  },
  {
    name: 'rule 6: late questions are sent',
    file: sender,
    from: '		if fullWaits {\n',
    to: '		if fullWaits && now.IsZero() {\n',
    test: 'Rule6InAnOverload',
  },
  {
    name: 'each failure is logged',
    file: 'outage_log.go',
    from: 'outagePeriod = time.Minute',
    to: 'outagePeriod = 0 * time.Minute',
    test: 'OneMessagePerMinute',
  },
  {
    name: 'rule 6: batches of 257 questions',
    file: 'batch.go',
    from: 'questionsMax  = 256',
    to: 'questionsMax  = 257',
    test: 'Rule6AtMost',
  },
  {
    name: 'rule 6: batches of any size',
    file: 'batch.go',
    from: 'b.bytes+size > batchBytesMax',
    to: 'b.bytes < 0',
    test: 'Rule6ABatch',
  },
  {
    name: 'rule 6: any number of questions waits',
    file: sender,
    from: 'if s.waiting >= waitingMax {',
    to: 'if s.waiting > 2*waitingMax {',
    test: 'Rule6When',
  },
  {
    name: 'rule 7: results are matched without their count',
    file: 'result_reader.go',
    from: 'if len(texts) != count {',
    to: 'for len(texts) < count {\n		texts = append(texts, texts...)\n	}\n	texts = texts[:count]\n	if len(texts) != count {',
    test: 'Rule7',
  },
  {
    name: 'rule 8: a prefix decides',
    file: 'question.go',
    from: 'return text != ""',
    to: 'return strings.HasPrefix(text, "k")',
    test: 'Rule8',
  },
  {
    name: 'rule 8: a longer text is sent',
    file: 'question.go',
    from: 'len(text) <= credentialBytesMax',
    to: 'len(text) > 0',
    test: 'Rule8',
  },
  {
    name: 'rule 8: a text that is not UTF-8 is sent',
    file: 'question.go',
    from: '&& utf8.ValidString(text)',
    to: '&& (utf8.ValidString(text) || true)',
    test: 'Rule8',
  },
  {
    name: 'rule 10: plain HTTP to each host',
    file: 'service_url.go',
    from: 'if !isTLS && !isLoopback(parsed.Hostname())',
    to: 'if !isTLS && !isLoopback(parsed.Hostname()) && text == ""',
    test: 'Rule10Plain',
  },
  {
    name: 'rule 10: a redirect is followed',
    file: connection,
    from: '		text, err := io.ReadAll(response.Body)\n',
    to: `		if location, err := response.Location(); err == nil {
			if response, err = http.Post(location.String(), "application/json", strings.NewReader("{}")); err != nil {
				return answer{}, err
			}
		}
		text, err := io.ReadAll(response.Body)
`,
    test: 'Rule10ARedirect',
  },
];
