/** How a service is started: by the command line, by a supervisor as a worker, or by a test. */
import type { EmbeddedWriter } from '../../foundation/database/database.ts';
import type { RequestBounds } from '../../http/request-gate.ts';
import type { Log } from '../../foundation/log.ts';
import type { WiringSettings } from '../wiring/core.ts';

export interface ServiceOptions extends WiringSettings {
  readonly log: Log;
  /** The writer of SQLite. Default: a writer thread. Tests write without one, because it takes longer to start than the service. */
  readonly writer?: EmbeddedWriter | undefined;
  /** Default: the bounds of the contract. */
  readonly requestBounds?: RequestBounds | undefined;
  /** Folder with the files of the console. Default: the folder of its package. */
  readonly consoleFolder?: string | undefined;
}
