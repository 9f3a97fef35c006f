/** How a service is started: by the command line or by a test. */
import type { RequestBounds } from '../../http/request-gate.ts';
import type { Log } from '../../foundation/log.ts';
import type { WiringSettings } from '../wiring/core.ts';

export interface ServiceOptions extends WiringSettings {
  readonly log: Log;
  /** Default: the bounds of the contract. */
  readonly requestBounds?: RequestBounds | undefined;
  /** Folder with the files of the console. Default: the folder of its package. */
  readonly consoleFolder?: string | undefined;
  /** Whether files of the program that are used later are read before it is ready. Default: no, because tests start many services. */
  readonly loadsAll?: boolean;
}
