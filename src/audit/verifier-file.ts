import { readFileSync } from 'node:fs'
import { compiledFile } from '../setup/programs.js'

/** The offline verifier as one hands it on: the compiled file, which needs nothing beside it. */
export const verifierFile = (): string =>
  readFileSync(compiledFile('audit/verifier.js'), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
