/** The Go guard answers as the table of all client libraries says. */
import { testGuards } from '../../conformance/check-library.ts';
import { goLibrary } from './mutants.ts';

testGuards(goLibrary, ['net/http', 'core check']);
