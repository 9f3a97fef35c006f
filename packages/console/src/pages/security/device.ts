/** The device of a session, in words. */
import { text } from '../../text/text.ts';
import { deviceOf } from './user-agent.ts';

/** @param agent the user agent, which the client chose */
export function deviceText(agent: string): string {
  const device = deviceOf(agent);
  if (!device) return text.security.unknownDevice;
  return device.system ? text.security.programOnSystem(device.program, device.system) : device.program;
}
