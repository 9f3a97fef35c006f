/** What the console shows before a sign-in. It is public, so it contains no version and no count. */
import { languages, type ConsoleConfig } from '@keyreeve/contract';
import { hasAdministrator } from '../accounts/administrators-store.ts';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import { CoalescedCall } from '../../foundation/database/coalesced-call.ts';

export interface ConsoleConfigurationOptions extends Core {
  /** What depends only on the settings. */
  readonly fixed: Omit<ConsoleConfig, 'needsAdministrator' | 'now' | 'languages'>;
}

export class ConsoleConfiguration {
  readonly #options: ConsoleConfigurationOptions;
  readonly #check: CoalescedCall;
  /** Never true again: the last administrator cannot be removed. */
  #needsAdministrator = true;

  constructor(options: ConsoleConfigurationOptions) {
    this.#options = options;
    this.#check = new CoalescedCall(async () => {
      this.#needsAdministrator = !(await hasAdministrator(options.db));
    });
  }

  /** Reads the database only while there is no administrator. Requests that arrive together share one read. */
  async read(): Promise<ConsoleConfig> {
    const { clock, fixed } = this.#options;
    if (this.#needsAdministrator) await this.#check.call();
    return {
      ...fixed,
      needsAdministrator: this.#needsAdministrator,
      languages: [...languages],
      now: toInstant(clock.now()),
    };
  }
}
