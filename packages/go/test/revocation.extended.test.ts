/** The revocation check on the Go library, and on builds of it that accept deleted keys. */
import { testRevocation } from '../../conformance/check-library.ts';
import { goLibrary, goMutants } from './mutants.ts';

testRevocation(goLibrary, goMutants);
