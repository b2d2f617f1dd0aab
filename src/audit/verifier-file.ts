import { readFileSync } from 'node:fs'
import { compiledFile } from '../setup/package.js'

/** The offline verifier as a file to hand on: compiled, and complete by itself. */
export const verifierFile = (): string =>
  readFileSync(compiledFile('audit/verifier.js'), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
