// Vitest's JUnit reporter, with no options but the file that TESTLORE_REPORT names.
import {realpathSync} from 'node:fs';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

// The Vitest that runs: this file stands in no project.
const {resolve} = createRequire(realpathSync(process.argv[1]));

async function junitReporter() {
  for (const name of ['vitest/node', 'vitest/reporters']) { // its place since Vitest 4, and before
    try {
      const {JUnitReporter} = await import(pathToFileURL(resolve(name)).href);
      if (JUnitReporter) return JUnitReporter;
    } catch {} // this Vitest has no such module
  }
  throw new Error('this Vitest has no JUnit reporter that can be found');
}

export default class extends (await junitReporter()) {
  constructor() {
    super({outputFile: process.env.TESTLORE_REPORT});
  }
}
