/** The revocation check on the Python library, and on builds of it that accept deleted keys. */
import { testRevocation } from '../../conformance/check-library.ts';
import { pythonLibrary, pythonMutants } from './mutants.ts';

testRevocation(pythonLibrary, pythonMutants);
