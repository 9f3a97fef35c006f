/** The page of the product that shows the key page. */
import { Keys } from './keys.jsx';

export default function Page() {
  return (
    <main>
      <h1>Settings</h1>
      <Keys />
    </main>
  );
}
