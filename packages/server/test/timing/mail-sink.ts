/** A mail server in a separate process, so that it takes no time of the measuring process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Mailbox } from '../../test-kit/mailbox.ts';

export interface MailSink extends Disposable {
  readonly port: number;
}

export async function startMailSink(): Promise<MailSink> {
  const child = spawn(process.execPath, [import.meta.filename], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line.toString()), [Symbol.dispose]: () => void child.kill() };
}

if (process.argv[1] === import.meta.filename) {
  const { port } = await Mailbox.start();
  process.stdout.write(`${port}\n`);
  // Ends with the parent process.
  process.stdin.resume().on('end', () => process.exit());
}
