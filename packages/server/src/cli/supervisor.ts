/**
 * Reports to systemd (`Type=notify`, sd_notify(3)) when the service is ready, that it is alive, and when it stops. Node has no
 * datagram sockets of unix, so `systemd-notify`, a part of systemd, sends the messages.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { processEnvironment } from '../app/configuration/config.ts';
import type { Log } from '../foundation/log.ts';

/** Of one message, in milliseconds. It takes a few, and systemd confirms it. */
const notifyMsMax = 10_000;

export interface Supervisor {
  /** From here, the watchdog of the unit (`WatchdogSec=`) requires a responsive event loop. */
  ready(): Promise<void>;
  stopping(): Promise<void>;
}

/** Does nothing unless systemd, or a program with its protocol, has started this process. */
export function newSupervisor(log: Log): Supervisor {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdog } = processEnvironment();
  const notify = async (message: string): Promise<void> => {
    if (!socket) return;
    try {
      await promisify(execFile)('systemd-notify', [message], { timeout: notifyMsMax });
    } catch (error) {
      log.error({ event: 'notify_failed', message, err: error });
    }
  };
  const watch = (): void => {
    const ms = Number(watchdog) / 1_000;
    if (!(ms > 0)) return;
    let isSending = false;
    // Three in its time: one can be late on a busy machine.
    setInterval(() => {
      if (isSending) return;
      isSending = true;
      void notify('WATCHDOG=1').finally(() => (isSending = false));
    }, ms / 3).unref();
  };
  return {
    ready: async () => {
      await notify('READY=1');
      watch();
    },
    stopping: () => notify('STOPPING=1'),
  };
}
