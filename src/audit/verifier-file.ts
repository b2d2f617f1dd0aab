import { readFileSync } from 'node:fs'

/** The offline verifier as one hands it on: the compiled file, which needs nothing beside it. */
export const verifierFile = (): string =>
  readFileSync(new URL('./verifier.js', import.meta.url), 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
