/** Broken builds of the Python library: each breaks one of its rules, and names the tests that detect it. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestedLibrary } from '../../conformance/check-library.ts';
import { edited, type LibraryMutant } from '../../conformance/library-mutants.ts';
import { packageFolder, python, pythonEnvironment, skip } from './python.ts';

/** Where the edited files are. */
export const sources = join(packageFolder, 'src/keyreeve');
const sender = '_batch_sender.py';
const connection = '_connection.py';

/** Copies the library with the mutant's edit. @returns the folder to import from */
export function makeMutant(mutant: LibraryMutant, folder: string): string {
  cpSync(join(packageFolder, 'src'), folder, { recursive: true });
  writeFileSync(join(folder, 'keyreeve', mutant.file), edited(mutant, sources));
  return folder;
}

export const pythonLibrary: TestedLibrary = {
  language: 'Python',
  skip,
  build: (folder, mutant) => ({
    command: python,
    args: [`${packageFolder}test/program.py`],
    env: pythonEnvironment(mutant && makeMutant(mutant, folder)),
  }),
};

export const pythonMutants: readonly LibraryMutant[] = [
  {
    name: 'rule 1: a question shares the entry of another caller while it is in flight',
    file: sender,
    from: '            if entry is None:\n                entry = _Entry(question)\n',
    to: `            if entry is None and question.is_free:
                for seen in self.__dict__.get("seen", []):
                    if seen.question.text == question.text and seen.batch and seen.batch.is_in_flight:
                        entry = seen
            if entry is None:
                entry = _Entry(question)
                self.__dict__.setdefault("seen", []).append(entry)
`,
    test: 'rule_1_',
    isUnsafe: true,
  },
  {
    name: 'rule 2: the last result of a question is kept',
    file: '_client.py',
    from: '        waiter = _ThreadWaiter()\n',
    to: `        kept = self.__dict__.setdefault("kept", {})
        if question.text in kept:
            return kept[question.text]
        waiter = _ThreadWaiter()
        deliver = waiter.deliver
        waiter.deliver = lambda outcome: (kept.setdefault(question.text, outcome), deliver(outcome))
`,
    test: 'rule_2',
    isUnsafe: true,
  },
  {
    name: 'rule 2: a request continues without callers',
    file: sender,
    from: 'batch.connection.abort()',
    to: 'pass',
    test: 'rule_2',
  },
  {
    name: 'rule 2: an unsent question is sent without callers',
    file: sender,
    from: '                    self._unsent.remove(entry)\n',
    to: '',
    test: 'rule_2',
  },
  {
    name: 'rule 3: equal questions share an entry also with a cost',
    file: sender,
    from: 'self._free.get(question.text) if question.is_free else None',
    to: 'next((e for e in self._unsent if e.question.text == question.text), None)',
    test: 'rule_3',
  },
  {
    name: 'rule 3: equal credentials share an entry also with other options',
    file: '_question.py',
    from: 'if conditions.scopes:',
    to: 'if False:',
    test: 'rule_3',
  },
  {
    name: 'rule 4: a question with a cost is repeated',
    file: sender,
    from: 'if entry.question.is_free and entry.waiters]',
    to: 'if entry.waiters]',
    test: 'rule_4',
  },
  {
    name: 'rule 4: a question is repeated after a byte of the response',
    file: connection,
    from: '        super().begin()',
    to: `        try:
            super().begin()
        except Exception as error:
            raise Unanswered from error`,
    test: 'rule_4',
  },
  {
    name: 'rule 5: the deadline is 6 s',
    file: sender,
    from: 'DEADLINE_SECONDS = 3.0',
    to: 'DEADLINE_SECONDS = 6.0',
    test: 'rule_5',
  },
  {
    name: 'rule 5: a caller waits without a deadline',
    file: '_client.py',
    from: 'clock.acquire(self._delivered, until)',
    to: 'clock.acquire(self._delivered, until + 57)',
    test: 'rule_5',
  },
  {
    name: 'rule 6: three batches in flight',
    file: '_in_flight.py',
    from: 'MIN = 2',
    to: 'MIN = 3',
    test: 'rule_6_at_most',
  },
  {
    name: 'rule 6: a fixed number of batches in flight',
    file: '_in_flight.py',
    from: 'MAX = 16',
    to: 'MAX = 2',
    test: 'rule_6_the_batches_in_flight_follow',
  },
  {
    name: 'rule 6: more batches in flight for a service that only gets slower',
    file: '_in_flight.py',
    from: 'MAX if self.last == 0 else',
    to: 'MAX if self.last >= 0 else',
    test: 'rule_6_a_service_that_works_on_one_batch',
  },
  {
    name: 'rule 6: late questions are sent',
    file: sender,
    from: 'if each.deadline < end]',
    to: 'if each.deadline < 0]',
    test: 'rule_6_in_an_overload',
  },
  {
    name: 'each failure is logged',
    file: '_outage_log.py',
    from: 'PERIOD_SECONDS = 60.0',
    to: 'PERIOD_SECONDS = 0.0',
    test: 'one_message_per_minute',
  },
  {
    name: 'rule 6: batches of 257 questions',
    file: sender,
    from: 'QUESTIONS_MAX = 256',
    to: 'QUESTIONS_MAX = 257',
    test: 'rule_6_at_most',
  },
  {
    name: 'rule 6: any number of questions waits',
    file: sender,
    from: 'if self._waiting >= WAITING_MAX:',
    to: 'if False:',
    test: 'rule_6_16',
  },
  {
    name: 'rule 7: results are matched without their count',
    file: '_result.py',
    from: 'if len(results) != count:',
    to: 'if False:',
    test: 'rule_7',
  },
  {
    name: 'rule 8: a prefix decides',
    file: '_question.py',
    from: 'if text == ""',
    to: 'if not text.startswith("k")',
    test: 'rule_8',
  },
  {
    name: 'rule 8: a longer text is sent',
    file: '_question.py',
    from: 'return len(text.encode()) <= CREDENTIAL_BYTES_MAX',
    to: 'return len(text.encode()) > 0',
    test: 'rule_8',
  },
  {
    name: 'rule 9: a child process keeps the state',
    file: sender,
    from: 'key = (os.getpid(), threading.Lock)',
    to: 'key = (0, threading.Lock)',
    test: 'rule_9',
  },
  {
    name: 'one address of a host is tried at a time',
    file: '_dial.py',
    from: 'delay = ATTEMPT_DELAY_SECONDS if untried else None',
    to: 'delay = None',
    test: 'an_address_that_does_not_answer',
  },
  {
    name: 'replaced threads keep the state',
    file: sender,
    from: 'key = (os.getpid(), threading.Lock)',
    to: 'key = (os.getpid(), None)',
    test: 'replaces_the_threads',
  },
  {
    name: 'rule 10: plain HTTP to each host',
    file: '_service_url.py',
    from: 'and not _LOOPBACK.fullmatch(host)',
    to: 'and not host',
    test: 'rule_10',
  },
  {
    name: 'rule 10: plain HTTP to hosts that begin like loopback',
    file: '_service_url.py',
    from: '_LOOPBACK.fullmatch(host)',
    to: '_LOOPBACK.match(host)',
    test: 'rule_10',
  },
  {
    name: 'rule 10: a redirect is followed',
    file: sender,
    from: '        try:\n            return entries, batch',
    to: `        import urllib.request
        url = batch.connection._destination
        target = f"http://{url.host}:{url.port}{url.path}"
        class Follow(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, req, fp, code, msg, headers, newurl):
                return urllib.request.Request(newurl, data=req.data, headers=dict(req.headers), method="POST")
        response = urllib.request.build_opener(Follow).open(urllib.request.Request(target, _body_of(entries)))
        return entries, Answer(200, response.read())
        try:
            return entries, batch`,
    test: 'rule_10_a_redirect',
  },
];
