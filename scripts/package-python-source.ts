/** For a release: builds the source archive of the Python library. */
import { runArchiveCommand } from './package-archive.ts';
import { buildSdist } from './package-python.ts';

runArchiveCommand(buildSdist);
