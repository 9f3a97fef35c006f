/** Sends a command to a command host. As a program, it stands in for `keyreeve` in a shell: `node command-client.ts SOCKET …`. */
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';

export interface CommandRequest {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  /** In base64. */
  readonly input?: string;
}

export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** @param path the socket of the host */
export async function sendCommand(path: string, request: CommandRequest): Promise<CommandResult> {
  const socket = connect(path);
  socket.end(JSON.stringify(request));
  const answer = await text(socket);
  if (answer === '') throw new Error(`the command host did not answer: ${request.args.join(' ')}`);
  return JSON.parse(answer) as CommandResult;
}

async function main([path = '', ...args]: readonly string[]): Promise<void> {
  const input = (await buffer(process.stdin)).toString('base64');
  const result = await sendCommand(path, { args, environment: process.env, folder: process.cwd(), input });
  process.stdout.write(result.stdout);
  process.stderr.write(result.stderr);
  process.exitCode = result.status;
}

// Without `await`, which `require` rejects (`shared-process.ts`).
if (import.meta.main) void main(process.argv.slice(2));
