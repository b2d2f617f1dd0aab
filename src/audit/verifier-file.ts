import { readFileSync } from 'node:fs'
import { programFile } from '../setup/package.js'

/** The offline verifier as one complete file, which users can pass on. */
export const verifierFile = (): string => readFileSync(programFile('verifier'), 'utf8')
