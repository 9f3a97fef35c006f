/** Above a page while the service, or its database, does not respond. */
import { outage } from '../outage.ts';
import { text } from '../text/text.ts';
import { Icon } from './icon.tsx';

export const OutageBanner = () =>
  outage.value ? (
    <div class="banner" role="alert">
      <Icon name="warning" />
      {outage.value === 'unavailable' ? text.general.databaseDown : text.general.offline}
    </div>
  ) : null;
